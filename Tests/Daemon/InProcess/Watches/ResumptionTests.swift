import IPC
import TestSupport
import Testing
import Varlink

@Suite("Resuming a watch")
final class ResumptionTests: SmallDaemonSuite {
    private func revision() throws -> Int64 {
        try caller.call(GetStatus()).revision
    }

    private func missed(since revision: Int64, _ watch: Watch = Watch()) throws -> [Event] {
        var watch = watch
        watch.since = revision
        watch.tickUSec = 0
        return try Follower(of: daemon, watch).events(through: .synced)
    }

    @Test("if nothing was missed, only synced comes")
    func nothingMissed() throws {
        _ = try caller.call(Start(key: "tea"))
        let revision = try revision()
        #expect(try missed(since: revision) == [Event(type: .synced, revision: revision)])
    }

    @Test("each end since then is delivered, and live countdowns that have changed, in the order of revisions, once")
    func missed() throws {
        for key in ["old", "cancelled", "paused", "ended", "twice"] { _ = try caller.call(Start(key: key)) }
        let since = try revision()
        _ = try caller.call(Cancel(key: "cancelled"))
        _ = try caller.call(Cancel(key: "twice"))
        _ = try caller.call(Start(key: "new"))
        _ = try caller.call(Start(key: "twice", durationUSec: .milliseconds(1)))
        time.pass(.milliseconds(1))
        _ = try caller.call(Wait(key: "twice"))
        _ = try caller.call(Pause(key: "paused"))
        _ = try caller.call(Finish(key: "ended"))
        _ = try caller.call(Start(key: "ended"))
        _ = try caller.call(Adjust(key: "new", byUSec: .seconds(1)))
        let events = try missed(since: since)
        #expect(
            events.map(\.type) == [
                .cancelled, .cancelled, .finished, .attached, .finished, .attached, .attached, .synced,
            ]
        )
        #expect(events.map(\.key) == ["cancelled", "twice", "twice", "paused", "ended", "ended", "new", nil])
        let revisions = events.compactMap { $0.countdown?.revision }
        #expect(revisions == revisions.sorted())
        #expect(events.last?.revision == revisions.last)
    }

    @Test("only events of the watched keys are delivered again")
    func selected() throws {
        let since = try revision()
        for key in ["a", "b", "c"] { _ = try caller.call(Start(key: key)) }
        for key in ["a", "b"] { _ = try caller.call(Finish(key: key)) }
        #expect(try missed(since: since, Watch(keys: ["b", "c"])).map(\.key) == ["c", "b", nil])
        #expect(try missed(since: since, Watch(match: ["[ab]"])).map(\.key) == ["a", "b", nil])
    }

    @Test("an end with forget is delivered while it happens, and not again")
    func forgotten() throws {
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        let since = try #require(try follower.events(through: .synced).last?.revision)
        _ = try caller.call(Start(key: "limit", durationUSec: .milliseconds(1), forget: true))
        time.pass(.milliseconds(1))
        let ending = try #require(try follower.events(through: .finished).last)
        #expect(ending.countdown?.forget == true)
        #expect(try missed(since: since) == [Event(type: .synced, revision: ending.revision)])
    }

    @Test("later events are the same as for other watchers, also ticks of earlier countdowns")
    func goesOn() throws {
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(300)))
        let follower = try Follower(of: daemon, Watch(tick: .milliseconds(20), since: try revision()))
        #expect(try follower.next().type == .synced)
        time.pass(.milliseconds(20))
        #expect(try follower.next().type == .tick)
        time.pass(.milliseconds(280))
        #expect(try follower.next().type == .finished)
    }

    @Test("a revision from before the history, or one that was never given, is refused with the oldest valid one")
    func refused() throws {
        let oldest = try caller.call(GetStatus()).oldestRevision
        let revision = try caller.call(Start(key: "tea")).countdown.revision
        for since in [0, oldest - 1, revision + 1, .max] {
            #expect(throws: CountdownError.historyTrimmed(oldestRevision: oldest)) {
                try caller.call(all: Watch(since: since))
            }
        }
        #expect(try missed(since: oldest).map(\.type) == [.attached, .synced])
    }
}
