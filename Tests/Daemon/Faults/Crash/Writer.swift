import IPC
import TestSupport

/// A client that changes countdowns of its own, one after the other, as fast as it is answered.
final class Writer {
    private let name: String
    /// The countdowns under the last key are started with forget.
    private let keys: [String]
    private var dice: SeededGenerator
    private let changeClient = ChangeClient()
    private var calls = 0

    var ledger: Ledger { changeClient.ledger }
    var counts: Counts { changeClient.counts }
    var facts: Facts { changeClient.facts }

    init(name: String, keys: Int, seed: UInt64) {
        self.name = name
        self.keys = (0..<keys).map { "\(name)/\($0)" }
        dice = SeededGenerator(seed: seed)
    }

    /// For poll(2); nil without a connection.
    var descriptor: Int32? { changeClient.descriptor }

    /// Connects to a daemon that has just been started, and sends the first change.
    func connect(to path: String) throws {
        try changeClient.connect(to: path)
        changeClient.ask(nextChange())
    }

    /// Receives answers that have arrived and sends the next change; false if the connection was closed.
    func proceed() throws -> Bool {
        while try changeClient.takeAnswer(until: .passed) {
            guard changeClient.descriptor != nil else { return false }
            changeClient.ask(nextChange())
        }
        return changeClient.descriptor != nil
    }

    /// Receives an answer that the daemon may have sent before it ended.
    func drain() throws {
        try changeClient.drain()
    }

    /// Checks the countdowns under its keys against its ledger.
    func inspect(_ found: [String: Countdown], sentUSec: Int64, receivedUSec: Int64) {
        changeClient.inspect(found, under: keys, sentUSec: sentUSec, receivedUSec: receivedUSec)
    }

    // MARK: Calls

    private func nextChange() -> Change {
        let key = keys[Int.random(in: keys.indices, using: &dice)]
        let revision = Int.random(in: 0..<8, using: &dice) == 0 ? changeClient.ledger.known(key)?.revision ?? 1 : nil
        switch Int.random(in: 0..<100, using: &dice) {
        case ..<50: return .start(start(key))
        case ..<58: return .cancel(Cancel(key: key, ifRevision: revision))
        case ..<66: return .finish(Finish(key: key, ifRevision: revision))
        case ..<77: return .pause(Pause(key: key, ifRevision: revision))
        case ..<88: return .resume(Resume(key: key, ifRevision: revision))
        case ..<98: return .adjust(Adjust(key: key, byUSec: .random(in: -50_000...200_000, using: &dice)))
        default: return .adjust(Adjust(key: key, deadlineUSec: Microseconds.now + lengthUSec() + 3_600_000_000))
        }
    }

    private func start(_ key: String) -> Start {
        calls += 1
        let isWall = Int.random(in: 0..<8, using: &dice) == 0
        // A start that waits would keep the answers of this one connection back.
        let ifRunning = IfRunning.allCases.filter { $0 != .wait }.randomElement(using: &dice) ?? .attach
        return Start(
            key: key,
            durationUSec: isWall ? nil : lengthUSec(),
            deadlineUSec: isWall && ifRunning != .extend ? Microseconds.now + lengthUSec() + 20_000 : nil,
            ifRunning: ifRunning,
            label: "\(name) \(calls)",
            metadata: Bool.random(using: &dice) ? ["number": "\(calls)"] : nil,
            forget: key == keys.last
        )
    }

    /// The deadline is soon enough to pass between two calls or while no daemon runs, or far away.
    private func lengthUSec() -> Int64 {
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: .random(in: 1...20_000, using: &dice)
        case 1: .random(in: 20_000...400_000, using: &dice)
        default: 3_600_000_000
        }
    }
}
