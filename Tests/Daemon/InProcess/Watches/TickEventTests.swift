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
        let events = try followers[0].events(through: .finished)
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
        let coarseTicks = try coarse.events(through: .finished).filter { $0.type == .tick }
        #expect(coarseTicks.allSatisfy { $0.key == "tea" && $0.remainingUSec?.isMultiple(of: 70_000) == true })
        #expect(!coarseTicks.isEmpty)
        let fineTicks = try fine.events(through: .finished, of: "coffee").filter { $0.type == .tick }
        for key in ["tea", "coffee"] {
            let remaining = fineTicks.filter { $0.key == key }.compactMap(\.remainingUSec)
            #expect(remaining.allSatisfy { $0.isMultiple(of: 20_000) && (1..<400_000).contains($0) })
            #expect(remaining == Set(remaining).sorted(by: >))
            #expect(!remaining.isEmpty)
        }
    }
}
