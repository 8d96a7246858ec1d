import Testing

@testable import Text

@Suite("Printable text")
struct PrintableTextTests {
    @Test(
        "characters that a reader can see stay",
        arguments: [
            "", "tea", "Grüner Tee, 茶", "한국", "é", "\u{A0}\u{3000}", "\u{E0B0}", "\u{FFFD}", "שלום", "ｃｏｄｅ",
        ]
    )
    func keeps(_ text: String) {
        #expect(PrintableText.escape(text) == text)
        #expect(PrintableText.isPrintable(text))
    }

    @Test(
        "a character that commands a terminal or cannot be seen is written as an escape",
        arguments: [
            ("\u{1B}[31m\u{7}", "\\u{1b}[31m\\u{7}"), ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
            ("\u{9B}2J\u{7F}", "\\u{9b}2J\\u{7f}"), ("\u{202E}abc\u{2066}\u{2028}", "\\u{202e}abc\\u{2066}\\u{2028}"),
            ("a\u{61C}b", "a\\u{61c}b"), ("te\u{200B}a", "te\\u{200b}a"), ("te\u{200C}a", "te\\u{200c}a"),
            ("te\u{200D}a", "te\\u{200d}a"), ("\u{200E}a\u{200F}", "\\u{200e}a\\u{200f}"),
            ("\u{FEFF}tea", "\\u{feff}tea"), ("te\u{AD}a", "te\\u{ad}a"), ("te\u{2060}a", "te\\u{2060}a"),
            ("\u{E0001}\u{E0041}a", "\\u{e0001}\\u{e0041}a"), ("a\u{E007F}", "a\\u{e007f}"),
            ("\u{FFF9}a", "\\u{fff9}a"),
            ("\u{3164}", "\\u{3164}"), ("葛\u{E0100}", "葛\\u{e0100}"), ("a\u{FE0F}", "a\\u{fe0f}"),
        ]
    )
    func escapes(_ text: String, _ escaped: String) {
        #expect(PrintableText.escape(text) == escaped)
        #expect(!PrintableText.isPrintable(text))
    }

    @Test("a noncharacter is written as an escape", arguments: [0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF] as [UInt32])
    func escapesNoncharacters(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(PrintableText.escape("a\(scalar)") == "a\\u{\(String(value, radix: 16))}")
    }

    @Test("a backslash is doubled, so that a text that spells an escape differs from the character itself")
    func doublesBackslashes() {
        #expect(PrintableText.escape("te\\u{200b}a") == "te\\\\u{200b}a")
        #expect(PrintableText.escape("C:\\temp") == "C:\\\\temp")
        #expect(PrintableText.escape("\\o/\u{7}", doublesBackslashes: false) == "\\o/\\u{7}")
        #expect(PrintableText.replacing("\\o/\u{7}") { _ in " " } == "\\o/ ")
    }

    @Test(
        "joiners, variation selectors and the tags of flags stay in emoji, and joiners between letters that join",
        arguments: [
            "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
            "🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F} v 🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
            "👩‍👩‍👧", "🏳️‍🌈", "❤️‍🔥", "👩🏽‍🚒", "☕️", "☎︎", "1️⃣", "🇩🇪", "می‌خواهم", "क्‍ष", "ශ්‍රී",
        ]
    )
    func keepsJoiners(_ text: String) {
        #expect(PrintableText.escape(text) == text)
    }

    @Test(
        "joiners and variation selectors that join nothing are written as escapes",
        arguments: [
            ("1\u{FE0F}", "1\\u{fe0f}"), ("👩\u{200D}", "👩\\u{200d}"), ("👩\u{200D}a", "👩\\u{200d}a"),
            ("👩\u{200D}\u{200D}👩", "👩\\u{200d}\\u{200d}👩"), ("\u{FE0F}☕", "\\u{fe0f}☕"),
            ("م\u{200C}", "م\\u{200c}"), ("م\u{200C}\u{200C}خ", "م\\u{200c}\\u{200c}خ"),
            ("۱\u{200C}۲", "۱\\u{200c}۲"), ("🏴\u{E0067}\u{E007F}", "🏴\\u{e0067}\\u{e007f}"),
            ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}", "🏴\\u{e0067}\\u{e0062}\\u{e0073}\\u{e0063}\\u{e0074}"),
            (
                "a\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
                "a\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}\\u{e007f}"
            ),
            (
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\u{E0067}",
                "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\\u{e0067}"
            ),
        ]
    )
    func escapesLoneJoiners(_ text: String, _ escaped: String) {
        #expect(PrintableText.escape(text) == escaped)
    }
}
