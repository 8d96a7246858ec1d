import Backend
import NIOCore
import RESP
import System

/// Makes proposals in the engine: the proposals of one iteration of the loop are sent together, up to 64 in a call of the
/// script. If replicas have to acknowledge changes, WAIT follows them and holds back all that is sent behind it, so further
/// changes are kept until it is over, and sent together then. It is confined to the loop.
final class Proposer: @unchecked Sendable {
    /// The proposals of a call of `Propose`, which are answered together.
    private struct Request {
        let proposals: [Propose.Proposal]
        /// On the boot clock.
        let arrival: Int64
        let completion: ([Propose.Answer]) -> Void

        var isConfirmation: Bool { proposals.allSatisfy { $0.record == nil } }
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
        func failures(_ reason: String, isMadeMaybe: Bool) -> [Propose.Answer] {
            proposals.map { proposal in
                isMadeMaybe && proposal.record != nil ? .unknown(reason: reason) : .unreachable(reason: reason)
            }
        }
    }

    /// The batches that one WAIT is for.
    private final class Wait {
        var made: [(batch: Batch, answers: [Propose.Answer])]
        var isOver = false

        init(made: [(batch: Batch, answers: [Propose.Answer])] = []) { self.made = made }
    }

    static let script = String(decoding: PackageResources.propose_lua, as: UTF8.self)

    /// For how many milliseconds after its arrival a change waits for its acknowledgements. The daemon gives up after 2 s.
    private static let acknowledgementTime: Int64 = 1_800

    private unowned let bridge: Bridge
    /// The requests of this iteration of the loop.
    private var arrived: [Request] = []
    /// The changes that are kept until the replicas have acknowledged the earlier ones.
    private var kept: [Request] = []
    /// The batches, and the calls of WAIT, that are under way for changes that need acknowledgements.
    private var unsettled = 0
    /// The batches under way that are answered without waiting for acknowledgements.
    private var unanswered = 0

    init(of bridge: Bridge) { self.bridge = bridge }

    /// Whether the engine is about to answer changes. Acknowledgements are not awaited.
    var isAwaitingAnswers: Bool { unanswered > 0 }

    /// Makes the proposals of a call. The completion gets an answer for each, on the loop.
    func propose(_ proposals: [Propose.Proposal], completion: @escaping ([Propose.Answer]) -> Void) {
        guard !proposals.isEmpty else { return completion([]) }
        if arrived.isEmpty { bridge.loop.execute { self.flush() } }
        arrived.append(Request(proposals: proposals, arrival: BootClock.now, completion: completion))
    }

    private func flush() {
        let requests = kept + arrived
        (kept, arrived) = ([], [])
        guard let session = bridge.session else {
            let batch = Batch(requests: requests)
            return batch.answer(batch.failures(bridge.failure, isMadeMaybe: false))
        }
        // Without acknowledgements nothing holds back the confirmations, and one call of the script is cheaper than two.
        guard bridge.url.acknowledgements > 0 else {
            for batch in Self.batches(requests) {
                unanswered += 1
                run(batch, on: session.changes, session) { answers in
                    self.unanswered -= 1
                    batch.answer(answers)
                    self.bridge.deliverMessages()
                }
            }
            return
        }
        for batch in Self.batches(requests.filter(\.isConfirmation)) {
            run(batch, on: session.queries, session) { batch.answer($0) }
        }
        let changes = requests.filter { !$0.isConfirmation }
        if unsettled > 0 { kept = changes } else { make(changes, session) }
    }

    // MARK: Acknowledgements

    /// Makes changes that replicas have to acknowledge.
    private func make(_ changes: [Request], _ session: EngineSession) {
        guard let earliest = changes.map(\.arrival).min() else { return }
        let wait = Wait()
        for batch in Self.batches(changes) {
            unsettled += 1
            run(batch, on: session.changes, session) { answers in
                if !Self.needAcknowledgements(answers, batch.proposals) {
                    batch.answer(answers)
                } else if wait.isOver {
                    // The script had to be sent again, behind WAIT.
                    self.begin(Wait(made: [(batch, answers)]), since: earliest, session)
                } else {
                    wait.made.append((batch, answers))
                }
                self.settle()
            }
        }
        begin(wait, since: earliest, session)
    }

