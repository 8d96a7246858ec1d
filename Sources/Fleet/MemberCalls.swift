import CountdownCore

/// A client's call that has no result yet.
struct MemberCall: QueuedCall, Sendable {
    /// The number by which the caller knows it.
    let number: Int
    let request: Request
    /// When it gets a result in any case; nil for a start in the queue, which may wait as long as it likes.
    var expires: BootInstant?
    /// How often another host was first.
    var conflicts = 0
    /// The record that the engine has shown in the last conflict of this call: a decision on it needs no confirmation.
    var confirmed: ProposalID?
    /// Until when a call of a rate may wait for deadlines; nil until it must.
    var lastWait: WallInstant?

    /// The memory that it takes, roughly.
    var size: Int {
        guard case .start(let start) = request else { return 512 }
        return 512 + start.size
    }

    /// Whether it takes a token of a rate: it extends a countdown, within a bound.
    var takesToken: Bool {
        guard case .start(let start) = request else { return false }
        return start.ifLive == .extend && start.upTo != nil
    }
}

/// A proposal in flight, and the calls that it decides.
struct Step: Sendable {
    /// The decision on a call, which is its result if the proposal wins.
    enum Decision: Sendable {
        case change(Change.Kind)
        case attached(KeyedCountdown)
        case refused(Refusal)
        /// The record cannot be used.
        case unusable(RecordFault)

        /// The result of a call that changes nothing.
        ///
        /// - Parameter state: the countdown after a change that came before it in the same chain; nil if there was none.
        /// - Returns: nil if the decision is a change.
        func result(on state: KeyedCountdown?) -> CallResult? {
            switch self {
            case .change: nil
            case .attached(let countdown): .attached(state ?? countdown)
            case .refused(let refusal): .refused(state.map(refusal.about) ?? refusal)
            case .unusable(let fault): .notMade(fault.text)
            }
        }
    }

    var proposal: Proposal
    /// One call if the proposal is a change; empty once the calls have their results.
    var calls: [(call: MemberCall, decision: Decision)]
    /// The deadline of the countdown on which it was decided; nil if that was not running.
    let deadline: WallInstant?
    var answer: Answer?
    /// Whether the log has the change.
    var isInLog = false
    /// The countdown after the change, with its revision here.
    var made: KeyedCountdown?

    var isChange: Bool { proposal.record != nil }

    /// The result of a change that the log does not have; nil if it was not made, and can be decided again.
    var failure: CallResult? {
        switch answer {
        case .won, .unacknowledged: .unknown("the fleet's engine has lost the change")
        case .unreachable(let reason): .notMade(reason)
        case .conflict, .early, .late, .unknown, nil: nil
        }
    }
}

/// The proposals of a key that are in flight: a chain, each decided on the record that the one before makes.
struct Flight: Sendable {
    var steps: [Step]
    /// Whether an earlier attempt with the same IDs may have been made.
    var isResent = false
    /// When to send the chain again; nil if it is answered, or waits for the log.
    var resend: WallInstant?
    /// The number of streams that were asked for when the answers came.
    var openings: Int?

    var isAnswered: Bool { steps.allSatisfy { $0.answer != nil } }

    /// The newest version that the answers speak of.
    var version: LogVersion? {
        steps.reduce(nil) { newest, step in
            let version: LogVersion? =
                switch step.answer {
                case .won(let version) where step.isChange, .unacknowledged(let version): version
                case .conflict(let entry?) where entry.id != .foreign: entry.version
                default: nil
                }
            guard let version else { return newest }
            return max(version, newest ?? version)
        }
    }

    /// Whether the result of the chain is unknown.
    ///
    /// - Parameter needsAcknowledgements: whether a change that the log has counts only if replicas have acknowledged it.
    /// - Returns: true if neither an answer nor the log shows whether a change was made and counts.
    func isUnknown(needsAcknowledgements: Bool) -> Bool {
        let changes = steps.filter(\.isChange)
        let isInLog = changes.contains(where: \.isInLog)
        guard !isInLog || needsAcknowledgements else { return false }
        return changes.contains { step in
            switch step.answer {
            case .unknown: step.isInLog || !isInLog
            case .unreachable: isResent && (step.isInLog || !isInLog)
            default: false
            }
        }
    }

    /// Whether the engine has acknowledged a change that the log has. It has, if it acknowledged a later one of the chain.
    func isAcknowledged(_ index: Int) -> Bool {
        steps[index...].contains { step in
            if step.isChange, case .won = step.answer { true } else { false }
        }
    }
}

/// The calls of one key.
struct KeyCalls: Sendable {
    var flight: Flight?
    /// Calls that wait to be decided, in their order.
    var pending: [MemberCall] = []
    /// Starts that wait until the key is free.
    var queue: [MemberCall] = []
    /// The host proposes no change before this instant.
    var notBefore: WallInstant?
    /// The calls of a rate at the beginning of `pending` that wait for the deadline; nil if none do.
    var waiting: WaitingTokens?
    /// Whether the first call that is pending waits for the deadline, because that is within the margin.
    var isWithinMargin = false
    /// Whether the engine has lost the record that is known, and must be asked for the present one.
    var isLost = false
    var isMarked = false

    var isEmpty: Bool { flight == nil && pending.isEmpty && queue.isEmpty && !isLost }

    /// Puts calls that were in flight back to their places.
    mutating func putBack(_ calls: [MemberCall]) {
        for call in calls where call.expires == nil { queue.enqueue(call) }
        pending.insert(contentsOf: calls.filter { $0.expires != nil }, at: 0)
        // The calls that wait have come before some of them.
        if waiting != nil { pending.sort { $0.number < $1.number } }
        waiting = nil
    }
}

/// The calls of a rate that wait for the deadline of a countdown, because it ends within the margin.
struct WaitingTokens: Sendable {
    let count: Int
    /// The record of the countdown.
    let id: ProposalID?
    /// By how much they will extend it.
    let addition: Duration
}

extension Refusal {
    /// The same refusal with a countdown as it is now.
    func about(_ countdown: KeyedCountdown) -> Refusal {
        switch self {
        case .alreadyRunning(_, let retryAfter): .alreadyRunning(countdown, retryAfter: retryAfter)
        case .revisionMismatch: .revisionMismatch(countdown)
        case .wrongState: .wrongState(countdown)
        case .noSuchCountdown, .limitReached, .outOfRange: self
        }
    }
}
