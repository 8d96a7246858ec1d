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

    @Test("of no bytes is refused")
    func empty() {
        #expect(throws: InvalidKey.empty) { try Key("") }
    }

    @Test("of 255 bytes is accepted, of 256 refused")
    func length() throws {
        _ = try Key(String(repeating: "k", count: 255))
        #expect(throws: InvalidKey.tooLong(bytes: 256)) { try Key(String(repeating: "k", count: 256)) }
    }

    @Test("is as long as its bytes are, not its characters")
    func bytes() throws {
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
    }

    @Test("with a control character that merges into one with its neighbour is refused: CR LF")
    func carriageReturnLineFeed() {
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
