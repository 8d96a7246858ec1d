import Foundation
import IPC
import TestSupport
import Testing

/// Clients of all hosts that start, extend and cancel countdowns, and the fate of each call.
struct FleetLoad {
    /// The fate of a change.
    enum Fate {
        /// It was answered as made.
        case made
        /// It was refused, or answered as not made.
        case notMade
        /// No answer came, or the answer says that the outcome is not known.
        case unknown
    }

    /// A change, which can be recognised in the engine's log.
    enum Change: Hashable {
        /// A start or an extension with this label in its record.
        case labelled(String)
        /// A cancellation of a key that is started once.
        case cancelled(String)
    }

    private struct Client {
        let host: Host
        var caller: Caller?
        var call: (change: Change, isCancel: Bool)?
    }

    /// The longest pause between the calls of a client during a fault.
    private static let pause = Duration.milliseconds(20)

    /// Keys that are extended again and again.
    private let extended: [String]

    /// The fates of the changes.
    private(set) var fates: [Change: Fate] = [:]
    private var clients: [Client]
    private var generator: SeededGenerator
    /// Keys that were started and not cancelled.
    private var started: [String] = []
    private var calls = 0
    /// The beginning of its keys and labels.
    private let name: String

    init(_ fleet: Fleet, seed: UInt64, clientsOfHost: Int = 4, name: String = "") {
        self.name = name
        extended = (0..<8).map { "\(name)extended/\($0)" }
        clients = fleet.hosts.flatMap { host in (0..<clientsOfHost).map { _ in Client(host: host) } }
        generator = SeededGenerator(seed: seed)
    }

    /// Lets every client without a call make one, and waits until this many answers have come. Clients of a daemon that does
    /// not run are left out.
    mutating func run(until answers: Int, by deadline: Deadline = Deadline()) throws {
        var count = 0
        while count < answers {
            for index in clients.indices where clients[index].call == nil { begin(index) }
            count += try receive(by: deadline)
        }
    }

    /// Makes calls while a condition holds, without filling the engine's log.
    mutating func run(during condition: () throws -> Bool) throws {
        try waitUntil("the end of a fault") {
            guard try condition() else { return true }
            try run(until: 1)
            letPass(Self.pause)
            return false
        }
    }

    /// Waits for the answers to all calls.
    mutating func finish() throws {
        while clients.contains(where: { $0.call != nil }) { _ = try receive(by: Deadline()) }
    }

    private mutating func begin(_ index: Int) {
        if clients[index].caller == nil { clients[index].caller = try? Caller(of: clients[index].host.daemon) }
        guard let caller = clients[index].caller else { return }
        let kind = Int.random(in: 0..<4, using: &generator)
        calls += 1
        let label = "\(name)call \(calls)"
        do {
            if kind == 0, let key = started.randomElement(using: &generator) {
                started.removeAll { $0 == key }
                clients[index].call = (.cancelled(key), true)
                try caller.send(Cancel(key: key))
            } else {
                clients[index].call = (.labelled(label), false)
                try caller.send(start(isExtension: kind > 1, label))
            }
        } catch {
            lose(index)
        }
    }

    private mutating func start(isExtension: Bool, _ label: String) -> Start {
        guard isExtension, let key = extended.randomElement(using: &generator) else {
            let duration = [Int64.hour, 1_000_000, 3_000_000].randomElement(using: &generator)
            return Start(key: "\(name)started/\(calls)", durationUSec: duration, ifRunning: .fail, label: label)
        }
        return Start(key: key, durationUSec: .hour, ifRunning: .extend, label: label)
    }

    /// Waits for at least one answer, if any is to come.
    ///
    /// - Returns: how many have come.
    private mutating func receive(by deadline: Deadline) throws -> Int {
        let waiting = clients.indices.filter { clients[$0].call != nil }
        let connections = waiting.compactMap { clients[$0].caller?.connection }
        guard !connections.isEmpty else { return 0 }
        let ready = try RawConnection.awaitInput(on: connections, until: deadline)
        for place in ready { try receive(waiting[place], by: deadline) }
        return ready.count
    }

    private mutating func receive(_ index: Int, by deadline: Deadline) throws {
        guard let caller = clients[index].caller, let (change, isCancel) = clients[index].call else { return }
        do {
            let countdown =
                if isCancel {
                    try caller.answer(to: Cancel.self, until: deadline).value.countdown
                } else {
                    try caller.answer(to: Start.self, until: deadline).value.countdown
                }
            if case .labelled = change, !extended.contains(countdown.key) { started.append(countdown.key) }
            fates[change] = .made
            clients[index].call = nil
        } catch CountdownError.unreachable {
            fates[change] = .unknown
            clients[index].call = nil
        } catch is CountdownError {
            fates[change] = .notMade
            clients[index].call = nil
        } catch is SystemCallFailure, is RawConnection.Cut {
            lose(index)
        }
    }

    /// The connection is gone.
    private mutating func lose(_ index: Int) {
        if let (change, _) = clients[index].call { fates[change] = .unknown }
        clients[index].call = nil
        clients[index].caller = nil
    }
}

extension FleetLoad {
    /// Compares the fates of the calls with the engine's log.
    ///
    /// - Returns: the log.
    func check(against fleet: Fleet) throws -> [(key: String, record: EngineRecord)] {
        let log = try fleet.engine.log()
        let last = log.compactMap { $0.record.duration < .hour ? $0.record.deadline : nil }.max() ?? 0
        try waitUntil("the last end") { try wallClock() > last }
        let countdowns = try fleet.awaitEqual()

        var made: [Change: Int] = [:]
        for (key, record) in log {
            let change = record.kind == "cancelled" ? .cancelled(key) : Change.labelled(record.label ?? "")
            made[change, default: 0] += 1
        }
        for (change, fate) in fates {
            let expected =
                switch fate {
                case .made: 1...1
                case .notMade: 0...0
                case .unknown: 0...1
                }
            #expect(expected.contains(made[change] ?? 0), "\(change) was answered as \(fate)")
        }
        for key in extended {
            #expect(countdowns[key]?.duration ?? 0 == Int64(log.count { $0.key == key }) * .hour)
        }
        let counts = Dictionary(grouping: fates.values) { $0 }.mapValues(\.count)
        print("\(counts[.made] ?? 0) changes made, \(counts[.notMade] ?? 0) not, \(counts[.unknown] ?? 0) unknown")
        return log
    }
}

func environmentNumber(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap(Int.init)
}
