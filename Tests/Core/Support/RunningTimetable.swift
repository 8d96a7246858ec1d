import CountdownCore

/// A timetable with clocks of its own.
final class RunningTimetable {
    var timetable: Timetable
    var clocks = SimulatedClocks()

    init(limits: Limits = Limits(), revision: Revision = Revision(0)) {
        timetable = Timetable(limits: limits, revision: revision)
    }

    var now: Now { clocks.now }

    func canResume(after revision: Revision) -> Bool { timetable.canResume(after: revision) }
    func slot(under key: Key) -> Slot? { timetable.slot(under: key) }

    /// The countdown under a key.
    subscript(_ text: String) -> KeyedCountdown? { timetable.countdown(under: key(text)) }

    /// What remains of the countdown under a key.
    func remaining(_ text: String) -> Duration? { self[text]?.remaining(at: now) }

    /// Decides on a request and applies the change.
    ///
    /// - Returns: the change, for `undo`; nil if a start was attached or has to wait.
    @discardableResult
    func ask(_ request: Request) throws(Refusal) -> MadeChange? {
        switch try timetable.decide(request, at: now) {
        case .attached, .wait: nil
        case .change(let change): MadeChange(change: change, applied: timetable.apply(change))
        }
    }

    @discardableResult
    func start(
        _ text: String,
        _ end: Request.End? = nil,
        _ ifLive: Request.IfLive = .attach,
        label: String? = nil,
        metadata: Metadata? = nil,
        forget: Bool = false
    ) throws(Refusal) -> MadeChange? {
        let start = Request.Start(
            key(text),
            end,
            ifLive: ifLive,
            label: label,
            metadata: metadata,
            forget: forget
        )
        return try ask(.start(start))
    }

    @discardableResult
    func start(_ text: String, seconds: Int64, forget: Bool = false) throws(Refusal) -> MadeChange? {
        try start(text, .after(.seconds(seconds)), forget: forget)
    }

    /// Lets time pass without expiring anything.
    func pass(_ span: Duration) {
        clocks.pass(span)
    }

    /// Expires the countdowns that are due, in order.
    @discardableResult
    func endDue() -> [Change] {
        var changes: [Change] = []
        while let change = timetable.expireNext(at: now) { changes.append(change) }
        return changes
    }

    @discardableResult
    func compact(limit: Int = .max) -> [Revision] {
        var limit = limit
        return timetable.compact(at: now, budget: &limit)
    }
}

/// A change that was applied, and what `undo` needs of it.
struct MadeChange {
    let change: Change
    let applied: Applied
}

extension Timetable {
    mutating func undo(_ made: MadeChange) { undo(made.applied) }
}
