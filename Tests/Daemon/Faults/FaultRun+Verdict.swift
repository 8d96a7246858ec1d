import IPC
import TestSupport

/// The state at the end of a run.
extension FaultRun {
    /// Starts another daemon without faults, and checks its countdowns against those that clients know.
    func judge() throws {
        let daemon = try DaemonProcess(in: directory, arguments: scenario.arguments)
        let found = try inspect(daemon)
        try watchClient.connect(to: daemon.socketPath)
        watchClient.sync()
        try daemon.terminate()
        watchClient.drain()
        var facts = changeClient.facts
        facts.merge(watchClient.facts)
        let files = StateFiles(in: daemon.stateDirectory)
        tally.faults += changeClient.ledger.faults + changeClient.oddEnds + facts.faults
        tally.faults += watchClient.faults(found: found, stored: try files.keptEnds())
        tally.faults += files.faults(keeping: scenario.preparation.kept) + Said(daemon.standardError).faults
        tally.endings = watchClient.memory.endings.count
        if !tally.faults.isEmpty { tally.faults.append(daemon.standardError) }
    }

    /// Checks the daemon's countdowns against the client's ledger.
    @discardableResult
    func inspect(_ daemon: DaemonProcess) throws -> [String: Countdown] {
        let sentUSec = Microseconds.now
        var client = try Client(at: daemon.socketPath)
        try client.start(List(match: ["*"], states: Countdown.State.allCases), more: true)
        var found: [String: Countdown] = [:]
        while let (reply, continues) = try client.nextReply(to: List.self) {
            for countdown in reply.countdowns { found[countdown.key] = countdown }
            guard continues else { break }
        }
        changeClient.inspect(found, under: changeClient.ledger.keys, sentUSec: sentUSec, receivedUSec: Microseconds.now)
        return found
    }
}
