import IPC
import TestSupport
import Testing
import Varlink

/// `TickTests` and `TimelineTests` say which ticks there are; these show that they arrive.
@Suite("Tick events")
final class TickEventTests: SmallDaemonSuite {
    @Test("there is a tick at each whole second between the full duration and the end, and none with an interval of 0")
    func seconds() throws {
        let followers = try [Watch(), Watch(tick: .zero)].map { try daemon.watch($0) }
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(3)))
        var events = [try followers[0].next()]
        for _ in 0..<3 {
            time.pass(.seconds(1))
            events.append(try followers[0].next())
        }
        #expect(events.map(\.type) == [.started, .tick, .tick, .finished])
        #expect(events.map(\.remainingUSec) == [.seconds(3), .seconds(2), .seconds(1), 0])
        #expect(events.allSatisfy { $0.key == "tea" })
        #expect(try followers[1].events(through: .finished).map(\.type) == [.started, .finished])
    }

    @Test("each watcher has ticks at its own interval, of its own countdowns, on either clock, each tick once")
    func ownInterval() throws {
        let fine = try daemon.watch(Watch(tick: .milliseconds(20)))
        let coarse = try daemon.watch(Watch(tick: .milliseconds(70), keys: ["tea"]))
        let tea = try caller.call(Start(key: "tea", durationUSec: .milliseconds(300))).countdown
        _ = try caller.call(Start(key: "coffee", deadlineUSec: tea.startedUSec + .milliseconds(400)))
        #expect(try [fine.next(), fine.next(), coarse.next()].map(\.type) == [.started, .started, .started])
        for passed in stride(from: Int64(10), through: 400, by: 10) {
            time.pass(.milliseconds(10))
            let left = ["tea": Int64.milliseconds(300 - passed), "coffee": .milliseconds(400 - passed)].filter {
                $0.value >= 0
            }
            try expect(left.filter { $0.value.isMultiple(of: 20_000) }, from: fine)
            try expect(left.filter { $0.key == "tea" && $0.value.isMultiple(of: 70_000) }, from: coarse)
        }
    }

    /// Reads an event for each countdown, with its remaining time.
    private func expect(_ remaining: [String: Int64], from follower: Follower) throws {
        let events = try remaining.map { _ in try follower.next() }
        #expect(events.allSatisfy { $0.type == ($0.remainingUSec == 0 ? .finished : .tick) })
        #expect(Dictionary(events.map { ($0.key ?? "", $0.remainingUSec ?? -1) }) { first, _ in first } == remaining)
    }
}
