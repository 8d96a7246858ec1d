import IPC
import Testing

@testable import countdown_notify

@Suite("The queue of notifications")
final class NotificationQueueTests {
    private var queue = NotificationQueue(Ends(delivered: DeliveryState(revision: 10, lastEnd: 9, lastRing: 9)))

    /// The watch is synced.
    init() {
        queue.ends.watchStarted()
        queue.ends.receive([Event(type: .synced, revision: 10)], since: 10, wall: 0, boot: 0)
    }

    private func end(_ key: String, revision: Int64) {
        queue.ends.receive([event(.finished, ended(key, revision: revision))], since: revision, wall: 0, boot: 0)
    }

    private func next() -> NotificationQueue.Outgoing? { queue.next(.at(0)) }

    /// The service shows the next notification under this number; returns its first text.
    @discardableResult
    private func show(as number: UInt32 = 1) throws -> String? {
        let shown = try #require(next())
        queue.handleAnswer([.uint32(number)], to: shown.purpose)
        return shown.call.texts.first
    }

    private func unsavedRevision() -> Int64? { queue.ends.takeUnsavedState()?.revision }

    private func take(_ signal: DesktopSignal) -> (NotificationAction, Countdown)? { queue.handle(signal) }

    /// Answers the question for the service's capabilities.
    private func introduce(_ names: [String] = ["actions", "body"]) throws {
        let asked = try #require(next())
        #expect(asked.purpose == .capabilities)
        queue.handleAnswer([.strings(names)], to: asked.purpose)
    }

    @Test("the service is called only if there is something to show, and one notification is sent at a time")
    func oneAtATime() throws {
        #expect(next() == nil)
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        #expect(first.call.texts.first == "tea")
        #expect(next() == nil)
        queue.handleAnswer([.uint32(1)], to: first.purpose)
        #expect(next()?.call.texts.first == "egg")
    }

    @Test("a notification counts as delivered when it was answered, not when it was sent")
    func delivered() throws {
        #expect(unsavedRevision() == 10)
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        #expect(queue.ends.state?.revision == 10)
        queue.handleAnswer([.uint32(1)], to: first.purpose)
        #expect(unsavedRevision() == 11)
        #expect(unsavedRevision() == nil)
        let second = try #require(next())
        queue.ends.receive([Event(type: .started, revision: 15)], since: 15, wall: 0, boot: 0)
        queue.handleAnswer([.uint32(2)], to: second.purpose)
        #expect(unsavedRevision() == 15)
    }

    @Test("the state is saved after synced and heartbeats, but not after other events")
    func saves() {
        _ = unsavedRevision()
        queue.ends.receive([event(.started, running("tea"))], since: 11, wall: 0, boot: 0)
        #expect(unsavedRevision() == nil)
        queue.ends.receive([Event(type: .heartbeat, revision: 12)], since: 12, wall: 0, boot: 0)
        #expect(unsavedRevision() == 12)
    }

    @Test("cancelled countdowns are not shown")
    func cancelled() {
        queue.ends.receive([event(.cancelled, ended("tea", revision: 11))], since: 11, wall: 0, boot: 0)
        #expect(next() == nil)
        #expect(queue.ends.state?.revision == 11)
    }

    @Test("without a state, delivery begins with the next end")
    func first() {
        queue = NotificationQueue(Ends(delivered: nil))
        queue.ends.watchStarted()
        #expect(queue.ends.state == nil)
        queue.ends.receive(
            [event(.attached, running("tea")), Event(type: .synced, revision: 40)],
            since: 40,
            wall: 0,
            boot: 0
        )
        let state = queue.ends.takeUnsavedState()
        #expect(state == DeliveryState(revision: 40, lastEnd: 40, lastRing: 40))
        #expect(next() == nil)
    }

    @Test("that an end rings is saved before it is shown, also if no end was shown before")
    func ringing() {
        queue = NotificationQueue(Ends(delivered: nil))
        queue.ends.watchStarted()
        queue.ends.receive([Event(type: .synced, revision: 40)], since: 40, wall: 0, boot: 0)
        end("tea", revision: 41)
        let state = queue.ends.takeUnsavedState()
        #expect(state == DeliveryState(revision: 40, lastEnd: 40, lastRing: 41))
    }

