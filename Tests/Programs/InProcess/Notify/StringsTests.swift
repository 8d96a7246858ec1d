import IPC
import Testing
import Varlink

@testable import countdown_notify

@Suite("The texts of notifications")
struct StringsTests {
    private let second: Int64 = 1_000_000
    private let day: Int64 = 86_400_000_000

    @Test("the time of an end has no date on the same day")
    func times() {
        let noon = day / 2
        #expect(Strings.at(noon).end(ended("tea", at: noon)) == "Ended at 12:00")
        #expect(Strings.at(day + 60 * second).time(noon) == "day 000000 12:00")
    }

    @Test("an end that is shown late says how late")
    func lateness() {
        #expect(Strings.at(5 * second - 1).end(ended("tea")) == "Ended at 00:00")
        #expect(Strings.at(5 * second).end(ended("tea")) == "Ended at 00:00, shown 5 s late")
        #expect(Strings.at(2 * day).end(ended("tea")) == "Ended at day 000000 00:00, shown 2 d late")
        // A daemon may report any number.
        #expect(Strings.at(.max).end(ended("tea", at: .min)).hasPrefix("Ended at "))
        // The system clock was set back.
        #expect(Strings.at(0).end(ended("tea", at: 60 * second)) == "Ended at 00:01")
    }

    @Test("an undo that failed is trouble that says why, also among other ends, and can only be dismissed")
    func failedUndo() {
        let metadata: TextMap = ["undo-failure": "exit code 1: <no bus>"]
        let failed = ended("undo-failed/dnd", label: "dnd", metadata: metadata)
        let body = "It could not be undone, and is tried again: exit code 1: <no bus>"
        let rules = AnnouncementRules(ring: .no)
        let alone = EndNotification.one(failed).notification(.at(0), rules)
        #expect(alone.summary == "dnd" && alone.body == body)
        #expect(alone.category == .trouble && alone.actions == [])
        let several = EndNotification.several(newest: [failed, ended("tea")], count: 2).notification(.at(0), rules)
        #expect(several.body.hasPrefix("dnd: \(body)\ntea"))
    }

    @Test("a warning says how long it is to the end, in seconds that have begun")
    func warnings() {
        var tea = running("tea")
        tea.deadlineUSec = 90 * second
        #expect(Strings.at(30 * second).warning(tea) == "Ends in 1 min")
        #expect(Strings.at(30 * second + 1).warning(tea) == "Ends in 1 min")
        #expect(Strings.at(60 * second + 5).warning(tea) == "Ends in 30 s")
        #expect(Strings.at(100 * second).warning(tea) == "Ends in 0 s")
        #expect(Strings.at(.max).warning(tea) == "Ends in 0 s")
        tea.deadlineUSec = .min
        #expect(Strings.at(.max).warning(tea) == "Ends in 0 s")
    }

    @Test("the name is the label, or the key, in one line, with escapes for characters that cannot be seen")
    func names() {
        #expect(Strings.name(ended("tea")) == "tea")
        #expect(Strings.name(ended("tea", label: "")) == "tea")
        let label = "Earl\r\nGrey\t1\u{1B}[2J\u{202E}"
        #expect(Strings.name(ended("tea", label: label)) == #"Earl Grey 1\u{1b}[2J\u{202e}"#)
    }
}
