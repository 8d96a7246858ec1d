import IPC
import Testing
@testable import countdown_notify

@Suite("What is told, and when it counts as told")
final class TellerTests {
    private var queue = NotificationQueue(told: DeliveryState(all: 10, ending: 9))

    /// The daemon has told what happened before.
    init() {
        queue.beginWatch()
        queue.take([Event(type: .synced, revision: 10)], since: 10)
    }

    private func end(_ key: String, revision: Int64) {
        queue.take([event(.finished, ended(key, revision: revision))], since: revision)
    }

    private func next() -> NotificationQueue.Outgoing? { queue.next(.at(0)) }

    private func takeState() -> Int64? { queue.takeState()?.all }

    private func take(_ signal: DesktopSignal) -> (Action, Countdown)? { queue.take(signal) }

    /// Has whoever shows notifications say what he can.
    private func introduce(_ names: [String] = ["actions", "body"]) throws {
        let asked = try #require(next())
        #expect(asked.purpose == .capabilities)
        queue.take([.strings(names)], to: asked.purpose)
    }

    @Test("nobody is asked anything before there is something to tell; one call is on its way at a time")
    func oneAtATime() throws {
        #expect(next() == nil)
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        #expect(first.call.texts.first == "tea")
        #expect(next() == nil)
        queue.take([.uint32(1)], to: first.purpose)
        #expect(next()?.call.texts.first == "egg")
    }

    @Test("what was told is what was answered, not what was sent")
    func record() throws {
        #expect(takeState() == 10)
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        #expect(queue.told?.all == 10)
        queue.take([.uint32(1)], to: first.purpose)
        #expect(takeState() == 11)
        #expect(takeState() == nil)
        let second = try #require(next())
        queue.take([Event(type: .started, revision: 15)], since: 15)
        queue.take([.uint32(2)], to: second.purpose)
        #expect(takeState() == 15)
    }

    @Test("a heartbeat, and that all was told, are worth writing down; a change of a countdown is not")
    func writes() {
        _ = takeState()
        queue.take([event(.started, running("tea"))], since: 11)
        #expect(takeState() == nil)
        queue.take([Event(type: .heartbeat, revision: 12)], since: 12)
        #expect(takeState() == 12)
    }

    @Test("cancelled countdowns are not told")
    func cancelled() {
        queue.take([event(.cancelled, ended("tea", revision: 11))], since: 11)
        #expect(next() == nil)
        #expect(queue.told?.all == 11)
    }

    @Test("who has never been told anything begins with what ends from then on")
    func first() {
        queue = NotificationQueue(told: nil)
        queue.beginWatch()
        #expect(queue.told == nil)
        queue.take([event(.attached, running("tea")), Event(type: .synced, revision: 40)], since: 40)
        let record = queue.takeState()
        #expect(record == DeliveryState(all: 40, ending: 40))
        #expect(next() == nil)
    }

    @Test("while the daemon tells what happened before nothing is told, so that it becomes one; without a daemon it is")
    func catchesUp() throws {
        queue.beginWatch()
        for revision in 11...14 { end("key\(revision)", revision: Int64(revision)) }
        #expect(next() == nil)
        queue.loseDaemon()
        try introduce()
        #expect(next()?.call.texts.first == "4 countdowns have ended")
    }