    @Test("earlier ends wait until the daemon has reported all of them, or is gone")
    func catchesUp() throws {
        queue.ends.watchStarted()
        for revision in 11...14 { end("key\(revision)", revision: Int64(revision)) }
        #expect(next() == nil)
        queue.ends.daemonLost()
        try introduce()
        #expect(next()?.call.texts.first == "4 countdowns have ended")
    }

    @Test("a notification that was refused is sent again after a growing pause")
    func refused() throws {
        end("tea", revision: 11)
        try introduce()
        let first = try #require(next())
        queue.handleAnswer(nil, to: first.purpose)
        #expect(next() == nil)
        let delay = queue.retryDelay
        queue.retry()
        try introduce()
        let second = try #require(next())
        #expect(second == first)
        queue.handleAnswer(nil, to: second.purpose)
        #expect(queue.retryDelay > delay)
        queue.retry()
        try introduce()
        try show()
        #expect(queue.ends.state?.revision == 11)
    }

    @Test("a new service is asked for its capabilities and gets what the previous one did not answer")
    func changes() throws {
        end("tea", revision: 11)
        try introduce()
        _ = try #require(next())
        _ = take(.serviceChanged)
        try introduce([])
        let again = try #require(next())
        #expect(again.call.texts == ["tea: Ended at 00:00", ""])
        queue.handleAnswer([.uint32(1)], to: again.purpose)
        #expect(next() == nil)
    }

    @Test("an action is for the countdown of its notification, and only once")
    func actions() throws {
        end("tea", revision: 11)
        try introduce()
        try show(as: 7)
        #expect(take(.chosen(.again, 8)) == nil)
        let chosen = try #require(take(.chosen(.again, 7)))
        #expect(chosen.0 == .again && chosen.1.key == "tea")
        #expect(next()?.call == Notification.close(7))
        #expect(take(.chosen(.again, 7)) == nil)
        #expect(next() == nil)
    }

    @Test("a click closes the notification of an end or a warning, and none of another program")
    func click() throws {
        end("tea", revision: 11)
        queue.append(warning: running("egg"))
        try introduce()
        for number: UInt32 in [7, 8] {
            let shown = try #require(next())
            #expect(shown.call.actions.suffix(2) == ["default", "Dismiss"])
            queue.handleAnswer([.uint32(number)], to: shown.purpose)
        }
        #expect(take(.chosen(.dismiss, 9)) == nil)
        #expect(next() == nil)
        for number: UInt32 in [7, 8] {
            _ = take(.chosen(.dismiss, number))
            #expect(next()?.call == Notification.close(number))
        }
    }

    @Test("a closed notification has no actions any more, and neither has one of a previous service")
    func noActions() throws {
        for (revision, signal) in [(11, DesktopSignal.closed(7, byUser: true)), (12, .serviceChanged)] {
            end("tea", revision: Int64(revision))
            if queue.service == .unknown { try introduce() }
            try show(as: 7)
            _ = take(signal)
            #expect(take(.chosen(.again, 7)) == nil)
        }
    }

    @Test("the actions of the newest notifications can be chosen, and the number of those is limited")
    func bounded() throws {
        for number in 1...300 {
            end("key\(number)", revision: Int64(10 + number))
            if queue.service == .unknown { try introduce() }
            try show(as: UInt32(number))
        }
        #expect(take(.chosen(.dismiss, 1)) == nil)
        #expect(take(.chosen(.dismiss, 300))?.1.key == "key300")
    }

