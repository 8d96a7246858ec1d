import IPC
import TestSupport
import Testing
import Varlink

@Suite("Tick events")
struct TickEventTests {
    private let daemon: SmallDaemon
    private let caller: Caller

    init() throws {
        daemon = try SmallDaemon()
        caller = try Caller(of: daemon)
    }

    /// Watches, starts a countdown and returns the events up to its end.
    private func events(of start: Start, _ watch: Watch) throws -> [Event] {
        let follower = try Follower(of: daemon, watch)
        try follower.events(through: .synced)
        _ = try caller.call(start)
        return try follower.events(through: .finished)
    }

    @Test(
        "without an interval there is a tick at each whole second that remains, except at the full duration and at the end"
    )
    func seconds() throws {
        let events = try events(of: Start(key: "tea", durationUSec: .seconds(3)), Watch())
        #expect(events.map(\.type) == [.started, .tick, .tick, .finished])
        #expect(events.map(\.remainingUSec) == [.seconds(3), .seconds(2), .seconds(1), 0])
        #expect(events.allSatisfy { $0.key == "tea" })
    }

    @Test("ticks count whole intervals downwards, each once, between the full length and the end")
    func intervals() throws {
        let interval = Int64.milliseconds(20)
        let tick = Duration.milliseconds(20)
        let events = try events(of: Start(key: "tea", durationUSec: 20 * interval), Watch(tick: tick))
        let ticks = events.filter { $0.type == .tick }.compactMap(\.remainingUSec)
        #expect(ticks.allSatisfy { $0.isMultiple(of: interval) && (1..<20 * interval).contains($0) })
        #expect(ticks == Set(ticks).sorted(by: >))
        #expect(!ticks.isEmpty)
        #expect(events.last?.remainingUSec == 0)
    }

    @Test("ticks lie at whole intervals before the deadline, whatever the length")
    func oddLength() throws {
        let interval = Int64.milliseconds(30)
        let tick = Duration.milliseconds(30)
        let events = try events(of: Start(key: "tea", durationUSec: .milliseconds(215)), Watch(tick: tick))
        let ticks = events.filter { $0.type == .tick }.compactMap(\.remainingUSec)
        #expect(ticks.allSatisfy { $0.isMultiple(of: interval) && (interval...7 * interval).contains($0) })
        #expect(!ticks.isEmpty)
    }

    @Test("a countdown that is shorter than the interval has no tick")
    func shorterThanInterval() throws {
        let events = try events(of: Start(key: "tea", durationUSec: .milliseconds(40)), Watch())
        #expect(events.map(\.type) == [.started, .finished])
    }

    @Test("a countdown that follows the system clock ticks as well")
    func wallClock() throws {
        let now = try caller.call(Start(key: "now")).countdown.startedUSec
        let interval = Int64.milliseconds(20)
        let tick = Duration.milliseconds(20)
        let deadline = now + .milliseconds(300)
        let events = try events(of: Start(key: "tea", deadlineUSec: deadline), Watch(tick: tick, keys: ["tea"]))
        #expect(events.first?.countdown?.clock == .wall)
        let ticks = events.filter { $0.type == .tick }.compactMap(\.remainingUSec)
        #expect(ticks.allSatisfy { $0.isMultiple(of: interval) })
        #expect(!ticks.isEmpty)
        #expect(events.last?.countdown?.endedUSec == deadline)
    }

    @Test("with an interval of 0 there are no ticks")
    func none() throws {
        let events = try events(of: Start(key: "tea", durationUSec: .milliseconds(1_050)), Watch(tick: .zero))
        #expect(events.map(\.type) == [.started, .finished])
    }

    @Test("a watcher that comes later gets the remaining time, and the ticks from then on")
    func onTheWay() throws {
        let interval = Int64.milliseconds(20)
        let tick = Duration.milliseconds(20)
        _ = try caller.call(Start(key: "tea", durationUSec: 20 * interval))
        let follower = try Follower(of: daemon, Watch(tick: tick))
        let events = try follower.events(through: .finished)
        #expect(events.prefix(2).map(\.type) == [.attached, .synced])
        let attached = try #require(events[0].remainingUSec)
        let ticks = events.filter { $0.type == .tick }.compactMap(\.remainingUSec)
        #expect(ticks.allSatisfy { $0 < attached })
        #expect(ticks == Set(ticks).sorted(by: >))
    }

    @Test("each watcher has ticks at its own interval, of its own countdowns")
    func ownInterval() throws {
        let fine = try Follower(of: daemon, Watch(tick: .milliseconds(20)))
        let coarse = try Follower(of: daemon, Watch(tick: .milliseconds(70), keys: ["tea"]))
        for follower in [fine, coarse] { try follower.events(through: .synced) }
        for key in ["tea", "coffee"] { _ = try caller.call(Start(key: key, durationUSec: .milliseconds(300))) }
        let coarseTicks = try coarse.events(through: .finished).filter { $0.type == .tick }
        #expect(coarseTicks.allSatisfy { $0.key == "tea" && $0.remainingUSec?.isMultiple(of: 70_000) == true })
        #expect(!coarseTicks.isEmpty)
        let fineTicks = try fine.events(through: .finished, of: "coffee").filter { $0.type == .tick }
        #expect(Set(fineTicks.map(\.key)) == ["tea", "coffee"])
        #expect(fineTicks.allSatisfy { $0.remainingUSec?.isMultiple(of: 20_000) == true })
    }

    @Test("a paused countdown does not tick, and ticks again after it is resumed")
    func paused() throws {
        let follower = try Follower(of: daemon, Watch(tick: .milliseconds(20)))
        try follower.events(through: .synced)
        _ = try caller.call(Start(key: "tea", durationUSec: .milliseconds(400)))
        try follower.events(through: .tick, of: "tea")
        _ = try caller.call(Pause(key: "tea"))
        _ = try caller.call(Start(key: "clock", durationUSec: .milliseconds(100)))
        let paused = try #require(try follower.events(through: .paused).last?.remainingUSec)
        let silent = try follower.events(through: .finished, of: "clock")
        #expect(silent.allSatisfy { $0.key == "clock" })
        let resumed = try caller.call(Resume(key: "tea")).countdown
        #expect(resumed.remainingUSec == paused)
        let rest = try follower.events(through: .finished, of: "tea").filter { $0.type == .tick }
        #expect(rest.allSatisfy { ($0.remainingUSec ?? 0) < paused })
        #expect(!rest.isEmpty)
    }

    @Test("ticks follow a deadline that was moved")
    func moved() throws {
        let follower = try Follower(of: daemon, Watch(tick: .milliseconds(50)))
        try follower.events(through: .synced)
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(60)))
        _ = try caller.call(Adjust(key: "tea", byUSec: .milliseconds(-59_777)))
        try follower.events(through: .adjusted)
        let ticks = try follower.events(through: .finished).filter { $0.type == .tick }
        #expect(ticks.allSatisfy { [50_000, 100_000, 150_000, 200_000].contains($0.remainingUSec) })
        #expect(!ticks.isEmpty)
    }
}
