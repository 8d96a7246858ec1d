import FleetWire
import NIOCore
import RESP
import System

/// Makes proposals in the engine: the proposals of one iteration of the loop are sent together, up to 64 in a call of the
/// script. If replicas must acknowledge changes, WAIT follows them and holds back all that is sent after it, so further
/// changes are kept until it is over, and sent together then. With sentinels, every replica must acknowledge a change that
/// could become the primary, because a replica that does not hear of the failover acknowledges changes that it loses.
@BridgeLoop
final class Proposer {
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

    /// The batches that are acknowledged together.
    private final class Wait {
        var made: [(batch: Batch, answers: [Propose.Answer])]
        /// Where the changes end in the stream to the replicas; nil if it is not known yet.
        var end: Int64?

        init(made: [(batch: Batch, answers: [Propose.Answer])] = []) { self.made = made }
    }

    /// For how many milliseconds after its arrival a change waits for its acknowledgements. The daemon gives up after 2 s.
    private static let acknowledgementTime: Int64 = 1_800
    /// After how many milliseconds of waiting the replicas are looked at again.
    private static let waitTime: Int64 = 100
    private static let replicationQuery: RESPCommand = ["INFO", "replication"]

    private let engine: Supervisor
    private let time: EngineTime
    /// Is called after the answers to changes that need no acknowledgements.
    var onAnswers: () -> Void = {}
    /// The requests of this iteration of the loop.
    private var arrived: [Request] = []
    /// The changes that are kept until the replicas have acknowledged the earlier ones.
    private var kept: [Request] = []
    /// The batches, and the calls of WAIT, that are under way for changes that need acknowledgements.
    private var unsettled = 0
    /// How many replicas acknowledge changes at present.
    private var acknowledging = 0
    /// A replica that can become the primary, and was not connected to it when it was looked at last.
    private var absent: ServerAddress?
    /// The batches under way that are answered without waiting for acknowledgements.
    private var unanswered = 0

    init(of engine: Supervisor, _ time: EngineTime) { (self.engine, self.time) = (engine, time) }

    /// Whether the engine is about to answer changes. Acknowledgements are not awaited.
    var isAwaitingAnswers: Bool { unanswered > 0 }

    /// Makes the proposals of a call. The completion gets an answer for each, on the loop.
    func propose(_ proposals: [Propose.Proposal], completion: @escaping ([Propose.Answer]) -> Void) {
        guard !proposals.isEmpty else { return completion([]) }
        if arrived.isEmpty { BridgeLoop.runSoon { self.flush() } }
        arrived.append(Request(proposals: proposals, arrival: BootClock.now, completion: completion))
    }

    private func flush() {
        let requests = kept + arrived
        (kept, arrived) = ([], [])
        guard let session = engine.session else {
            let batch = Batch(requests: requests)
            return batch.answer(batch.failures(engine.failure, isMadeMaybe: false))
        }
        // Without acknowledgements nothing holds back the confirmations, and one call of the script is cheaper than two.
        guard engine.url.acknowledgements > 0 else {
            for batch in Self.batches(requests) {
                unanswered += 1
                run(batch, on: session.changes, session) { answers in
                    self.unanswered -= 1
                    batch.answer(answers)
                    self.onAnswers()
                }
            }
            return
        }
        for batch in Self.batches(requests.filter(\.isConfirmation)) {
            run(batch, on: session.queries, session) { batch.answer($0) }
        }
        let changes = requests.filter { !$0.isConfirmation }
        if unsettled > 0 {
            kept = changes
        } else if absent != nil, !changes.isEmpty {
            makeIfConnected(changes, session)
        } else {
            make(changes, session)
        }
    }

    // MARK: Acknowledgements

