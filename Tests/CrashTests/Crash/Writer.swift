import IPC
import TestSupport

/// A client that changes countdowns of its own, one after the other as fast as it is answered.
final class Writer {
    private let name: String
    /// Countdowns under the last one are to be forgotten.
    private let keys: [String]
    private var dice: SeededGenerator
    private var client: Client?
    /// What was asked last and is not answered.
    private var asked: Change?
    private var sentUSec: Int64 = 0
    private var calls = 0

    private(set) var ledger = Ledger()
    private(set) var counts = Counts()
    /// What was told of each revision, to be told by nobody in another way.
    var facts = Facts()

    init(name: String, keys: Int, seed: UInt64) {
        self.name = name
        self.keys = (0..<keys).map { "\(name)/\($0)" }
        dice = SeededGenerator(seed: seed)
    }

    /// For poll(2); nil where there is no connection.
    var descriptor: Int32? { client?.descriptor }

    /// Connects to a daemon that has just been started, and sends the first change.
    func connect(to path: String) throws {
        client = try Client(connectingTo: path)
        try ask()
    }

    /// Takes what was answered, and asks for the next; false where the connection has broken off.
    func proceed() throws -> Bool {
        while try takeAnswer(until: .passed) {
            guard client != nil else { return false }
            try ask()
        }
        return client != nil
    }

    /// Takes the answer that may have been sent before the daemon ended.
    func drain() throws {
        if client != nil { _ = try takeAnswer(until: nil) }
        if client != nil { _ = try takeAnswer(until: nil) }
    }

    /// Holds what there is under its keys now against what it knows.
    func inspect(_ found: [String: Countdown], sentUSec: Int64, receivedUSec: Int64) {
        for key in keys { ledger.find(found[key], under: key, sentUSec: sentUSec, receivedUSec: receivedUSec) }
    }

    // MARK: Asking

    private func ask() throws {
        let change = nextChange()
        asked = change
        sentUSec = Microseconds.now
        ledger.ask(change)
        do throws(ClientError) {
            switch change {
            case .start(let method): try client?.start(method)
            case .cancel(let method): try client?.start(method)
            case .finish(let method): try client?.start(method)
            case .pause(let method): try client?.start(method)
            case .resume(let method): try client?.start(method)
            case .adjust(let method): try client?.start(method)
            }
        } catch {
            breakOff(error)
        }
    }

    private func nextChange() -> Change {
        let key = keys[Int.random(in: keys.indices, using: &dice)]
        let revision = Int.random(in: 0..<8, using: &dice) == 0 ? ledger.known(key)?.revision ?? 1 : nil
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

    // MARK: Being answered

    /// - Returns: whether the call is over, by an answer or because the connection has broken off.
    private func takeAnswer(until deadline: Client.Deadline?) throws -> Bool {
        guard let asked else { return false }
        do throws(ClientError) {
            switch asked {
            case .start: return note(try client?.nextReply(to: Start.self, until: deadline)?.reply)
            case .cancel: return note(try client?.nextReply(to: Cancel.self, until: deadline)?.reply)
            case .finish: return note(try client?.nextReply(to: Finish.self, until: deadline)?.reply)
            case .pause: return note(try client?.nextReply(to: Pause.self, until: deadline)?.reply)
            case .resume: return note(try client?.nextReply(to: Resume.self, until: deadline)?.reply)
            case .adjust: return note(try client?.nextReply(to: Adjust.self, until: deadline)?.reply)
            }
        } catch .countdown(let error) {
            try refuse(asked, error)
            return true
        } catch .service(.invalidParameter("deadlineUSec")) where hasPassed(asked) {
            note(refused: asked)
            return true
        } catch {
            breakOff(error)
            return true
        }
    }

    private func note(_ reply: CountdownReply?) -> Bool {
        guard let reply else { return false }
        return note(reply.countdown, nil)
    }

    private func note(_ reply: Start.Reply?) -> Bool {
        guard let reply else { return false }
        return note(reply.countdown, reply.outcome)
    }

    private func note(_ countdown: Countdown, _ outcome: Outcome?) -> Bool {
        asked = nil
        counts.answered += 1
        if outcome != .attached { counts.changes += 1 }
        facts.note(countdown)
        ledger.answer(countdown, outcome: outcome)
        return true
    }

    /// Whether a deadline that was ahead when it was asked for has passed on the way to the daemon.
    private func hasPassed(_ change: Change) -> Bool {
        guard case .start(let start) = change, let deadline = start.deadlineUSec else { return false }
        return deadline <= Microseconds.now
    }

    private func note(refused change: Change) {
        asked = nil
        counts.answered += 1
        counts.refused += 1
        ledger.refuse(change.key)
    }

    private func refuse(_ change: Change, _ error: CountdownError) throws {
        note(refused: change)
        switch error {
        case .noSuchCountdown: find(nil, change.key)
        case .alreadyRunning(let countdown), .revisionMismatch(let countdown), .wrongState(let countdown):
            facts.note(countdown)
            find(countdown, change.key)
        case .historyTrimmed, .limitReached, .storageFailed: throw error
        }
    }

    private func find(_ countdown: Countdown?, _ key: String) {
        ledger.find(countdown, under: key, sentUSec: sentUSec, receivedUSec: Microseconds.now)
    }

    private func breakOff(_ error: ClientError) {
        if asked != nil { counts.cutOff += 1 }
        asked = nil
        client = nil
        if error != .disconnected { counts.oddEnds.append("\(error)") }
    }
}
