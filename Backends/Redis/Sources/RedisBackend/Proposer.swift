import Backend
import NIOCore
import RESP
import System

/// Makes proposals in the engine: the proposals of one iteration of the loop are sent together, up to 64 in a call of the
/// script, and no call waits for the replies of earlier calls. It is confined to the loop.
final class Proposer: @unchecked Sendable {
    /// The proposals of a call of `Propose`, which are answered together.
    private struct Request {
        let proposals: [Propose.Proposal]
        let completion: ([Propose.Answer]) -> Void
    }

    /// The requests of one call of the script.
    private struct Batch {
        var requests: [Request] = []

        var count: Int { requests.reduce(0) { $0 + $1.proposals.count } }
        var proposals: [Propose.Proposal] { requests.flatMap(\.proposals) }

        func answer(_ answers: [Propose.Answer]) {
            var rest = answers[...]
            for request in requests {
                request.completion(Array(rest.prefix(request.proposals.count)))
                rest = rest.dropFirst(request.proposals.count)
            }
        }

        /// Answers for a connection that broke: a confirmation leaves no trace, but a change may have been made.
        func fail(_ reason: String, isMadeMaybe: Bool) {
            answer(
                proposals.map { proposal in
                    isMadeMaybe && proposal.record != nil ? .unknown(reason: reason) : .unreachable(reason: reason)
                }
            )
        }
    }

    /// The batches that one WAIT is for.
    private final class Wait {
        var made: [(batch: Batch, answers: [Propose.Answer])]
        var isOver = false

        init(made: [(batch: Batch, answers: [Propose.Answer])] = []) { self.made = made }
    }

    static let script = String(decoding: PackageResources.propose_lua, as: UTF8.self)

    /// How long replicas have to acknowledge a change. The daemon gives up after 2 s.
    private static let acknowledgementTime = "1800"

    private unowned let bridge: Bridge
    private var waiting: [Request] = []

    init(of bridge: Bridge) { self.bridge = bridge }

    /// Makes the proposals of a call. The completion gets an answer for each, on the loop.
    func propose(_ proposals: [Propose.Proposal], completion: @escaping ([Propose.Answer]) -> Void) {
        guard !proposals.isEmpty else { return completion([]) }
        if waiting.isEmpty { bridge.loop.execute { self.flush() } }
        waiting.append(Request(proposals: proposals, completion: completion))
    }

    private func flush() {
        let requests = waiting
        waiting = []
        guard let session = bridge.session else {
            return Batch(requests: requests).fail(bridge.failure, isMadeMaybe: false)
        }
        // Without acknowledgements nothing holds back the confirmations, and one call of the script is cheaper than two.
        let demanded = bridge.url.acknowledgements
        let confirms = demanded > 0 ? requests.filter { $0.proposals.allSatisfy { $0.record == nil } } : []
        let changes = demanded > 0 ? requests.filter { $0.proposals.contains { $0.record != nil } } : requests
        for batch in Self.batches(confirms) { run(batch, on: session.queries, session) { batch.answer($0) } }
        let wait = Wait()
        for batch in Self.batches(changes) {
            run(batch, on: session.changes, session) { answers in
                guard demanded > 0 else { return batch.answer(answers) }
                wait.made.append((batch, answers))
                // The script had to be sent again, behind WAIT.
                if wait.isOver { self.begin(Wait(made: [(batch, answers)]), session) }
            }
        }
        if demanded > 0, !changes.isEmpty { begin(wait, session) }
    }

    /// Sends WAIT, and answers the changes when enough replicas have acknowledged them or the time is up.
    private func begin(_ wait: Wait, _ session: EngineSession) {
        let demanded = bridge.url.acknowledgements
        session.changes.send(["WAIT", "\(demanded)", Self.acknowledgementTime]) { reply in
            wait.isOver = true
            let count = (try? reply.get())?.number ?? 0
            for (batch, answers) in wait.made {
                batch.answer(count >= demanded ? answers : Self.unacknowledged(answers, batch.proposals))
            }
        }
    }

    /// The answers if too few replicas have acknowledged the changes.
    private static func unacknowledged(
        _ answers: [Propose.Answer],
        _ proposals: [Propose.Proposal]
    ) -> [Propose.Answer] {
        zip(answers, proposals).map { answer, proposal in
            guard case .won(let version) = answer, proposal.record != nil else { return answer }
            return .unacknowledged(version: version)
        }
    }

    private static func batches(_ requests: [Request]) -> [Batch] {
        var batches: [Batch] = []
        for request in requests {
            if let last = batches.last, last.count + request.proposals.count <= BackendInterface.proposalsLimit {
                batches[batches.count - 1].requests.append(request)
            } else {
                batches.append(Batch(requests: [request]))
            }
        }
        return batches
    }

