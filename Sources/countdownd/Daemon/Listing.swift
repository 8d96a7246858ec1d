import CountdownCore

/// A `List` that is being answered.
struct Listing {
    enum Stage {
        /// Nothing was looked at yet.
        case unopened
        case walking(WalkID)
        /// These are to be told, in this order, from this one on.
        case telling([Key], next: Int)
    }

    /// A countdown that is among the soonest so far.
    struct Candidate {
        let key: Key
        let isPaused: Bool
        /// Microseconds: when it ends, or ended; what is left of a paused one.
        let rank: Int64
        let revision: Revision

        /// Whether one comes before another; among equals that which changed first, as it ends first.
        static func isSooner(_ left: Candidate, _ right: Candidate) -> Bool {
            guard left.isPaused == right.isPaused else { return right.isPaused }
            return left.rank == right.rank ? left.revision < right.revision : left.rank < right.rank
        }

        init(_ countdown: Countdown, at now: Now) {
            key = countdown.key
            revision = countdown.revision
            switch countdown.phase {
            case .running(let deadline): (isPaused, rank) = (false, deadline.wall(at: now).microseconds)
            case .paused(let remaining): (isPaused, rank) = (true, remaining.microseconds)
            case .finished(let instant, _), .cancelled(let instant, _): (isPaused, rank) = (false, instant.microseconds)
            }
        }
    }

    let question: ListQuestion
    /// Whether the caller takes more than one reply.
    let takesPages: Bool
    var stage = Stage.unopened
    var page = ElementPage()
    private var candidates: [Candidate] = []

    init(question: ListQuestion, takesPages: Bool) {
        self.question = question
        self.takesPages = takesPages
    }

    func contains(_ countdown: Countdown) -> Bool {
        question.states.contains(ListQuestion.States(of: countdown)) && question.selection.contains(countdown.key)
    }

    /// Keeps a countdown where it is among the soonest so far, twice as many as are asked for at most.
    mutating func consider(_ countdown: Countdown, among count: Int, at now: Now) {
        candidates.append(Candidate(countdown, at: now))
        if candidates.count > 2 * count { keepSoonest(count) }
    }

    /// The keys of the soonest, in their order; one that was met twice counts as it was met last.
    mutating func soonest(_ count: Int) -> [Key] {
        keepSoonest(count)
        return candidates.map(\.key)
    }

    private mutating func keepSoonest(_ count: Int) {
        var last: [Key: Candidate] = [:]
        for candidate in candidates { last[candidate.key] = candidate }
        candidates = Array(last.values.sorted(by: Candidate.isSooner).prefix(count))
    }
}
