import Glibc
import IPC
import TestSupport

/// Daemons that are killed at random moments, one after the other upon the same state, while clients change and follow
/// countdowns as fast as they can.
final class CrashRun {
    private let directory: TemporaryDirectory
    private var dice: SeededGenerator
    private let writers: [Writer]
    private let witnesses: [Witness]
    private var counts = Counts()

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory()
        dice = SeededGenerator(seed: seed)
        writers = (0..<6).map { Writer(name: "writer \($0)", keys: 7, seed: seed &+ UInt64($0) &+ 1) }
        witnesses = (0..<3).map { _ in Witness() }
    }

    /// Goes on until so many daemons were killed; then all that was seen is held against what there is.
    func run(kills: Int) throws -> Report {
        while counts.kills < kills {
            if Int.random(in: 0..<5, using: &dice) == 0 { try killOneThatStarts() }
            try live(round: counts.kills)
        }
        return try conclude()
    }

    // MARK: The life of a daemon

    private var durability: [String] {
        ["--durability", counts.kills.isMultiple(of: 2) ? "process" : "power-loss"]
    }

    private func killOneThatStarts() throws {
        let daemon = try DaemonProcess(starting: [], in: directory, arguments: durability)
        usleep(.random(in: 0..<50_000, using: &dice))
        guard try daemon.kill() == .killed(signal: SIGKILL) else { return }
        counts.kills += 1
        counts.killsWhileStarting += 1
    }

    private func live(round: Int) throws {
        let daemon = try DaemonProcess(in: directory, arguments: durability)
        try inspect(daemon)
        for writer in writers { try writer.connect(to: daemon.socketPath) }
        // The last one is away for some time now and then.
        for witness in witnesses.dropLast(round.isMultiple(of: 3) ? 0 : 1) {
            try witness.connect(to: daemon.socketPath)
        }
        try serve(calls: .random(in: 0..<600, using: &dice), by: daemon)
        usleep(.random(in: 0..<400, using: &dice))
        try end(daemon)
        for writer in writers { try writer.drain() }
        for witness in witnesses { witness.drain() }
    }

    private func end(_ daemon: DaemonProcess) throws {
        if Int.random(in: 0..<12, using: &dice) == 0 {
            counts.stops += 1
            try daemon.terminate()
        } else {
            counts.kills += 1
            try daemon.kill()
        }
    }

    /// Lets all go on until so many calls more were answered.
    private func serve(calls: Int, by daemon: DaemonProcess) throws {
        let target = answered + calls
        while answered < target {
            let descriptors = writers.map(\.descriptor) + witnesses.map(\.descriptor)
            var entries = descriptors.map { pollfd(fd: $0 ?? -1, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), 30_000) > 0 else { throw SystemFailure("poll") }
            for (index, entry) in entries.enumerated() where entry.revents != 0 {
                let isThere =
                    index < writers.count
                    ? try writers[index].proceed() : witnesses[index - writers.count].proceed()
                guard isThere else { throw EndedEarly(log: daemon.standardError, faults: connectionFaults) }
            }
        }
    }

    private var connectionFaults: [String] { writers.flatMap(\.counts.oddEnds) + witnesses.flatMap(\.faults) }
    private var answered: Int { writers.reduce(0) { $0 + $1.counts.answered } }

    // MARK: What there is

    /// Holds what the daemon knows against what the writers know.
    @discardableResult
    private func inspect(_ daemon: DaemonProcess) throws -> [String: Countdown] {
        let sentUSec = Microseconds.now
        let found = try Listed.all(at: daemon.socketPath)
        let receivedUSec = Microseconds.now
        for writer in writers { writer.inspect(found, sentUSec: sentUSec, receivedUSec: receivedUSec) }
        return found
    }

    private func conclude() throws -> Report {
        let daemon = try DaemonProcess(in: directory)
        try awaitEndings(inspect(daemon), of: daemon)
        for witness in witnesses {
            try witness.connect(to: daemon.socketPath)
            witness.sync()
        }
        let found = try inspect(daemon)
        try daemon.terminate()
        return Report(
            writers: writers,
            witnesses: witnesses,
            found: found,
            stored: try StoredEndings.read(daemon.stateDirectory),
            counts: counts,
            log: daemon.standardError
        )
    }

    /// Waits for what ends soon, so that nothing does while it is looked at.
    private func awaitEndings(_ found: [String: Countdown], of daemon: DaemonProcess) throws {
        var client = try Client(connectingTo: daemon.socketPath)
        for countdown in found.values where countdown.state == .running && countdown.remainingUSec < 5_000_000 {
            do throws(ClientError) {
                _ = try client.call(Wait(key: countdown.key))
            } catch {
                // One that is to be forgotten has ended before.
                guard case .countdown(.noSuchCountdown) = error else { throw error }
            }
        }
    }

    /// The daemon has hung up though nobody has killed it.
    struct EndedEarly: Error {
        let log: String
        let faults: [String]
    }
}
