import IPC
import TestSupport
import Testing
import Varlink

@Suite("Watching")
final class WatchTests: SmallDaemonSuite {
    @Test("running and paused countdowns come first, in the order of their last change, then synced")
    func stateFirst() throws {
        for key in ["a", "b", "c", "ended"] { _ = try caller.call(Start(key: key)) }
        _ = try caller.call(Cancel(key: "ended"))
        let paused = try caller.call(Pause(key: "a")).countdown
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        let events = try follower.events(through: .synced)
        #expect(events.map(\.type) == [.attached, .attached, .attached, .synced])
        #expect(events.map(\.key) == ["b", "c", "a", nil])
        #expect(events[2].countdown == paused)
        #expect(events[3].revision == paused.revision)
    }

    @Test("every change comes once, with the countdown and the revision of the caller's reply")
    func everyChange() throws {
        let follower = try daemon.watch()
        let changes: [(Event.Kind, Countdown)] = [
            (.started, try caller.call(Start(key: "tea")).countdown),
            (.restarted, try caller.call(Start(key: "tea", ifRunning: .restart)).countdown),
            (.adjusted, try caller.call(Start(key: "tea", ifRunning: .extend, label: "Tea")).countdown),
            (.adjusted, try caller.call(Adjust(key: "tea", byUSec: .seconds(-1))).countdown),
            (.paused, try caller.call(Pause(key: "tea")).countdown),
            (.resumed, try caller.call(Resume(key: "tea")).countdown),
            (.cancelled, try caller.call(Cancel(key: "tea")).countdown),
            (.started, try caller.call(Start(key: "tea")).countdown),
            (.finished, try caller.call(Finish(key: "tea")).countdown),
        ]
        for (type, countdown) in changes {
            let event = try follower.next()
            #expect(event.type == type)
            #expect(event.countdown == countdown)
            #expect(event.revision == countdown.revision)
        }
        #expect(changes.map(\.1.revision) == changes.map(\.1.revision).sorted())
    }

    @Test("an end comes at the deadline, and is the same in a later reply and in a resumed watch")
    func sameEnding() throws {
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        let since = try #require(try follower.events(through: .synced).last?.revision)
        let started = try caller.call(Start(key: "tea", durationUSec: .milliseconds(20))).countdown
        time.pass(.milliseconds(20))
        let told = try #require(try follower.events(through: .finished).last)
        #expect(told.remainingUSec == 0)
        #expect(told.countdown?.state == .finished)
        #expect(told.countdown?.endedUSec == started.deadlineUSec)
        #expect(told.countdown?.deadlineUSec == nil)
        #expect(told.countdown?.revision == started.revision + 1)
        #expect(try caller.call(Get(key: "tea")).countdown == told.countdown)
        #expect(try caller.call(Wait(key: "tea")).countdown == told.countdown)
        let later = try Follower(of: daemon, Watch(tick: .zero, since: since)).events(through: .synced)
        #expect(later.first == told)
    }

    @Test("two watchers of one key get the same events")
    func twoWatchers() throws {
        let followers = try (0..<2).map { _ in try daemon.watch(Watch(tick: .zero, keys: ["code"])) }
        _ = try caller.call(Start(key: "code", durationUSec: .milliseconds(30)))
        time.pass(.milliseconds(30))
        let heard = try followers.map { try $0.events(through: .finished) }
        #expect(heard[0].map(\.type) == [.started, .finished])
        #expect(heard[0] == heard[1])
    }

    @Test("whoever has read a list was sent the events of what it shows")
    func eventsBeforeLists() throws {
        let watches = try (0..<100).map { _ in
            let connection = try daemon.connect()
            try Follower(on: connection, Watch(tick: .zero)).events(through: .synced)
            return connection
        }
        let lister = try daemon.connect()
        let start = #"{"method":"io.countdownd.Start","parameters":{"key":"tea"}}"#
        try lister.send(message: start + "\0" + #"{"method":"io.countdownd.List"}"#)
        _ = try lister.message()
        #expect(try lister.message().contains(#""tea""#))
        for watch in watches { #expect(try watch.arrivedMessages().messages.count == 1) }
    }

    @Test("a watch without more is refused, and the connection stays open")
    func needsMore() throws {
        #expect(throws: ServiceError.expectedMore) { try caller.call(Watch()) }
        _ = try caller.call(GetStatus())
    }
}
