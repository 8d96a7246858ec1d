import IPC
import Testing

@testable import countdown_notify

@Suite("Notifications of progress")
final class ProgressTests {
    private var progress = ProgressNotifications()

    private func take(_ event: Event) -> UInt32? { progress.receive(event) }

    private func show(_ key: String, as number: UInt32) -> Bool { progress.shown(key, as: number) }

    private func next() -> (key: String, notification: Notification, replacing: UInt32)? { progress.next(.at(0)) }

    private func tick(_ key: String, remaining: Int64) -> Event {
        Event(type: .tick, key: key, remainingUSec: remaining)
    }

    /// The percentages of all notifications that are due.
    private func due() -> [Int32?] {
        var percents: [Int32?] = []
        while let next = next() { percents.append(next.notification.progress) }
        return percents
    }

    /// The progress of a countdown is shown under the number 4.
    private func begin() {
        _ = take(event(.started, running("tea")))
        #expect(due() == [0])
        #expect(show("tea", as: 4))
    }

    @Test("a countdown is shown when it is reported, and updated in its place when its percentage changes")
    func updates() {
        _ = take(event(.attached, running("tea", remaining: 75_400_000)))
        let first = next()
        #expect(first?.notification.progress == 24)
        #expect(first?.replacing == 0)
        #expect(show("tea", as: 9))
        _ = take(tick("tea", remaining: 75_100_000))
        #expect(!progress.hasNext)
        _ = take(tick("tea", remaining: 74_900_000))
        let second = next()
        #expect(second?.notification.progress == 25)
        #expect(second?.replacing == 9)
        #expect(next() == nil)
    }

    @Test("several ticks before the next update are one update")
    func coalesces() {
        _ = take(event(.started, running("tea")))
        for remaining in 1..<90 { _ = take(tick("tea", remaining: Int64(100 - remaining) * 1_000_000)) }
        #expect(due() == [89])
    }

    @Test("at its end the notification is closed, also one that was made meanwhile")
    func ends() {
        begin()
        #expect(take(event(.finished, ended("tea"))) == 4)
        #expect(!show("tea", as: 5))
        _ = take(event(.started, running("egg")))
        #expect(take(event(.cancelled, running("egg"))) == nil)
        #expect(!progress.hasNext)
    }

    @Test("if the user closes a notification while it is updated, the one that the update made is closed, too")
    func closedMeanwhile() {
        begin()
        _ = take(tick("tea", remaining: 50_000_000))
        #expect(due() == [50])
        progress.closed(4)
        #expect(!show("tea", as: 5))
        #expect(take(event(.finished, ended("tea"))) == nil)
    }

    @Test("a notification that the user closed stays away until the countdown is started again")
    func closed() {
        begin()
        progress.closed(4)
        progress.closed(99)
        _ = take(tick("tea", remaining: 50_000_000))
        _ = take(event(.adjusted, running("tea", remaining: 40_000_000)))
        #expect(due() == [])
        _ = take(event(.restarted, running("tea")))
        #expect(due() == [0])
    }

    @Test("for another notification service all notifications are made again")
    func anew() {
        begin()
        progress.forgetNumbers()
        #expect(next()?.replacing == 0)
        _ = show("tea", as: 1)
        #expect(progress.clear() == [1])
        #expect(!progress.hasNext)
    }

    @Test("a notification that was refused is sent again, and a paused countdown says so")
    func again() {
        _ = take(event(.paused, running("tea", remaining: 30_000_000, isPaused: true)))
        let next = next()
        #expect(next?.notification.body == "Paused")
        #expect(next?.notification.progress == 70)
        progress.refused("tea")
        #expect(due() == [70])
        progress.refused("unknown")
        #expect(due() == [])
    }

    @Test("a countdown that starts and ends while nothing can be shown leaves nothing behind")
    func leavesNothing() {
        for _ in 0..<10 {
            _ = take(event(.started, running("tea")))
            _ = take(event(.cancelled, running("tea")))
        }
        #expect(!progress.hasNext)
    }
}