    /// Makes changes that replicas must acknowledge.
    private func make(_ changes: [Request], _ session: EngineSession) {
        guard let earliest = changes.map(\.arrival).min() else { return }
        let wait = Wait()
        for batch in Self.batches(changes) {
            unsettled += 1
            run(batch, on: session.changes, session) { answers in
                if !Self.needAcknowledgements(answers, batch.proposals) {
                    batch.answer(answers)
                } else if wait.end != nil {
                    // The script had to be sent again, after WAIT.
                    self.begin(Wait(made: [(batch, answers)]), since: earliest, session)
                } else {
                    wait.made.append((batch, answers))
                }
                self.settle()
            }
        }
        begin(wait, since: earliest, session)
    }

    /// Finds out whether a replica that can become the primary is not connected to it, before the first change needs it.
    func begin(_ session: EngineSession) {
        (absent, acknowledging) = (nil, 0)
        if session.epoch != nil, engine.url.acknowledgements > 0 { makeIfConnected([], session) }
    }

    /// Makes changes, unless a replica that can become the primary is still not connected to it: then it may be the primary.
    private func makeIfConnected(_ changes: [Request], _ session: EngineSession) {
        unsettled += 1
        session.changes.send(Self.replicationQuery) { reply in
            let replicas = ReplicationInfo(reply)?.replicas(at: 0) ?? []
            self.engine.primary.note(acknowledgementsOf: [], connected: replicas)
            self.engine.primary.candidate(besides: replicas, of: session) { candidate in
                self.absent = candidate
                if let candidate, session.changes.end == nil {
                    let sentence = """
                        \(candidate) can become the primary, and is not connected to \(session.url.address): changes are made again \
                        when it is connected, or when the sentinels find it down
                        """
                    self.engine.note(.unacknowledged, sentence)
                    let batch = Batch(requests: changes)
                    batch.answer(batch.failures(sentence, isMadeMaybe: false))
                } else {
                    self.engine.note(.unacknowledged, nil)
                    self.kept = changes + self.kept
                }
                self.settle()
            }
        }
    }

    /// Waits until the changes are acknowledged or the time is up, and answers them.
    private func begin(_ wait: Wait, since arrival: Int64, _ session: EngineSession) {
        unsettled += 1
        session.changes.send(Self.replicationQuery) { wait.end = ReplicationInfo($0)?.end ?? .max }
        awaitAcknowledgements(wait, since: arrival, session)
    }

    private func awaitAcknowledgements(_ wait: Wait, since arrival: Int64, _ session: EngineSession) {
        let demanded = engine.url.acknowledgements
        let rest = Self.acknowledgementTime - (BootClock.now - arrival) / 1_000
        let time = max(1, min(rest, Self.waitTime))
        session.changes.send(["WAIT", "\(max(demanded, acknowledging))", "\(time)"]) { _ in }
        session.changes.send(Self.replicationQuery) { reply in
            guard !wait.made.isEmpty, let info = ReplicationInfo(reply) else {
                return self.finish(wait, isAcknowledged: false)
            }
            let replicas = info.replicas(at: wait.end ?? .max)
            self.engine.primary.note(acknowledgementsOf: replicas, connected: info.replicas(at: 0))
            self.engine.primary.candidate(besides: replicas, of: session) { candidate in
                let isAcknowledged = replicas.count >= demanded && candidate == nil
                self.acknowledging = replicas.count + (isAcknowledged ? 0 : 1)
                guard isAcknowledged || rest <= Self.waitTime || session.changes.end != nil else {
                    return self.awaitAcknowledgements(wait, since: arrival, session)
                }
                self.absent = candidate.flatMap { info.acknowledged[$0] == nil ? $0 : nil }
                self.note(acknowledgements: replicas.count, lacking: candidate)
                self.finish(wait, isAcknowledged: isAcknowledged)
            }
        }
    }