    @Test("if the history was trimmed, a notice comes first and then the ends that are kept and new")
    func gap() throws {
        queue.ends.historyTrimmed(oldest: 5)
        queue.ends.watchStarted()
        let ends = [event(.finished, ended("old", revision: 9)), event(.finished, ended("new", revision: 12))]
        queue.ends.receive(ends + [Event(type: .synced, revision: 13)], since: 13, wall: 0, boot: 0)
        try introduce()
        let notice = try #require(next())
        #expect(notice.purpose == .ends(.gap))
        #expect(queue.ends.state?.revision == 10)
        queue.handleAnswer([.uint32(1)], to: notice.purpose)
        #expect(try show(as: 2) == "new")
        #expect(queue.ends.state?.revision == 13)
        #expect(next() == nil)
        // A store from a backup continues with revisions that were used before.
        end("tea", revision: 8)
        #expect(next()?.call.texts.first == "tea")
    }

    @Test("if the daemon has no store for a while, no end is missed and none is shown twice")
    func noStore() throws {
        // It counts from a revision of its own and has no countdowns.
        queue.ends.historyTrimmed(oldest: 1_000)
        queue.ends.watchStarted()
        queue.ends.receive([Event(type: .synced, revision: 1_000)], since: 1_000, wall: 0, boot: 0)
        try introduce()
        try show()
        #expect(unsavedRevision() == 1_000)
        // The daemon's events after it can open its store.
        queue.ends.historyTrimmed(oldest: 2)
        queue.ends.watchStarted()
        let events = ([9, 11] as [Int64]).map { event(.finished, ended("key\($0)", revision: $0)) }
        queue.ends.receive(events + [Event(type: .synced, revision: 1_001)], since: 1_001, wall: 0, boot: 0)
        try show(as: 2)
        #expect(try show(as: 3) == "key11")
        #expect(next() == nil)
        #expect(queue.ends.state == DeliveryState(revision: 1_001, lastEnd: 11, lastRing: 11))
    }

    @Test("ends that wait when the history turns out to be trimmed are shown once")
    func waitsOverGap() throws {
        end("tea", revision: 11)
        queue.ends.historyTrimmed(oldest: 5)
        queue.ends.watchStarted()
        end("tea", revision: 11)
        queue.ends.receive([Event(type: .synced, revision: 12)], since: 12, wall: 0, boot: 0)
        #expect(queue.ends.waiting == 1)
    }

    @Test("failures are shown before ends, and only the newest of them wait")
    func troubles() throws {
        end("tea", revision: 11)
        for number in 0..<100 {
            queue.append(Notification(category: .trouble, summary: "trouble \(number)", body: ""))
        }
        try introduce()
        var told: [String] = []
        while let next = next() {
            told += next.call.texts.prefix(1)
            queue.handleAnswer([.uint32(UInt32(told.count))], to: next.purpose)
        }
        #expect(told == (92..<100).map { "trouble \($0)" } + ["tea"])
    }

    @Test("ends are shown before progress, and progress is closed when it is over")
    func progress() throws {
        queue.receiveRunning([event(.attached, running("egg"))], showsProgress: true)
        end("tea", revision: 11)
        try introduce()
        #expect(try show() == "tea")
        let second = try #require(next())
        #expect(second.purpose == .progress(key: "egg"))
        queue.handleAnswer([.uint32(2)], to: second.purpose)
        queue.closeRunning()
        #expect(next()?.call == Notification.close(2))
    }

    @Test("a notification that cannot be written is dropped, counts as shown, and the next one is shown")
    func unwritable() throws {
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        queue.drop(first.purpose)
        #expect(queue.ends.state?.revision == 11)
        #expect(try show() == "egg")
        #expect(queue.ends.state == DeliveryState(revision: 12, lastEnd: 12, lastRing: 12))
        #expect(queue.takeDropped() == 1)
    }

    @Test("a notification that is refused again and again is dropped, and later ones are shown")
    func alwaysRefused() throws {
        end("tea", revision: 11)
        end("egg", revision: 12)
        queue.append(Notification(category: .trouble, summary: "trouble", body: ""))
        var shown: [String?] = []
        for _ in 0..<100 where shown.isEmpty {
            try introduce()
            let outgoing = try #require(next())
            if outgoing.call.texts.first == "egg" { shown = outgoing.call.texts }
            queue.handleAnswer(shown.isEmpty ? nil : [.uint32(1)], to: outgoing.purpose)
            queue.retry()
        }
        #expect(shown.first == "egg")
        #expect(queue.ends.state == DeliveryState(revision: 12, lastEnd: 12, lastRing: 12))
        #expect(queue.takeDropped() == 2)
    }

