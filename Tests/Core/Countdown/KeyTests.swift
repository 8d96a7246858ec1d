import CountdownCore
import Testing

@Suite("A key")
struct KeyTests {
    @Test(
        "may be any text without control characters",
        arguments: [
            "a", "login/+8613800138000", "tea time", "茶", "🫖", "*", "[x]", "\u{200B}", "\u{FFFD}", "\u{10FFFF}",
        ]
    )
    func accepted(text: String) throws {
        #expect(try Key(text).text == text)
    }

    @Test("has 1 to 255 bytes, however many characters these are")
    func length() throws {
        #expect(throws: InvalidKey.empty) { try Key("") }
        _ = try Key(String(repeating: "k", count: 255))
        #expect(throws: InvalidKey.tooLong(bytes: 256)) { try Key(String(repeating: "k", count: 256)) }
        _ = try Key(String(repeating: "茶", count: 85))
        #expect(throws: InvalidKey.tooLong(bytes: 258)) { try Key(String(repeating: "茶", count: 86)) }
    }

    @Test(
        "with a control character is refused with that character",
        arguments: ["\0", "\u{1}", "\n", "\r", "\t", "\u{1B}", "\u{1F}", "\u{7F}", "\u{80}", "\u{85}", "\u{9F}"]
    )
    func controlCharacter(scalar: Unicode.Scalar) {
        for text in ["a\(scalar)b", "\(scalar)b", "a\(scalar)", "\(scalar)"] {
            #expect(throws: InvalidKey.controlCharacter(scalar)) { try Key(text) }
        }
        // CR LF is one character.
        #expect(throws: InvalidKey.controlCharacter("\r")) { try Key("a\r\nb") }
    }

    @Test("differs from another key if the bytes differ, though both look the same")
    func normalization() throws {
        let composed = try Key("caf\u{E9}")
        let decomposed = try Key("cafe\u{301}")
        #expect(composed.text == decomposed.text)
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
    }

    @Test("equals another key if the bytes are equal, however the text was made")
    func equality() throws {
        let pieced = try Key(["tea", "/", "green"].joined())
        let literal = try Key("tea/green")
        #expect(pieced == literal)
        #expect(pieced.hashValue == literal.hashValue)
        #expect(literal != key("tea/gree"))
        #expect(literal != key("tea/greex"))
    }
}