    // MARK: The script

    private func run(
        _ batch: Batch,
        on connection: EngineConnection,
        _ session: EngineSession,
        completion: @escaping ([Propose.Answer]) -> Void
    ) {
        let arguments = arguments(of: batch)
        let sent = BootClock.now
        connection.send(RESPCommand(["EVALSHA", session.script] + arguments)) { reply in
            // SCRIPT FLUSH, or an engine that was restarted: the whole script makes it known again.
            if case .success(.error(let words)) = reply, words.hasPrefix("NOSCRIPT") {
                let sent = BootClock.now
                connection.send(RESPCommand(["EVAL", Self.script] + arguments)) {
                    self.finish(batch, $0, sent: sent, completion)
                }
            } else {
                self.finish(batch, reply, sent: sent, completion)
            }
        }
    }

    private func arguments(of batch: Batch) -> [String] {
        let (shift, keys) = (bridge.clockShift, bridge.keys)
        var words = ["4", keys.now, keys.due, keys.version, keys.log, "\(bridge.settings.log)"]
        for proposal in batch.proposals {
            words.append(proposal.key)
            words.append(proposal.expected ?? "")
            words.append("\(proposal.notBeforeUSec.subtractingWithoutOverflow(shift))")
            words.append("\(proposal.notAfterUSec.subtractingWithoutOverflow(shift))")
            words.append(proposal.dueUSec.map { "\($0.subtractingWithoutOverflow(shift))" } ?? "")
            words.append(proposal.id)
            words.append(proposal.record.map { String(decoding: $0.utf8, as: UTF8.self) } ?? "")
        }
        return words
    }

    private func finish(
        _ batch: Batch,
        _ reply: Result<RESPValue, EngineFailure>,
        sent: Int64,
        _ completion: ([Propose.Answer]) -> Void
    ) {
        switch reply {
        case .failure(let failure): batch.fail(failure.description, isMadeMaybe: true)
        case .success(.error(let words)):
            let failure = EngineFailure(reply: words, to: "the script", of: bridge.url)
            batch.fail(failure.description, isMadeMaybe: !EngineFailure.isEarly(words))
            bridge.note(refusal: words, of: "the script")
        case .success(let value):
            guard let replies = replies(in: value, to: batch, sent: sent) else {
                let reason = "\(bridge.url.address) answers the script with something else than the script's reply"
                batch.fail(reason, isMadeMaybe: true)
                return bridge.endSession(EngineFailure(reason))
            }
            // First the answers, because a refusal can end the session, which fails all that is unanswered.
            completion(replies.map(\.answer))
            if let refusal = replies.compactMap(\.refusal).last {
                bridge.note(refusal: refusal, of: "the script")
            } else if zip(replies, batch.proposals).contains(where: { $0.isWon && $1.record != nil }) {
                bridge.noteAcceptance()
            }
        }
    }

    /// The script's replies to the proposals of a batch; nil if the value is not what the script returns.
    private func replies(in value: RESPValue, to batch: Batch, sent: Int64) -> [Reply]? {
        guard let elements = value.elements, let now = elements.first?.number,
            (0..<EngineSession.latestTime).contains(now),
            elements.count == batch.count + 1
        else { return nil }
        bridge.take(EngineSession.TimeSample(engine: now, sent: sent, received: BootClock.now))
        let replies = elements.dropFirst().compactMap { Reply($0, of: bridge.url) }
        return replies.count == batch.count ? replies : nil
    }

    /// The script's reply to a proposal.
    private struct Reply {
        let answer: Propose.Answer
        /// The engine's words if it has refused the change.
        let refusal: String?

        var isWon: Bool {
            guard case .won = answer else { return false }
            return true
        }

        init?(_ value: RESPValue, of url: BackendURL) {
            guard let parts = value.elements, let outcome = parts.first?.text else { return nil }
            let detail = parts.count > 1 ? parts[1].text ?? "" : ""
            let isRefused = outcome == "failed" || outcome == "unknown"
            refusal = isRefused ? detail : nil
            switch outcome {
            case "won": answer = .won(version: Int64(detail))
            // A record that this bridge cannot read is passed on, so that the daemon says so.
            case "conflict":
                answer = .conflict(detail.isEmpty ? nil : Propose.StoredRecord(detail) ?? .init(unreadable: detail))
            case "early": answer = .early
            case "late": answer = .late
            default:
                guard isRefused else { return nil }
                let reason = EngineFailure(reply: detail, to: "the script", of: url).description
                answer = outcome == "failed" ? .unreachable(reason: reason) : .unknown(reason: reason)
            }
        }
    }
}

extension Int64 {
    /// The difference, or the nearest number that fits.
    fileprivate func subtractingWithoutOverflow(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
