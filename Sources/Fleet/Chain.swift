import CountdownCore

/// Proposals for one key that are sent together: each is decided on the record that the one before makes.
struct Chain {
    /// The record on which the next proposal is decided, and its run; nil if there is none.
    private(set) var id: ProposalID?
    private var run: ProposalID?
    private var unknown: [Record.UnknownMember]
    private(set) var basis: Basis
    /// The window of its changes; nil if it has none.
    private var window: Window?
    /// The proposals.
    private(set) var steps: [Step] = []

    /// Begins with the record that is known.
    init(after held: HeldRecord?, at now: Now) {
        id = held?.id
        run = held?.run
        unknown = held?.unknown ?? []
        basis = held?.basis(at: now.wall) ?? .free
    }

    /// The window of another change, or, of a refused token, of its confirmation. The engine makes the changes of a chain at one instant,
    /// so no margin is between them: they share the window of the first one. Like the deadlines, they count from the
    /// instant at which the host has decided.
    func windowInChain(until limit: WallInstant) -> Window? {
        window.map { Window(notBefore: $0.notBefore, notAfter: min($0.notAfter, limit)) }
    }

    /// Appends a change.
    mutating func append(_ change: Change, of call: MemberCall, in window: Window, as newID: ProposalID, at now: Now) {
        let isStart = change.kind == .started
        let record = Record(change, run: isStart ? nil : run, unknown: isStart ? [] : unknown, at: now)
        let proposal = Proposal(
            key: change.countdown.key,
            expected: id,
            window: window,
            due: record.due,
            id: newID,
            record: record.json
        )
        steps.append(Step(proposal: proposal, calls: [(call, .change(change.kind))], deadline: basis.deadline))
        id = newID
        self.window = window
        run = record.run ?? newID
        unknown = record.unknown
        basis = Basis(end: record.end, hasEnded: record.hasEnded, at: now.wall)
    }

    /// Adds a call to the confirmation at the end of the chain, if that is the same.
    ///
    /// - Returns: false if it is not.
    mutating func merge(_ decision: Step.Decision, of call: MemberCall, in window: Window) -> Bool {
        guard let last = steps.last, !last.isChange, last.proposal.window.notBefore == window.notBefore else {
            return false
        }
        let index = steps.count - 1
        steps[index].calls.append((call, decision))
        steps[index].proposal.window.notAfter = min(last.proposal.window.notAfter, window.notAfter)
        return true
    }

    /// Appends a confirmation of the record that the chain has come to.
    mutating func confirm(
        _ calls: [(call: MemberCall, decision: Step.Decision)],
        of key: Key,
        in window: Window,
        as newID: ProposalID
    ) {
        let proposal = Proposal(key: key, expected: id, window: window, due: nil, id: newID, record: nil)
        steps.append(Step(proposal: proposal, calls: calls, deadline: basis.deadline))
    }
}