    @Test("a notification is also dropped if the desktop or the bus goes away at every attempt")
    func endsDesktop() throws {
        end("tea", revision: 11)
        for number in 0..<100 {
            guard let outgoing = next() else { break }
            if outgoing.purpose == .capabilities {
                queue.handleAnswer([.strings([])], to: outgoing.purpose)
            } else if number.isMultiple(of: 4) {
                _ = take(.serviceChanged)
            } else {
                queue.serviceChanged()
            }
        }
        #expect(next() == nil)
        #expect(queue.ends.state?.revision == 11)
    }

    @Test("progress that is always refused is not sent any more, and the progress of others is")
    func refusedProgress() throws {
        queue.receiveRunning([event(.attached, running("egg")), event(.attached, running("tea"))], showsProgress: true)
        var refusals = 0
        for _ in 0..<100 {
            guard let outgoing = next() else { break }
            if outgoing.purpose == .capabilities {
                queue.handleAnswer([.strings([])], to: outgoing.purpose)
                continue
            }
            let isRefused = outgoing.purpose == .progress(key: "egg")
            if isRefused { refusals += 1 }
            queue.handleAnswer(isRefused ? nil : [.uint32(1)], to: outgoing.purpose)
            queue.retry()
        }
        #expect(refusals == 5)
        #expect(queue.progress.hasNext == false)
    }
}

@Suite("The ends that wait to be shown")
struct EndsTests {
    private func ends(_ numbers: Range<Int>) -> Ends {
        var ends = Ends(delivered: nil)
        ends.append(numbers)
        return ends
    }

    @Test("up to three ends have a notification each, the oldest first")
    func oneByOne() {
        var ends = ends(0..<3)
        var told: [String] = []
        while case .one(let countdown)? = ends.next {
            told.append(countdown.key)
            ends.shown(.one(countdown), as: nil)
        }
        #expect(told == ["key0", "key1", "key2"])
        #expect(ends.waiting == 0)
    }

    @Test("more ends become one notification with the names of the newest ten")
    func inOne() {
        guard case .several(let newest, let count)? = ends(0..<5_000).next else { return #expect(Bool(false)) }
        #expect(count == 5_000)
        #expect(newest.map(\.revision) == Array(4_990..<5_000))
        let notification = EndNotification.several(newest: newest, count: count)
            .notification(.at(0), AnnouncementRules())
        #expect(notification.summary == "5000 countdowns have ended")
        let lines = notification.body.split(separator: "\n")
        #expect(lines.first == "4990 earlier ones")
        #expect(lines.last == "key4999, 00:00")
        #expect(notification.actions == [])
    }

    @Test("ends that arrive while a notification is sent are shown next, and none twice", arguments: [2, 30, 5_000])
    func meanwhile(_ count: Int) throws {
        var ends = ends(0..<1)
        let first = try #require(ends.next)
        ends.append(1..<count)
        ends.shown(first, as: 1)
        let second = try #require(ends.next)
        #expect(second.count == count - 1 && second.revision == Int64(count - 1))
        ends.append(count..<count + 1)
        ends.shown(second, as: 2)
        #expect(ends.next == .one(ended("key\(count)", revision: Int64(count))))
        #expect(ends.waiting == 1)
    }

    @Test("the notice that ends may have been missed comes first")
    func gap() {
        var ends = ends(0..<1)
        ends.historyTrimmed(oldest: 0)
        #expect(ends.next == .gap)
        ends.shown(.gap, as: 1)
        #expect(ends.next == .one(ended("key0", revision: 0)))
        #expect(EndNotification.gap.notification(.at(0), AnnouncementRules()).actions.isEmpty)
    }
}

extension Ends {
    fileprivate mutating func append(_ numbers: Range<Int>) {
        let events = numbers.map { event(.finished, ended("key\($0)", revision: Int64($0))) }
        receive(events, since: nil, wall: 0, boot: 0)
    }
}