    @Test("a refusal is no loss: it is told again after a pause that grows")
    func refused() throws {
        end("tea", revision: 11)
        try introduce()
        let first = try #require(next())
        queue.take(nil, to: first.purpose)
        #expect(next() == nil)
        let pause = queue.pause
        queue.retry()
        try introduce()
        let second = try #require(next())
        #expect(second == first)
        queue.take(nil, to: second.purpose)
        #expect(queue.pause > pause)
        queue.retry()
        try introduce()
        queue.take([.uint32(1)], to: try #require(next()).purpose)
        #expect(queue.told?.all == 11)
    }

    @Test("whoever is new is asked what he can, and told what the one before did not answer")
    func changes() throws {
        end("tea", revision: 11)
        try introduce()
        _ = try #require(next())
        _ = take(.changed)
        try introduce([])
        let again = try #require(next())
        #expect(again.call.texts == ["tea: Ended at 00:00", ""])
        queue.take([.uint32(1)], to: again.purpose)
        #expect(next() == nil)
    }

    @Test("an action is for the countdown of its notification, once, and for none of others")
    func actions() throws {
        end("tea", revision: 11)
        try introduce()
        queue.take([.uint32(7)], to: try #require(next()).purpose)
        #expect(take(.chosen(.again, 8)) == nil)
        let chosen = try #require(take(.chosen(.again, 7)))
        #expect(chosen.0 == .again && chosen.1.key == "tea")
        #expect(next()?.call == Notification.close(7))
        #expect(take(.chosen(.again, 7)) == nil)
        #expect(next() == nil)
    }

    @Test("what was taken away has no actions any more, nor has what somebody before showed")
    func noActions() throws {
        for (revision, signal) in [(11, DesktopSignal.closed(7)), (12, .changed)] {
            end("tea", revision: Int64(revision))
            if queue.service == .unknown { try introduce() }
            queue.take([.uint32(7)], to: try #require(next()).purpose)
            _ = take(signal)
            #expect(take(.chosen(.again, 7)) == nil)
        }
    }

    @Test("what can be chosen of is bounded, and the newest can")
    func bounded() {
        for number in 1...1_000 { queue.offer(.ending(ended("key\(number)")), as: UInt32(number)) }
        #expect(take(.chosen(.dismiss, 1)) == nil)
        #expect(take(.chosen(.dismiss, 1_000))?.1.key == "key1000")
    }

    @Test("where history was trimmed that is told once, and then what is kept and was not told")
    func gap() throws {
        queue.noteGap(5)
        queue.beginWatch()
        queue.take(
            [
                event(.finished, ended("old", revision: 9)), event(.finished, ended("new", revision: 12)),
                Event(type: .synced, revision: 13),
            ],
            since: 13
        )
        try introduce()
        let notice = try #require(next())
        #expect(notice.purpose == .ends(.gap))
        #expect(queue.told?.all == 10)
        queue.take([.uint32(1)], to: notice.purpose)
        let ending = try #require(next())
        #expect(ending.call.texts.first == "new")
        queue.take([.uint32(2)], to: ending.purpose)
        #expect(queue.told?.all == 13)
        #expect(next() == nil)
        // A store from a backup goes on with revisions that were told before.
        end("tea", revision: 8)
        #expect(next()?.call.texts.first == "tea")
    }

    @Test("a daemon that has no store for a while hides no ending of it, and has none told twice")
    func noStore() throws {
        // It counts from a revision of its own, and knows of nothing.
        queue.noteGap(1_000)
        queue.beginWatch()
        queue.take([Event(type: .synced, revision: 1_000)], since: 1_000)
        try introduce()
        queue.take([.uint32(1)], to: try #require(next()).purpose)
        #expect(takeState() == 1_000)
        // What it has once it can open its store.
        queue.noteGap(2)
        queue.beginWatch()
        let events = ([9, 11] as [Int64]).map { event(.finished, ended("key\($0)", revision: $0)) }
        queue.take(events + [Event(type: .synced, revision: 1_001)], since: 1_001)
        queue.take([.uint32(2)], to: try #require(next()).purpose)
        let ending = try #require(next())
        #expect(ending.call.texts.first == "key11")
        queue.take([.uint32(3)], to: ending.purpose)
        #expect(next() == nil)
        #expect(queue.told == DeliveryState(all: 1_001, ending: 11))
    }

    @Test("what waits to be told when history turns out to be trimmed is told once")
    func waitsOverGap() throws {
        end("tea", revision: 11)
        queue.noteGap(5)
        queue.beginWatch()
        end("tea", revision: 11)
        queue.take([Event(type: .synced, revision: 12)], since: 12)
        #expect(queue.backlog.waiting == 1)
    }

    @Test("a trouble is told before endings, and many of them do not pile up")
    func troubles() throws {
        end("tea", revision: 11)
        for number in 0..<100 {
            queue.complain(Notification(category: .trouble, summary: "trouble \(number)", body: ""))
        }
        try introduce()
        var told: [String] = []
        while let next = next() {
            told += next.call.texts.prefix(1)
            queue.take([.uint32(UInt32(told.count))], to: next.purpose)
        }
        #expect(told == (92..<100).map { "trouble \($0)" } + ["tea"])
    }

    @Test("endings go before progress, and progress that is over is taken away")
    func progress() throws {
        queue.show([event(.attached, running("egg"))])
        end("tea", revision: 11)
        try introduce()
        let first = try #require(next())
        #expect(first.call.texts.first == "tea")
        queue.take([.uint32(1)], to: first.purpose)
        let second = try #require(next())
        #expect(second.purpose == .progress(key: "egg"))
        queue.take([.uint32(2)], to: second.purpose)
        queue.hideProgress()
        #expect(next()?.call == Notification.close(2))
    }

    @Test("a notification that cannot be written is dropped, counts as shown, and the next one is shown")
    func unwritable() throws {
        end("tea", revision: 11)
        end("egg", revision: 12)
        try introduce()
        let first = try #require(next())
        queue.drop(first.purpose)
        #expect(queue.told?.all == 11)
        let second = try #require(next())
        #expect(second.call.texts.first == "egg")
        queue.take([.uint32(1)], to: second.purpose)
        #expect(queue.told == DeliveryState(all: 12, ending: 12))
        #expect(queue.takeDropped() == 1)
    }

    @Test("a notification that is refused again and again is dropped, and later ones are shown")
    func alwaysRefused() throws {
        end("tea", revision: 11)
        end("egg", revision: 12)
        queue.complain(Notification(category: .trouble, summary: "trouble", body: ""))
        var shown: [String?] = []
        for _ in 0..<100 where shown.isEmpty {
            try introduce()
            let outgoing = try #require(next())
            if outgoing.call.texts.first == "egg" { shown = outgoing.call.texts }
            queue.take(shown.isEmpty ? nil : [.uint32(1)], to: outgoing.purpose)
            queue.retry()
        }
        #expect(shown.first == "egg")
        #expect(queue.told == DeliveryState(all: 12, ending: 12))
        #expect(queue.takeDropped() == 2)
    }

    @Test("a notification during which the desktop or the bus goes away each time is dropped as well")
    func endsDesktop() throws {
        end("tea", revision: 11)
        for number in 0..<100 {
            guard let outgoing = next() else { break }
            if outgoing.purpose == .capabilities {
                queue.take([.strings([])], to: outgoing.purpose)
            } else if number.isMultiple(of: 4) {
                _ = take(.changed)
            } else {
                queue.loseBus()
            }
        }
        #expect(next() == nil)
        #expect(queue.told?.all == 11)
    }

    @Test("progress that is refused again and again is shown no more, and that of others is")
    func refusedProgress() throws {
        queue.show([event(.attached, running("egg")), event(.attached, running("tea"))])
        var refusals = 0
        for _ in 0..<100 {
            guard let outgoing = next() else { break }
            if outgoing.purpose == .capabilities {
                queue.take([.strings([])], to: outgoing.purpose)
                continue
            }
            let isRefused = outgoing.purpose == .progress(key: "egg")
            if isRefused { refusals += 1 }
            queue.take(isRefused ? nil : [.uint32(1)], to: outgoing.purpose)
            queue.retry()
        }
        #expect(refusals == 5)
        #expect(queue.board.hasNext == false)
    }
}

@Suite("The endings that are to be told")
struct BacklogTests {
    private func backlog(_ count: Int) -> Backlog {
        var backlog = Backlog()
        for number in 0..<count { backlog.append(ended("key\(number)", revision: Int64(number))) }
        return backlog
    }

    @Test("up to three are told one by one, the oldest first")
    func oneByOne() {
        var backlog = backlog(3)
        var told: [String] = []
        while case .ending(let countdown)? = backlog.next {
            told.append(countdown.key)
            backlog.remove(.ending(countdown))
        }
        #expect(told == ["key0", "key1", "key2"])
        #expect(backlog.isEmpty)
    }

    @Test("more are told in one, the newest ten by name, whatever their number")
    func inOne() {
        guard case .endings(let newest, let count)? = backlog(5_000).next else { return #expect(Bool(false)) }
        #expect(count == 5_000)
        #expect(newest.map(\.revision) == Array(4_990..<5_000))
        let notification = EndNotification.endings(newest: newest, count: count).notification(.at(0))
        #expect(notification.summary == "5000 countdowns have ended")
        let lines = notification.body.split(separator: "\n")
        #expect(lines.first == "4990 earlier ones")
        #expect(lines.last == "key4999, 00:00")
        #expect(notification.actions == [.dismiss])
    }

    @Test("what came while some were being told is told next, and none twice")
    func meanwhile() throws {
        var backlog = backlog(1)
        let first = try #require(backlog.next)
        for number in 1..<30 { backlog.append(ended("key\(number)", revision: Int64(number))) }
        backlog.remove(first)
        let second = try #require(backlog.next)
        #expect(second.count == 29 && second.revision == 29)
        backlog.append(ended("last", revision: 30))
        backlog.remove(second)
        #expect(backlog.next == .ending(ended("last", revision: 30)))
        #expect(backlog.waiting == 1)
    }

    @Test("that endings may have been missed is told before those that were not")
    func gap() {
        var backlog = backlog(1)
        backlog.noteGap()
        #expect(backlog.next == .gap)
        backlog.remove(.gap)
        #expect(backlog.next == .ending(ended("key0", revision: 0)))
        #expect(EndNotification.gap.notification(.at(0)).actions.isEmpty)
    }
}