    /// Logs whether enough replicas acknowledge changes in time.
    private func note(acknowledgements count: Int, lacking candidate: ServerAddress?) {
        let url = engine.url
        guard count < url.acknowledgements || candidate != nil else {
            engine.note(.unacknowledged, nil)
            return engine.log.leave(.unacknowledged, "the replicas of \(url.address) acknowledge changes again")
        }
        let need = candidate.map { "\($0) can become the primary" } ?? "acks=\(url.acknowledgements) demands more"
        let sentence = "\(count) replicas of \(url.address) acknowledge changes in time, and \(need): they may be lost"
        engine.log.enter(.unacknowledged, .error, sentence, isLoggedAgain: false)
        engine.note(.unacknowledged, sentence)
    }

    private func finish(_ wait: Wait, isAcknowledged: Bool) {
        for (batch, answers) in wait.made {
            batch.answer(isAcknowledged ? answers : Self.unacknowledged(answers, batch.proposals))
        }
        settle()
    }

    private func settle() {
        unsettled -= 1
        if unsettled == 0, !kept.isEmpty { BridgeLoop.runSoon { self.flush() } }
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
                connection.send(RESPCommand(["EVAL", EngineSession.proposalScript] + arguments)) {
                    self.finish(batch, $0, sent: sent, completion)
                }
            } else {
                self.finish(batch, reply, sent: sent, completion)
            }
        }
    }

    private func arguments(of batch: Batch) -> [String] {
        let keys = engine.keys
        var words = ["5", keys.now, keys.due, keys.version, keys.log, keys.origin, "\(engine.settings.log)"]
        for proposal in batch.proposals {
            words.append(proposal.key)
            words.append(proposal.expected)
            words.append("\(proposal.notBeforeUSec)")
            words.append("\(proposal.notAfterUSec)")
            words.append(proposal.dueUSec.map { "\($0)" } ?? "")
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
            let failure = EngineFailure(reply: words, to: "EVALSHA", of: engine.url)
            completion(batch.failures(failure.description, isMadeMaybe: !EngineFailure.isEarly(words)))
            engine.note(refusal: words, of: "EVALSHA")
        case .success(let value):
            guard let replies = replies(in: value, to: batch, sent: sent) else {
                let failure = EngineFailure(unexpectedReplyTo: "EVALSHA", of: engine.url)
                completion(batch.failures(failure.description, isMadeMaybe: true))
                return engine.endSession(failure)
            }
            // First the answers, because a refusal can end the session, which fails all that is unanswered.
            completion(replies.map(\.answer))
            if let refusal = replies.compactMap(\.refusal).last {
                engine.note(refusal: refusal.words, of: refusal.command)
            } else if zip(replies, batch.proposals).contains(where: { $0.isWon && $1.record != nil }) {
                engine.noteAcceptance()
            }
        }
    }

    /// The script's replies to the proposals of a batch; nil if the script cannot have returned the value.
    private func replies(in value: RESPValue, to batch: Batch, sent: Int64) -> [Reply]? {
        guard let elements = value.elements, let now = elements.first?.number,
            (0..<EngineSession.latestTime).contains(now),
            elements.count == batch.count + 1
        else { return nil }
        time.take(EngineSession.TimeSample(engine: now, sent: sent, received: BootClock.now))
        let replies = zip(elements.dropFirst(), batch.proposals).compactMap { Reply($0, to: $1, of: engine.url) }
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

        init?(_ value: RESPValue, to proposal: Propose.Proposal, of url: EngineURL) {
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
            // A record that this bridge cannot read is passed on, so that the daemon reports it.
            case "conflict":
                guard !detail.isEmpty else {
                    answer = .noRecord
                    break
                }
                let entry = Follow.Entry(key: Array(proposal.key.utf8)[...], held: Array(detail.utf8)[...])
                let unreadable = RecordText(utf8: Array(detail.beginning(1_000).utf8))
                answer = .conflict(
                    version: entry?.version ?? 0,
                    id: entry?.id ?? "?",
                    record: entry?.record ?? unreadable
                )
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
