import IPC
import Testing
@testable import countdown_notify

@Suite("What is said of countdowns")
struct WordingTests {
    private let second: Int64 = 1_000_000
    private let day: Int64 = 86_400_000_000

    @Test("the time of an ending stands alone on its day, else with the date")
    func times() {
        let noon = day / 2
        #expect(Strings.at(noon).ending(ended("tea", at: noon)) == "Ended at 12:00")
        #expect(Strings.at(day + 60 * second).time(noon) == "day 000000 12:00")
    }

    @Test("an ending that is told late says how late, one that is told at once does not")
    func lateness() {
        #expect(Strings.at(5 * second - 1).ending(ended("tea")) == "Ended at 00:00")
        #expect(Strings.at(5 * second).ending(ended("tea")) == "Ended at 00:00, told 5 s late")
        #expect(Strings.at(2 * day).ending(ended("tea")) == "Ended at day 000000 00:00, told 2 d late")
        // Somebody has set the clock back.
        #expect(Strings.at(0).ending(ended("tea", at: 60 * second)) == "Ended at 00:01")
    }

    @Test(
        "a length is told in two units, as people say it",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min"), (119, "1 min"), (3_600, "1 h"), (7_380, "2 h 3 min"),
            (86_400, "1 d"), (90_000, "1 d 1 h"), (691_199, "7 d 23 h"),
        ] as [(Int64, String)]
    )
    func lengths(seconds: Int64, text: String) {
        #expect(Strings.length(seconds * second) == text)
    }

    @Test("a countdown goes by its label, or its key, in one line that commands nothing")
    func names() {
        #expect(Strings.name(ended("tea")) == "tea")
        #expect(Strings.name(ended("tea", label: "")) == "tea")
        #expect(Strings.name(ended("tea", label: "Earl\r\nGrey\t1\u{1B}[2J")) == #"Earl Grey 1\u{1b}[2J"#)
    }

    @Test(
        "characters that cannot be seen are written as escapes, also those that sd-bus refuses",
        arguments: [0xFFFF, 0xFDD0, 0x1FFFE, 0x61C, 0x200B, 0x200F, 0x202E, 0x2066, 0xFEFF, 0xE0041] as [UInt32]
    )
    func invisible(code: UInt32) throws {
        let character = try #require(Unicode.Scalar(code))
        let escape = "\\u{\(String(code, radix: 16))}"
        #expect(Strings.name(ended("a\(character)b")) == "a\(escape)b")
        #expect(Strings.name(ended("tea", label: "a\(character)b")) == "a\(escape)b")
    }

    @Test("emoji and joining scripts are shown as they were written")
    func joined() {
        for label in ["👨‍👩‍👧 ☕️", "می‌خواهم"] { #expect(Strings.name(ended("tea", label: label)) == label) }
    }

    @Test("the clock of this place gives a date and a time to the minute")
    func clock() {
        #expect(WallClock.localMinute(WallClock.now).wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d/) != nil)
    }
}
