import IPC
import Testing
import Varlink

@testable import countdown_notify

@Suite("The ends that ring")
struct BellTests {
    private var bell = Bell(AnnouncementRules(), maximumSounds: 3, lastRing: 10)

    /// The watch is synced.
    init() {
        _ = bell.receive([Event(type: .synced, revision: 10)], new: [], now: 0)
    }

    /// - Returns: the revision that rings.
    @discardableResult
    private mutating func end(_ countdown: Countdown, now: Int64 = 0) -> Int64? {
        bell.receive([event(.finished, countdown)], new: [countdown.revision], now: now)
    }

    /// How many sounds are played if nobody answers.
    private mutating func sounds() -> Int {
        var count = 0
        while bell.hasRings, count < 100 {
            bell.soundBegan()
            bell.played()
            count += 1
        }
        return count
    }

    @Test("an end rings until it was rung as often as it may be")
    mutating func limit() {
        #expect(!bell.hasRings)
        let ringing = end(ended("tea", revision: 11))
        #expect(ringing == 11)
        let count = sounds()
        #expect(count == 3)
    }

    @Test("a sound that began before an end does not count for it")
    mutating func wholeSounds() {
        var egg = ended("egg", revision: 12)
        egg.metadata = ["ring": "once"]
        end(ended("tea", revision: 11))
        bell.soundBegan()
        end(egg)
        bell.played()
        _ = bell.receive([event(.started, running("tea"))], new: [], now: 0)
        let count = sounds()
        #expect(count == 1)
    }

    @Test("with ring=once it rings once, and with ring=no not at all")
    mutating func modes() {
        var tea = ended("tea", revision: 11)
        tea.metadata = ["ring": "once"]
        end(tea)
        let once = sounds()
        #expect(once == 1)
        tea.metadata = ["ring": "no"]
        let ringing = end(tea)
        #expect(ringing == nil && !bell.hasRings)
    }

    @Test("an end that is reported more than a minute late rings once")
    mutating func late() {
        end(ended("tea", revision: 11, at: 0), now: 60_000_001)
        let late = sounds()
        #expect(late == 1)
        end(ended("tea", revision: 12, at: 0), now: 60_000_000)
        let punctual = sounds()
        #expect(punctual == 3)
        // A daemon may report any number.
        end(ended("tea", revision: 13, at: .min), now: .max)
        let broken = sounds()
        #expect(broken == 1)
    }

    @Test(
        "a click on its notification, closing it, or another start answers it, and a timeout of the notification does not",
        arguments: [
            (DesktopSignal.chosen(.dismiss, 7), true), (.chosen(.again, 7), true), (.closed(7, byUser: true), true),
            (.closed(7, byUser: false), false), (.closed(8, byUser: true), false), (.serviceChanged, false),
        ]
    )
    mutating func answers(_ signal: DesktopSignal, _ isAnswer: Bool) {
        let tea = ended("tea", revision: 11)
        end(tea)
        bell.shown(.one(tea), as: 7)
        bell.receive(signal)
        #expect(bell.hasRings == !isAnswer)
    }

    @Test("starting or cancelling its countdown answers it", arguments: [Event.Kind.started, .restarted, .cancelled])
    mutating func starts(_ type: Event.Kind) {
        end(ended("tea", revision: 11))
        _ = bell.receive([event(type, running("egg"))], new: [], now: 0)
        #expect(bell.hasRings)
        _ = bell.receive([event(type, running("tea"))], new: [], now: 0)
        #expect(!bell.hasRings)
    }

    @Test("a notification of several ends answers those, and not the ones that were shown before")
    mutating func several() {
        let (tea, egg, rice) = (ended("tea", revision: 11), ended("egg", revision: 12), ended("rice", revision: 13))
        end(tea)
        bell.shown(.one(tea), as: 1)
        end(egg)
        end(rice)
        bell.shown(.several(newest: [egg, rice], count: 2), as: 2)
        bell.receive(.closed(2, byUser: true))
        #expect(bell.hasRings)
        bell.receive(.closed(1, byUser: true))
        #expect(!bell.hasRings)
    }

    @Test("a notification of another service with the same number does not answer it")
    mutating func otherService() {
        let tea = ended("tea", revision: 11)
        end(tea)
        bell.shown(.one(tea), as: 7)
        bell.receive(.serviceChanged)
        bell.receive(.closed(7, byUser: true))
        #expect(bell.hasRings)
    }

    @Test("ends that rang before a restart do not ring again, and a countdown that was started again is silent")
    mutating func restart() {
        bell = Bell(AnnouncementRules(), maximumSounds: 3, lastRing: 10)
        let ends = [ended("tea", revision: 10), ended("egg", revision: 11), ended("rice", revision: 12)]
        let ringing = bell.receive(
            ends.map { event(.finished, $0) } + [event(.started, running("egg"))],
            new: [10, 11, 12],
            now: 0
        )
        #expect(ringing == 12)
        _ = bell.receive([event(.started, running("rice")), Event(type: .synced)], new: [], now: 0)
        #expect(!bell.hasRings)
        // A store from a backup continues with revisions that were used before.
        end(ended("tea", revision: 5))
        #expect(bell.hasRings)
    }

    @Test("ends that were delivered before do not ring")
    mutating func delivered() {
        let ringing = bell.receive([event(.finished, ended("tea", revision: 11))], new: [], now: 0)
        #expect(ringing == nil && !bell.hasRings)
    }

    @Test("without a player nothing rings until the next end")
    mutating func silence() {
        end(ended("tea", revision: 11))
        bell.silence()
        #expect(!bell.hasRings)
        end(ended("egg", revision: 12))
        #expect(bell.hasRings)
    }
}
