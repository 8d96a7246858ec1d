import IPC
import TestSupport

/// What is there in the end.
extension FaultRun {
    /// Starts another daemon, of which nothing fails, and holds what it knows against what was told.
    func judge() throws {
        let daemon = try DaemonProcess(in: directory, arguments: scenario.arguments)
        let found = try inspect(daemon)
        try witness.connect(to: daemon.socketPath)
        witness.sync()
        try daemon.terminate()
        witness.drain()
        var facts = asker.facts
        facts.merge(witness.facts)
        let stored = try StoredEndings.read(daemon.stateDirectory)
        tally.faults += asker.ledger.faults + asker.counts.oddEnds + facts.faults
        tally.faults += witness.faults(found: found, stored: stored)
        let files = StateFiles(in: daemon.stateDirectory)
        tally.faults += files.faults(keeping: scenario.preparation.kept) + Said(daemon.standardError).faults
        tally.endings = witness.memory.endings.count
        if !tally.faults.isEmpty { tally.faults.append(daemon.standardError) }
    }

    /// Holds what the daemon knows against what the asker knows.
    @discardableResult
    func inspect(_ daemon: DaemonProcess) throws -> [String: Countdown] {
        let sentUSec = Microseconds.now
        let found = try Listed.all(at: daemon.socketPath)
        asker.inspect(found, under: asker.ledger.keys, sentUSec: sentUSec, receivedUSec: Microseconds.now)
        return found
    }
}
