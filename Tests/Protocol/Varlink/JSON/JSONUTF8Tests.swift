import Testing
import Varlink

@Suite("The UTF-8 of strings")
struct JSONUTF8Tests {
    /// Bytes that RFC 3629 forbids, and truncated scalars.
    private static let broken: [[UInt8]] = [
        [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xC2, 0x41], [0xC2, 0xC2], [0xE0, 0x80, 0x80],
        [0xE0, 0x9F, 0xBF],
        [0xE2, 0x82], [0xE2, 0x28, 0xA1], [0xE2, 0x82, 0x28], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF],
        [0xF0, 0x80, 0x80, 0x80],
        [0xF0, 0x8F, 0xBF, 0xBF], [0xF0, 0x9F, 0x98], [0xF0, 0x9F, 0x98, 0x41], [0xF4, 0x90, 0x80, 0x80],
        [0xF5, 0x80, 0x80, 0x80], [0xFE], [0xFF],
    ]

    @Test("broken bytes are rejected at their offset, at each alignment", arguments: broken, 0..<10)
    func refusesBroken(bytes: [UInt8], padding: Int) {
        let before = Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: padding)
        let text = before + bytes + Array(#"tail of it"}"#.utf8)
        #expect(syntaxError(text) == JSONError(offset: before.count, reason: .invalidUTF8))
    }

    @Test("broken bytes at the end of the text are rejected", arguments: broken)
    func refusesBrokenEnd(bytes: [UInt8]) {
        let text = Array(#"{"a":""#.utf8) + bytes
        #expect(syntaxError(text) == JSONError(offset: 6, reason: .invalidUTF8))
    }

    @Test("the first and last scalars of each length are read as they were written")
    func keepsScalars() throws {
        let scalars: [UInt32] = [
            0x20, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x3FFFF,
            0x40000,
            0xFFFFF, 0x100000, 0x10FFFF,
        ]
        for code in scalars {
            let scalar = try #require(Unicode.Scalar(code))
            let text = try #require(try member("a", of: #"{"a":"\#(Character(scalar))"}"#, as: String.self))
            #expect(text.unicodeScalars.elementsEqual([scalar]))
        }
    }

    @Test("a control character is found at each alignment", arguments: 0..<20)
    func findsControlCharacter(padding: Int) {
        let before = Array(#"{"a":""#.utf8) + [UInt8](repeating: 0x78, count: padding)
        let text = before + [0x1F] + Array(#"0123456789"}"#.utf8)
        #expect(syntaxError(text) == JSONError(offset: before.count, reason: .controlCharacter(0x1F)))
    }
}
