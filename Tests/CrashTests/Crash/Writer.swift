import IPC
import TestSupport

/// A client that changes countdowns of its own, one after the other as fast as it is answered.
final class Writer {
    private let name: String
    /// Countdowns under the last one are to be forgotten.
    private let keys: [String]
    private var dice: SeededGenerator
    private let asker = Asker()
    private var calls = 0

    var ledger: Ledger { asker.ledger }
    var counts: Counts { asker.counts }
    var facts: Facts { asker.facts }

    init(name: String, keys: Int, seed: UInt64) {
        self.name = name
        self.keys = (0..<keys).map { "\(name)/\($0)" }
        dice = SeededGenerator(seed: seed)
    }

    /// For poll(2); nil where there is no connection.
    var descriptor: Int32? { asker.descriptor }

    /// Connects to a daemon that has just been started, and sends the first change.
    func connect(to path: String) throws {
        try asker.connect(to: path)
        asker.ask(nextChange())
    }

    /// Takes what was answered, and asks for the next; false where the connection has broken off.
    func proceed() throws -> Bool {
        while try asker.takeAnswer(until: .passed) {
            guard asker.descriptor != nil else { return false }
            asker.ask(nextChange())
        }
        return asker.descriptor != nil
    }

    /// Takes the answer that may have been sent before the daemon ended.
    func drain() throws {
        try asker.drain()
    }

    /// Holds what there is under its keys now against what it knows.
    func inspect(_ found: [String: Countdown], sentUSec: Int64, receivedUSec: Int64) {
        asker.inspect(found, under: keys, sentUSec: sentUSec, receivedUSec: receivedUSec)
    }

    // MARK: Asking

    private func nextChange() -> Change {
        let key = keys[Int.random(in: keys.indices, using: &dice)]
        let revision = Int.random(in: 0..<8, using: &dice) == 0 ? asker.ledger.known(key)?.revision ?? 1 : nil
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
        let ifRunning = IfRunning.allCases.randomElement(using: &dice) ?? .attach
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

    /// Soon enough to come due between two calls, while no daemon is there, or not at all.
    private func lengthUSec() -> Int64 {
        switch Int.random(in: 0..<3, using: &dice) {
        case 0: .random(in: 1...20_000, using: &dice)
        case 1: .random(in: 20_000...400_000, using: &dice)
        default: 3_600_000_000
        }
    }
}
