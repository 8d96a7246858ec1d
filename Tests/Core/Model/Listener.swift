import CountdownCore
import Testing

/// The knowledge of a watcher from its events, and the events that it must have received.
struct Listener {
    let selection: Selection
    let interval: Duration?
    /// The watcher had received everything up to it before; nil if it is new.
    let since: Revision?
    /// The newest revision when the watch began.
    let begun: Revision
    /// The live countdowns, according to the events.
    private(set) var live: [Key: KeyedCountdown]
    /// The ends that it received before it was open.
    private(set) var endings: [Revision] = []
    /// The newest revision that it received.
    private(set) var newest: Revision
    private(set) var opened: Now?
    private(set) var hasMissed = false
    /// When a countdown changed last.
    private var changed: [Key: Now] = [:]
    /// The instant of the last tick of a countdown, on its clock.
    private var told: [Key: Int64] = [:]
    private var clockSet = WallInstant(microseconds: .min)

    /// A new watcher, or one that comes back.
    init(_ selection: Selection, every interval: Duration?, at revision: Revision, after before: Listener? = nil) {
        self.selection = selection
        self.interval = interval
        since = before?.newest
        begun = revision
        live = before?.live ?? [:]
        newest = before?.newest ?? Revision(.min)
    }

    var isOpen: Bool { opened != nil }

    // MARK: Hearing

    mutating func hear(_ note: Turns.Note, punctual: Bool) throws {
        switch note.heard {
        case .attached(let countdown): try attach(countdown)
        case .synced(let revision):
            try #require(!isOpen && revision >= newest)
            (newest, opened) = (revision, note.at)
        case .change(let change): try follow(change, at: note.at)
        case .tick(let key, let remaining): try tick(key, remaining, at: note.at, punctual: punctual)
        case .missed: hasMissed = true
        }
    }

    private mutating func attach(_ countdown: KeyedCountdown) throws {
        try #require(!isOpen && countdown.revision > newest && selection.contains(countdown.key))
        newest = countdown.revision
        live[countdown.key] = countdown.isLive ? countdown : nil
        if !countdown.isLive { endings.append(countdown.revision) }
    }

    private mutating func follow(_ change: Change, at now: Now) throws {
        let countdown = change.countdown
        try #require(isOpen && countdown.revision > newest && selection.contains(countdown.key))
        try #require(change.replaced == live[countdown.key]?.revision)
        newest = countdown.revision
        live[countdown.key] = countdown.isLive ? countdown : nil
        (changed[countdown.key], told[countdown.key]) = (now, nil)
    }

    private mutating func tick(_ key: Key, _ remaining: Duration, at now: Now, punctual: Bool) throws {
        let interval = try #require(interval).microseconds
        guard case .running(let deadline) = try #require(live[key]).phase else {
            throw Failure.tickOfWhatDoesNotRun(key)
        }
        try #require(remaining > .zero && remaining.microseconds.isMultiple(of: interval))
        let instant = deadline.microseconds - remaining.microseconds
        let late = deadline.now(now) - instant
        try #require(late >= 0 && (!punctual || late < 1_000))
        try #require(instant > max(earliest(key, deadline, now), told[key] ?? .min))
        told[key] = instant
    }

    /// Ticks up to this instant, on the clock of the deadline, are not delivered to it.
    private func earliest(_ key: Key, _ deadline: Deadline, _ now: Now) -> Int64 {
        let since = max(opened?.boot ?? now.boot, changed[key]?.boot ?? BootInstant(microseconds: .min))
        guard deadline.clock == .wall else { return since.microseconds }
        return max(now.wall(of: since).microseconds, clockSet.microseconds)
    }

    mutating func clockWasSet(at now: Now) {
        clockSet = now.wall
        told = told.filter { live[$0.key]?.clock == .elapsed }
    }

    /// Forgets a countdown that ended and was not kept while the watcher was away: that end is not delivered.
    mutating func forget(_ key: Key, endedAt revision: Revision) {
        if let countdown = live[key], countdown.revision < revision { live[key] = nil }
    }

    // MARK: Checks

    /// Fails if a tick that is more than a millisecond old is missing.
    func requireTicks(at now: Now) throws {
        guard isOpen, let interval = interval?.microseconds else { return }
        for (key, countdown) in live {
            guard case .running(let deadline) = countdown.phase else { continue }
            let left = deadline.microseconds - (deadline.now(now) - 999)
            let instant = deadline.microseconds - max(1, (left + interval - 1) / interval) * interval
            guard instant > earliest(key, deadline, now) else { continue }
            try #require(told[key] ?? .min >= instant, "\(key.text) has not ticked")
        }
    }

    enum Failure: Error {
        case tickOfWhatDoesNotRun(Key)
    }
}

extension Deadline {
    fileprivate var microseconds: Int64 {
        switch self {
        case .elapsed(let instant): instant.microseconds
        case .wall(let instant): instant.microseconds
        }
    }

    fileprivate func now(_ now: Now) -> Int64 {
        clock == .elapsed ? now.boot.microseconds : now.wall.microseconds
    }
}
