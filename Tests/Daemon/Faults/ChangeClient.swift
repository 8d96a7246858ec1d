import IPC
import System
import TestSupport

/// A client that asks for one change after the other and checks every answer against its ledger.
final class ChangeClient {
    /// Whether the daemon may answer that a change could not be stored.
    private let mayFail: Bool
    private var client: Client?
    /// The last change that was asked for, until it is answered.
    private var asked: Change?
    private var sentUSec: Int64 = 0

    private(set) var ledger: Ledger
    /// How many changes were made, and how many could not be stored.
    private(set) var changes = 0
    private(set) var failed = 0
    /// Connections that broke for another reason than that the daemon closed them.
    private(set) var oddEnds: [String] = []
    /// The change of each revision, which no other answer or event may contradict.
    private(set) var facts = Facts()

    init(ledger: Ledger = Ledger(), mayFail: Bool = false) {
        self.ledger = ledger
        self.mayFail = mayFail
    }

    var isConnected: Bool { client != nil }

    func connect(to path: String) throws {
        client = try Client(at: path)
    }

    /// Sends a change without waiting for the answer.
    func ask(_ change: Change) {
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

    /// Makes a change and waits for the answer.
    func change(_ change: Change) throws {
        ask(change)
        _ = try takeAnswer(until: .after(microseconds: 60_000_000))
    }

    /// Receives an answer that the daemon may have sent before it ended.
    func drain() throws {
        if client != nil { _ = try takeAnswer(until: nil) }
        if client != nil { _ = try takeAnswer(until: nil) }
    }

    /// Checks the countdowns under these keys against the ledger.
    func inspect(_ found: [String: Countdown], under keys: [String], sentUSec: Int64, receivedUSec: Int64) {
        for key in keys { ledger.find(found[key], under: key, sentUSec: sentUSec, receivedUSec: receivedUSec) }
    }

    // MARK: Answers

    /// - Returns: whether the call is over, by an answer or because the connection was closed.
    func takeAnswer(until deadline: MonotonicDeadline?) throws -> Bool {
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

    private func note(_ countdown: Countdown, _ outcome: Countdown.Outcome?) -> Bool {
        asked = nil
        if outcome != .attached { changes += 1 }
        facts.note(countdown)
        ledger.answer(countdown, outcome: outcome)
        return true
    }

    /// Whether a deadline that was in the future when the call was made passed on the way to the daemon.
    private func hasPassed(_ change: Change) -> Bool {
        guard case .start(let start) = change, let deadline = start.deadlineUSec else { return false }
        return deadline <= Microseconds.now
    }

    private func note(refused change: Change, asNotStored: Bool = false) {
        asked = nil
        ledger.refuse(change.key, asNotStored: asNotStored)
    }

    private func refuse(_ change: Change, _ error: CountdownError) throws {
        note(refused: change, asNotStored: error.name == .storageFailed)
        switch error {
        case .noSuchCountdown: find(nil, change.key)
        case .alreadyRunning(let countdown, _), .revisionMismatch(let countdown), .wrongState(let countdown):
            facts.note(countdown)
            find(countdown, change.key)
        case .storageFailed where mayFail: failed += 1
        case .historyTrimmed, .limitReached, .storageFailed, .unreachable: throw error
        }
    }

    private func find(_ countdown: Countdown?, _ key: String) {
        ledger.find(countdown, under: key, sentUSec: sentUSec, receivedUSec: Microseconds.now)
    }

    private func breakOff(_ error: ClientError) {
        asked = nil
        client = nil
        if error != .disconnected { oddEnds.append("\(error)") }
    }
}
