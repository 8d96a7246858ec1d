import IPC
import TestSupport
import Testing
import Text
import Varlink

@testable import countdown_notify

@Suite("How a countdown is announced")
struct AnnouncementTests {
    private func announcement(
        _ metadata: TextMap<String>,
        _ rules: AnnouncementRules = AnnouncementRules(warningUSec: 60_000_000)
    ) -> Announcement {
        var tea = running("tea")
        tea.metadata = metadata
        return rules.announcement(of: tea)
    }

    @Test("without metadata it is as the command line says")
    func defaults() {
        #expect(announcement([:]) == Announcement(ring: .yes, warningUSec: 60_000_000))
        #expect(announcement([:], AnnouncementRules(ring: .once)) == Announcement(ring: .once))
    }

    @Test("metadata overrides the command line")
    func metadata() {
        #expect(announcement(["ring": "no"]).ring == .no)
        #expect(announcement(["ring": "once"]).ring == .once)
        #expect(announcement(["ring": "yes"], AnnouncementRules(ring: .no)).ring == .yes)
        #expect(announcement(["warn": "1m30s"]).warningUSec == 90_000_000)
        #expect(announcement(["warn": "no"]).warningUSec == nil)
        #expect(announcement(["warn": "0"]).warningUSec == nil)
        #expect(announcement(["wake": "yes"]).wakes)
        #expect(!announcement(["wake": "no"]).wakes)
    }

    @Test("a cooldown neither rings nor warns, unless its metadata says so")
    func cooldown() {
        #expect(announcement(["cooldown": "yes"]) == Announcement(ring: .no))
        let asked = announcement(["cooldown": "yes", "ring": "once", "warn": "5s"])
        #expect(asked == Announcement(ring: .once, warningUSec: 5_000_000))
    }

    @Test("metadata that is not valid is reported without the key, and ignored")
    func invalid() {
        var tea = running("tea")
        tea.metadata = ["ring": "loud", "warn": "soon", "wake": "", "other": "x"]
        var sentences: [String] = []
        let announcement = AnnouncementRules().announcement(of: tea) { sentences.append($0) }
        #expect(announcement == Announcement(ring: .yes))
        #expect(
            sentences == [
                "metadata ring=loud is ignored: use yes, no or once",
                "metadata warn=soon is ignored: use a duration such as 30s, or no",
                "metadata wake= is ignored: use yes or no",
            ]
        )
    }

    @Test("a key is critical if it matches a pattern as the daemon matches it")
    func critical() throws {
        let texts = ["kitchen/*", "?ea", "[a-c]x", "Ü?", "[!a]z", "\\d", "[[]"]
        let rules = AnnouncementRules(critical: try texts.map { try #require(KeyPattern($0)) })
        for key in ["kitchen/egg/soft", "tea", "bx", "Üö", "äea", "bz", "\\d", "["] {
            #expect(rules.isCritical(key), "\(key)")
        }
        for key in ["kitchen", "teas", "dx", "Ü", "az", "d", "[["] { #expect(!rules.isCritical(key), "\(key)") }
        for text in ["", "a[", "a[]", "a[!]", "[]"] { #expect(KeyPattern(text) == nil, "\(text)") }
        #expect(KeyPattern("[]]") != nil)
    }

    @Test("the end of a key that matches has critical urgency, alone and in a list")
    func urgency() throws {
        let rules = AnnouncementRules(critical: [try #require(KeyPattern("tea"))])
        func urgency(_ ends: EndNotification) -> Notification.Urgency { ends.notification(.at(0), rules).urgency }
        #expect(urgency(.one(ended("tea"))) == .critical)
        #expect(urgency(.one(ended("egg"))) == .normal)
        #expect(urgency(.several(newest: [ended("egg"), ended("tea")], count: 2)) == .critical)
    }

    @Test("a notification for a ringing end stays, and asks the service for silence")
    func hints() {
        func call(_ ring: RingMode) -> MethodCall {
            EndNotification.one(ended("tea")).notification(.at(0), AnnouncementRules(ring: ring)).call(under: [.body])
        }
        #expect(call(.yes).arguments[7] == .int32(0) && call(.yes).hint("suppress-sound") == .bool(true))
        #expect(call(.once).arguments[7] == .int32(-1) && call(.once).hint("suppress-sound") == .bool(true))
        #expect(call(.no).arguments[7] == .int32(-1) && call(.no).hint("suppress-sound") == nil)
    }
}
