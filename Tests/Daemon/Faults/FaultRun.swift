import Foundation
import IPC
import System
import TestSupport

/// A daemon at which one call fails, or all calls from one on, and then a daemon at which none fails.
final class FaultRun {
    private static let patienceUSec: Int64 = 120_000_000

    let scenario: Scenario
    private let kind: FaultKind?
    private let number: Int
    let directory: TemporaryDirectory
    private let injection: FaultInjection
    let changeClient: ChangeClient
    let watchClient: WatchClient
    var tally = FaultTally()

    /// A run in which the fault happens at the call with this number, or at none.
    init(_ scenario: Scenario, _ kind: FaultKind?, at number: Int = 0) throws {
        self.scenario = scenario
        self.kind = kind
        self.number = number
        directory = try TemporaryDirectory()
        injection = try FaultInjection(in: directory)
        var allowance = scenario.allowance
        // If an end cannot be stored before the daemon ends, it is delivered again.
        allowance.endsAgain = kind?.killsAfterErrors ?? false || scenario.stops && !(kind?.kills ?? false)
        // A change is there if it was written before the disk refused to sync it and to accept anything instead of it.
        allowance.madeThoughRefused = kind == .errorsToTheEnd
        var ledger = scenario.preparation.ledger
        ledger.allowance = allowance
        changeClient = ChangeClient(ledger: ledger, mayFail: true)
        watchClient = WatchClient(memory: scenario.preparation.memory)
        watchClient.allowance = allowance
        try scenario.preparation.lay(in: directory)
    }

    /// Runs both daemons, and checks the state at the end against everything that clients received.
    func run() throws -> FaultTally {
        tally.runs = 1
        if let daemon = try start() {
            try play(on: daemon)
            if injection.failed > 0 { tally.reached = 1 }
        }
        try judge()
        tally.answered = changeClient.changes
        tally.failed = changeClient.failed
        if kind == .busy, tally.failed > 0 { tally.faults.append("a lock was not waited out") }
        return tally
    }

    /// The calls of a daemon at which none fails, a letter for each.
    func record() throws -> String {
        guard let daemon = try start() else { return "" }
        try play(on: daemon)
        try judge()
        guard tally.faults.isEmpty else { throw Preparation.Failed(faults: tally.faults) }
        return tally.trace
    }

    // MARK: The daemon with a fault

    /// - Returns: nil if the daemon was killed before it was ready.
    private func start() throws -> DaemonProcess? {
        if scenario.countsStart { arm() }
        let daemon = try DaemonProcess(
            starting: [],
            in: directory,
            arguments: scenario.arguments,
            environment: injection.environment()
        )
        do {
            try daemon.awaitReadiness()
        } catch {
            try noteEnd(of: daemon)
            return nil
        }
        guard !scenario.countsStart else { return daemon }
        try watchClient.connect(to: daemon.socketPath)
        watchClient.sync()
        injection.startOver()
        arm()
        return daemon
    }

    private func arm() {
        kind?.set(injection, at: number)
        if kind == nil { injection.set(.errno(0), at: .none, of: .all) }
    }

    private func play(on daemon: DaemonProcess) throws {
        do {
            try changeClient.connect(to: daemon.socketPath)
            for step in scenario.steps where !hasToEnd { try take(step, on: daemon) }
            if scenario.stops { return try stop(daemon) }
            tally.trace = injection.trace
            if kind?.killsAfterErrors ?? false { return try end(daemon) }
            injection.heal()
            try awaitStorage(of: daemon)
            try inspect(daemon)
            tally.faults += StateFiles(in: daemon.stateDirectory).faults(namedIn: daemon.standardError)
            try end(daemon)
        } catch let error where error is Gone || error is ClientError {
            // The background may make the call at which the daemon is killed while no client makes a call.
            try noteEnd(of: daemon)
        }
    }

    /// Whether a change was refused, and nothing else is to come before the daemon is killed.
    private var hasToEnd: Bool { kind?.killsAtRefusal ?? false && changeClient.failed > 0 }

    private func take(_ step: Scenario.Step, on daemon: DaemonProcess) throws {
        switch step {
        case .setClock(let offset): injection.setClock(offBy: offset)
        case .ask(let change): _ = try ask(change)
        }
    }

    /// - Returns: whether the change was stored, or refused for another reason than the store.
    private func ask(_ change: Change) throws -> Bool {
        let failed = changeClient.failed
        changeClient.ask(change)
        guard try changeClient.takeAnswer(until: .after(microseconds: Self.patienceUSec)) else { throw TimedOut.answer }
        guard changeClient.isConnected else { throw Gone() }
        _ = watchClient.proceed()
        return changeClient.failed == failed
    }

    private func stop(_ daemon: DaemonProcess) throws {
        daemon.process.send(signal: SIGTERM)
        let ending = try daemon.process.wait()
        tally.trace = injection.trace
        injection.heal()
        watchClient.drain()
        if kind?.kills ?? false, ending == .killed(signal: SIGKILL) {
            tally.killed = 1
        } else if ending != .exited(code: 0) {
            tally.faults.append("it was stopped, and has \(ending)")
        }
    }

    /// Ends the daemon by a signal or a kill.
    private func end(_ daemon: DaemonProcess) throws {
        let isKilled = kind?.killsAfterErrors ?? false || number.isMultiple(of: 2)
        _ = try isKilled ? daemon.kill() : daemon.terminate()
        watchClient.drain()
    }

    /// Notes that the daemon has ended by itself.
    private func noteEnd(of daemon: DaemonProcess) throws {
        let ending = try daemon.process.wait()
        try changeClient.drain()
        watchClient.drain()
        if injection.failed > 0 { tally.reached = 1 }
        tally.killed = 1
        guard kind?.kills ?? false, ending == .killed(signal: SIGKILL) else {
            return tally.faults.append("the daemon has ended: \(ending)\n\(daemon.standardError)")
        }
    }

    /// Makes calls until a change is stored: a store that could not be opened is tried again after a second.
    private func awaitStorage(of daemon: DaemonProcess) throws {
        let change = Change.start(Start(key: "last", durationUSec: 3_600_000_000, ifRunning: .restart, label: "Last"))
        while try !ask(change) {
            let follower = try Follower(of: daemon, Watch(tick: .zero, heartbeat: .microseconds(1_000_000)))
            // If the store is open by then, the watch is over instead.
            _ = try? follower.events(through: .heartbeat)
        }
    }

    /// The daemon has closed the connection.
    private struct Gone: Error {}

    private enum TimedOut: Error {
        case answer
    }
}
