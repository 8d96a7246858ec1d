import Foundation
import IPC

/// The task of a daemon while one of its calls fails.
struct Scenario: Sendable {
    enum Name: String, CaseIterable, Sendable {
        case firstStart = "the first start"
        case start = "a start over a store"
        case traffic = "traffic"
        case durableTraffic = "traffic that waits for the disk"
        case moveAside = "a start over a store that cannot be read"
        case stop = "a clean stop"
    }

    enum Step: Sendable {
        case ask(Change)
        /// The system clock is set for the daemon.
        case setClock(offBy: Int64)
    }

    let name: Name
    var arguments: [String] = []
    var preparation = Preparation()
    /// Whether calls are counted from the daemon's first one, or from the first step.
    var countsStart = false
    var steps: [Step]
    /// Whether the daemon is stopped while its calls fail.
    var stops = false
    var allowance = Ledger.Allowance()

    init(_ name: Name) throws {
        self.name = name
        steps = Changes.few.map(Step.ask)
        switch name {
        case .firstStart:
            countsStart = true
        case .start:
            countsStart = true
            preparation = try Preparation(after: Changes.many + [Changes.soon])
        case .traffic, .durableTraffic:
            if name == .durableTraffic { arguments = ["--durability", "power-loss"] }
            arguments += ["--history", "4"]
            preparation = try Preparation(after: Changes.many)
            steps = Changes.traffic
            allowance = Ledger.Allowance(clockUSec: Changes.stepUSec + 1_000, trimmed: true)
        case .moveAside:
            countsStart = true
            preparation = try Preparation(unreadable: Changes.unreadable)
        case .stop:
            preparation = try Preparation(after: Changes.many)
            stops = true
        }
    }
}

/// The changes.
private enum Changes {
    static let hour: Int64 = 3_600_000_000
    /// How far the clock is set: enough for a clock step, and little enough for the timer to fire nearly in time.
    static let stepUSec: Int64 = 5_000

    static let few: [Change] = [
        .start(Start(key: "a", durationUSec: hour, label: "A", metadata: ["a": "b"])),
        .pause(Pause(key: "a")),
        .start(Start(key: "b", durationUSec: 1, label: "B")),
    ]

    static let many: [Change] = [
        .start(Start(key: "running", durationUSec: hour, label: "Running", metadata: ["a": "b", "ü": "ö"])),
        .start(Start(key: "wall", deadlineUSec: Microseconds.now + hour, label: "Wall")),
        .start(Start(key: "paused", durationUSec: hour, label: "Paused")),
        .pause(Pause(key: "paused")),
        .start(Start(key: "cancelled", durationUSec: hour)),
        .cancel(Cancel(key: "cancelled")),
        .start(Start(key: "finished", durationUSec: hour)),
        .finish(Finish(key: "finished")),
        .start(Start(key: "forgotten", durationUSec: hour, forget: true)),
        .cancel(Cancel(key: "forgotten")),
        .adjust(Adjust(key: "running", byUSec: 1_000_000)),
    ]

    /// A deadline between one daemon and the next.
    static let soon = Change.start(Start(key: "soon", durationUSec: 50_000, label: "Soon"))

    static let traffic: [Scenario.Step] =
        few.map(Scenario.Step.ask) + [
            .ask(.start(Start(key: "running", durationUSec: hour, ifRunning: .restart, label: "Restarted"))),
            .ask(.start(Start(key: "running", durationUSec: hour, ifRunning: .extend, label: "Extended"))),
            .ask(.resume(Resume(key: "paused"))),
            .ask(.finish(Finish(key: "wall"))),
            .setClock(offBy: stepUSec),
            .ask(.adjust(Adjust(key: "running", byUSec: -60_000_000))),
            .ask(.start(Start(key: "forgotten", durationUSec: 1, label: "Forgotten", forget: true))),
            .ask(.start(Start(key: "c", durationUSec: 1, label: "C"))),
            .ask(.start(Start(key: "d", durationUSec: 1, label: "D"))),
            .ask(.resume(Resume(key: "a"))),
            .ask(.cancel(Cancel(key: "a"))),
            .ask(.start(Start(key: "a", durationUSec: hour, label: "A again"))),
        ]

    /// Bytes that no daemon has written.
    static let unreadable: [String: Data] = [
        "log/0000000001.log": Data((0..<8_192).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ $0 >> 8) })
    ]
}
