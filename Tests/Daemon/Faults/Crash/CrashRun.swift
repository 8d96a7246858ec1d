import Glibc
import IPC
import TestSupport

/// Daemons that are killed at random moments, one after the other on the same state, while clients change and watch
/// countdowns as fast as they can.
final class CrashRun {
    private let directory: TemporaryDirectory
    private var dice: SeededGenerator
    private let writers: [Writer]
    private let watchClients: [WatchClient]
    private var counts = Counts()

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory()
        dice = SeededGenerator(seed: seed)
        writers = (0..<6).map { Writer(name: "writer \($0)", keys: 7, seed: seed &+ UInt64($0) &+ 1) }
        watchClients = (0..<3).map { _ in WatchClient() }
    }

    /// Continues until this many daemons were killed, and then compares everything that clients received with the
    /// daemon's state.
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
        // The last daemon is away for some time now and then.
        for watchClient in watchClients.dropLast(round.isMultiple(of: 3) ? 0 : 1) {
            try watchClient.connect(to: daemon.socketPath)
        }
        try serve(calls: .random(in: 0..<600, using: &dice), by: daemon)
        usleep(.random(in: 0..<400, using: &dice))
        try end(daemon)
        for writer in writers { try writer.drain() }
        for watchClient in watchClients { watchClient.drain() }
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

    /// Lets all clients continue until this many more calls were answered.
    private func serve(calls: Int, by daemon: DaemonProcess) throws {
        let target = answered + calls
        while answered < target {
            let descriptors = writers.map(\.descriptor) + watchClients.map(\.descriptor)
            var entries = descriptors.map { pollfd(fd: $0 ?? -1, events: Int16(POLLIN), revents: 0) }
            guard poll(&entries, nfds_t(entries.count), 30_000) > 0 else { throw SystemCallFailure("poll") }
            for (index, entry) in entries.enumerated() where entry.revents != 0 {
                let isThere =
                    index < writers.count
                    ? try writers[index].proceed() : watchClients[index - writers.count].proceed()
                guard isThere else { throw EndedEarly(log: daemon.standardError, faults: connectionFaults) }
            }
        }
    }

    private var connectionFaults: [String] { writers.flatMap(\.counts.oddEnds) + watchClients.flatMap(\.faults) }
    private var answered: Int { writers.reduce(0) { $0 + $1.counts.answered } }

    // MARK: Checks

    /// Checks the daemon's countdowns against the writers' ledgers.
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
        for watchClient in watchClients {
            try watchClient.connect(to: daemon.socketPath)
            watchClient.sync()
        }
        let found = try inspect(daemon)
        try daemon.terminate()
        return Report(
            writers: writers,
            watchClients: watchClients,
            found: found,
            stored: try StoredEndings.read(daemon.stateDirectory),
            counts: counts,
            log: daemon.standardError
        )
    }

    /// Waits for the countdowns that end soon, so that none ends during the check.
    private func awaitEndings(_ found: [String: Countdown], of daemon: DaemonProcess) throws {
        var client = try Client(connectingTo: daemon.socketPath)
        for countdown in found.values where countdown.state == .running && countdown.remainingUSec < 5_000_000 {
            do throws(ClientError) {
                _ = try client.call(Wait(key: countdown.key))
            } catch {
                // A countdown with forget has ended before.
                guard case .countdown(.noSuchCountdown) = error else { throw error }
            }
        }
    }

    /// The daemon closed the connection though the test did not kill it.
    struct EndedEarly: Error {
        let log: String
        let faults: [String]
    }
}
