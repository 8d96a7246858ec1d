import IPC
import TestSupport
import Testing
import Varlink

/// Each test of the second part is named after what users of other projects asked for.
@Suite("One limit for all programs of a machine")
final class SharedLimitTests: SmallDaemonSuite {
    private func rate(_ key: String, _ count: Int64, per period: Int64) -> Cooldown {
        Cooldown(key, for: .microseconds(period / count), upTo: .microseconds(period), forget: true)
    }

    // MARK: StartAll

    @Test("watchers get the changes in the order of the cooldowns, with consecutive revisions and one instant")
    func announces() throws {
        _ = try caller.call(Start(key: "b", durationUSec: .seconds(60)))
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        let synced = try #require(try follower.events(through: .synced).last?.revision)
        let cooldowns = [Cooldown("c"), Cooldown("b", upTo: .seconds(600)), Cooldown("a")]
        let reply = try caller.call(StartAll(cooldowns: cooldowns))
        #expect(reply.accepted && reply.retryAfterUSec == nil)
        #expect(reply.rooms.map(\.left) == [0, 8, 0])
        let events = try follower.events(through: .started, of: "a")
        #expect(events.map(\.key) == ["c", "b", "a"])
        #expect(events.map(\.type) == [.started, .adjusted, .started])
        #expect(events.map(\.revision) == (1...3).map { synced + $0 })
        #expect(events[0].countdown?.startedUSec == events[2].countdown?.startedUSec)
        #expect(reply.rooms.map(\.countdown) == events.map(\.countdown))
    }

    // MARK: What was asked for

    @Test("one Retry-After for all callers of an API: the longest wins (litellm#40130)")
    func retryAfter() throws {
        let others = try (0..<3).map { _ in try Caller(of: daemon) }
        for (other, seconds) in zip(others, [1, 60, 5] as [Int64]) {
            let start = Start(key: "api/openai", durationUSec: .seconds(seconds), ifRunning: .later)
            #expect(try other.call(start).countdown.remainingUSec > .seconds(seconds) - .seconds(1))
        }
        let room = try caller.call(StartAll(cooldowns: [Cooldown("api/openai")], dryRun: true)).rooms[0]
        #expect(room.left == 0)
        #expect(try #require(room.moreUSec) > .seconds(5))
    }

    @Test("3 a minute and 30 a day for a number (loopback4-ratelimiter#91)")
    func severalRates() throws {
        let call = StartAll(cooldowns: [
            rate("phone/138", 3, per: .seconds(60)), rate("phone/138/1d", 30, per: .seconds(86_400)),
        ])
        let replies = try (0..<5).map { _ in try caller.call(call) }
        #expect(replies.map(\.accepted) == [true, true, true, false, false])
        #expect(replies.map { $0.rooms.map(\.left) } == [[2, 29], [1, 28], [0, 27], [0, 27], [0, 27]])
        #expect(try #require(replies.last?.retryAfterUSec) <= .seconds(20))
    }

    @Test("a debounce with a maximum wait ends, however often it is triggered (graphile/worker#583)")
    func debounce() throws {
        let follower = try daemon.watch(Watch(tick: .zero, keys: ["build"]))
        let trigger = Start(
            key: "build",
            durationUSec: .milliseconds(300),
            ifRunning: .later,
            maxDurationUSec: .milliseconds(500)
        )
        let started = try caller.call(trigger).countdown
        for _ in 0..<2 {
            time.pass(.milliseconds(200))
            #expect(try caller.call(trigger).countdown.startedUSec == started.startedUSec)
        }
        time.pass(.milliseconds(100))
        let end = try #require(try follower.events(through: .finished).last?.countdown)
        #expect(end.durationUSec == .milliseconds(500))
        #expect(try caller.call(trigger).outcome == .started)
    }
}