    /// Sends WAIT, and answers the changes when enough replicas have acknowledged them or the time is up.
    private func begin(_ wait: Wait, since arrival: Int64, _ session: EngineSession) {
        let demanded = bridge.url.acknowledgements
        let rest = max(1, Self.acknowledgementTime - (BootClock.now - arrival) / 1_000)
        unsettled += 1
        session.changes.send(["WAIT", "\(demanded)", "\(rest)"]) { reply in
            wait.isOver = true
            let number = (try? reply.get())?.number
            let count = number ?? 0
            if let number, !wait.made.isEmpty { self.bridge.note(acknowledgements: number) }
            for (batch, answers) in wait.made {
                batch.answer(count >= demanded ? answers : Self.unacknowledged(answers, batch.proposals))
            }
            self.settle()
        }
    }

    private func settle() {
        unsettled -= 1
        if unsettled == 0, !kept.isEmpty { bridge.loop.execute { self.flush() } }
    }

    /// Whether any of the proposals has made a change.
    private static func needAcknowledgements(_ answers: [Propose.Answer], _ proposals: [Propose.Proposal]) -> Bool {
        unacknowledged(answers, proposals) != answers
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
        var words = ["5", keys.now, keys.due, keys.version, keys.log, keys.origin, "\(bridge.settings.log)"]
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
        case .failure(let failure): completion(batch.failures(failure.description, isMadeMaybe: true))
        case .success(.error(let words)):
            let failure = EngineFailure(reply: words, to: "EVALSHA", of: bridge.url)
            completion(batch.failures(failure.description, isMadeMaybe: !EngineFailure.isEarly(words)))
            bridge.note(refusal: words, of: "EVALSHA")
        case .success(let value):
            guard let replies = replies(in: value, to: batch, sent: sent) else {
                let failure = EngineFailure(unexpectedReplyTo: "EVALSHA", of: bridge.url)
                completion(batch.failures(failure.description, isMadeMaybe: true))
                return bridge.endSession(failure)
            }
            // First the answers, because a refusal can end the session, which fails all that is unanswered.
            completion(replies.map(\.answer))
            if let refusal = replies.compactMap(\.refusal).last {
                bridge.note(refusal: refusal.words, of: refusal.command)
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
        let replies = zip(elements.dropFirst(), batch.proposals).compactMap { Reply($0, to: $1, of: bridge.url) }
        return replies.count == batch.count ? replies : nil
    }

    /// The script's reply to a proposal.
    private struct Reply {
        let answer: Propose.Answer
        /// If the engine has refused the change, its words, and the command that it has refused.
        let refusal: (words: String, command: String)?

        var isWon: Bool {
            guard case .won = answer else { return false }
            return true
        }

        init?(_ value: RESPValue, to proposal: Propose.Proposal, of url: BackendURL) {
            guard let parts = value.elements, let outcome = parts.first?.text else { return nil }
            let detail = parts.count > 1 ? parts[1].text ?? "not UTF-8" : ""
            let refusal = (words: detail, command: parts.count > 2 ? parts[2].text?.beginning(40) ?? "" : "")
            let isRefused = outcome == "failed" || outcome == "unknown"
            self.refusal = isRefused ? refusal : nil
            switch outcome {
            case "won":
                let version = Int64(detail).flatMap { $0 >= 0 ? $0 : nil }
                // Only the confirmation that a key has no record has no version.
                guard version != nil || detail.isEmpty && proposal.record == nil else { return nil }
                answer = .won(version: version)
            // A record that this bridge cannot read is passed on, so that the daemon says so.
            case "conflict":
                let held = Array(detail.utf8)[...]
                answer = .conflict(held.isEmpty ? nil : Propose.StoredRecord(held) ?? .init(unreadable: detail))
            case "early": answer = .early
            case "late": answer = .late
            default:
                guard isRefused else { return nil }
                let reason = EngineFailure(reply: refusal.words, to: refusal.command, of: url).description
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
