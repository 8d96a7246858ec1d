import IPC
import Testing
import Varlink

@testable import countdown_notify

@Suite("The ends that ring")
struct BellTests {
    private var queue = NotificationQueue(
        Ends(delivered: DeliveryState(revision: 10, lastEnd: 10, lastRing: 10), maximumSounds: 3)
    )

    /// The watch is synced.
    init() {
        take([Event(type: .synced, revision: 10)])
    }

    private mutating func take(_ events: [Event], wall: Int64 = 0, boot: Int64 = 0) {
        queue.ends.receive(events, since: nil, wall: wall, boot: boot)
    }

    private mutating func end(_ countdown: Countdown, late: Int64? = nil, wall: Int64 = 0, boot: Int64 = 0) {
        var end = event(.finished, countdown)
        end.lateUSec = late
        take([end], wall: wall, boot: boot)
    }

    /// The notification service gives the notification of ends a number.
    private mutating func show(_ ends: EndNotification, as number: UInt32) {
        queue.handleAnswer([.uint32(number)], to: .ends(ends))
    }

    /// How many sounds are played if nobody answers.
    private mutating func sounds() -> Int {
        var count = 0
        while queue.ends.isRinging, count < 100 {
            queue.ends.soundBegan()
            queue.ends.soundPlayed()
            count += 1
        }
        return count
    }

    @Test("an end rings until it was rung as often as it may be")
    mutating func limit() {
        #expect(!queue.ends.isRinging)
        end(ended("tea", revision: 11))
        #expect(queue.ends.state?.lastRing == 11)
        let count = sounds()
        #expect(count == 3)
    }

    @Test("a sound that began before an end does not count for it")
    mutating func wholeSounds() {
        end(ended("tea", revision: 11))
        queue.ends.soundBegan()
        end(ended("egg", revision: 12, metadata: ["ring": "once"]))
        queue.ends.soundPlayed()
        take([event(.started, running("tea"))])
        let count = sounds()
        #expect(count == 1)
    }

    @Test("with ring=once it rings once, and with ring=no not at all")
    mutating func modes() {
        end(ended("tea", revision: 11, metadata: ["ring": "once"]))
        let once = sounds()
        #expect(once == 1)
        end(ended("tea", revision: 11, metadata: ["ring": "no"]))
        #expect(!queue.ends.isRinging)
    }

    @Test("an end that is reported more than a minute late rings once, however the system clock was set")
    mutating func late() {
        let minute: Int64 = 60_000_000
        func expect(_ count: Int, _ sentence: Comment, _ end: (inout Self) -> Void) {
            var bell = self
            end(&bell)
            let sounds = bell.sounds()
            #expect(sounds == count, sentence)
        }
        expect(3, "just in time") { $0.end(ended("tea", revision: 11, at: 0), late: minute) }
        expect(1, "the daemon came too late") { $0.end(ended("tea", revision: 11, at: 0), late: minute + 1) }
        expect(3, "the clock was set meanwhile") { $0.end(ended("tea", revision: 11, at: 0), wall: 100 * minute) }
        expect(1, "a daemon may report any number") {
            $0.queue.ends.watchStarted()
            $0.end(ended("tea", revision: 11, at: .min), late: .max, wall: .max, boot: .max)
            $0.take([Event(type: .synced, revision: 12)])
        }
        for (boot, wall, count) in [
            (minute, minute, 3), (minute, 100 * minute, 3), (2 * minute, 2 * minute, 1), (2 * minute, 0, 3),
        ] {
            expect(count, "\(boot) after the connection was lost, by the system clock \(wall)") {
                $0.queue.ends.watchStarted()
                $0.end(ended("tea", revision: 11, at: 0), wall: wall, boot: boot)
                $0.take([Event(type: .synced, revision: 12)], wall: wall, boot: boot)
            }
        }
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
        show(.one(tea), as: 7)
        _ = queue.handle(signal)
        #expect(queue.ends.isRinging == !isAnswer)
    }

    @Test("starting or cancelling its countdown answers it", arguments: [Event.Kind.started, .restarted, .cancelled])
    mutating func starts(_ type: Event.Kind) {
        end(ended("tea", revision: 11))
        take([event(type, running("egg"))])
        #expect(queue.ends.isRinging)
        take([event(type, running("tea"))])
        #expect(!queue.ends.isRinging)
    }

    @Test("a notification of several ends answers those, and not the ones that were shown before")
    mutating func several() {
        let (tea, egg, rice) = (ended("tea", revision: 11), ended("egg", revision: 12), ended("rice", revision: 13))
        end(tea)
        show(.one(tea), as: 1)
        end(egg)
        end(rice)
        show(.several(newest: [egg, rice], count: 2), as: 2)
        _ = queue.handle(.closed(2, byUser: true))
        #expect(queue.ends.isRinging)
        _ = queue.handle(.closed(1, byUser: true))
        #expect(!queue.ends.isRinging)
    }

    @Test("a notification of another service with the same number does not answer it")
    mutating func otherService() {
        let tea = ended("tea", revision: 11)
        end(tea)
        show(.one(tea), as: 7)
        _ = queue.handle(.serviceChanged)
        _ = queue.handle(.closed(7, byUser: true))
        #expect(queue.ends.isRinging)
    }

    @Test("ends that rang before a restart do not ring again, and a countdown that was started again is silent")
    mutating func restart() {
        queue = NotificationQueue(
            Ends(delivered: DeliveryState(revision: 10, lastEnd: 10, lastRing: 10), maximumSounds: 3)
        )
        let ends = [ended("tea", revision: 10), ended("egg", revision: 11), ended("rice", revision: 12)]
        take(ends.map { event(.finished, $0) } + [event(.started, running("egg"))])
        #expect(queue.ends.state?.lastRing == 12)
        take([event(.started, running("rice")), Event(type: .synced)])
        #expect(!queue.ends.isRinging)
        // A store from a backup continues with revisions that were used before.
        end(ended("tea", revision: 5))
        #expect(queue.ends.isRinging)
    }

    @Test("ends that were delivered before do not ring when the daemon reports its history again")
    mutating func delivered() {
        queue.ends.historyTrimmed(oldest: 5)
        end(ended("tea", revision: 10))
        #expect(!queue.ends.isRinging)
    }

    @Test("without a player nothing rings until the next end")
    mutating func silence() {
        end(ended("tea", revision: 11))
        queue.ends.soundFailed()
        #expect(!queue.ends.isRinging)
        end(ended("egg", revision: 12))
        #expect(queue.ends.isRinging)
    }
}
