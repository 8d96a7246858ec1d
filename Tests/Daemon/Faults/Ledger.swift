import IPC

/// The countdowns that one client alone changes, as it knows them, checked against everything that it receives later.
struct Ledger: Sendable {
    /// Differences that are not faults.
    struct Allowance: Sendable {
        /// How far the system clock may have been set for the daemon.
        var clockUSec: Int64 = 0
        /// Ends may have been compacted.
        var trimmed = false
        /// Ends that could not be stored may have been delivered, and delivered again with another revision.
        var endsAgain = false
        /// Changes may have been made though they were answered with StorageFailed.
        var madeThoughRefused = false
    }

    /// How far the test's clock may be from the daemon's. If a deadline is nearer than this, either answer is right.
    private var doubtUSec: Int64 { 2_000 + allowance.clockUSec }

    var allowance = Allowance()

    private struct Entry: Sendable {
        /// The countdown as it was last received; nil if there is none under the key.
        var known: Countdown?
        /// A change that was asked for and is not answered yet.
        var asked: Change?
        /// The first change that was refused and may have been made all the same.
        var refused: Change?
    }

    private var entries: [String: Entry] = [:]
    /// Answers and events that contradict the ledger.
    private(set) var faults: [String] = []

    /// The keys of all calls.
    var keys: [String] { entries.keys.sorted() }

    /// Notes a change that was asked for and may or may not be made.
    mutating func ask(_ change: Change) {
        entries[change.key, default: Entry()].asked = change
    }

    /// Notes the answer to the change that was asked for.
    mutating func answer(_ countdown: Countdown, outcome: Countdown.Outcome? = nil) {
        let entry = entries[countdown.key] ?? Entry()
        entries[countdown.key]?.asked = nil
        guard outcome != .attached else {
            return find(countdown, under: countdown.key, sentUSec: 0, receivedUSec: .max)
        }
        if let known = entry.known, countdown.revision <= known.revision {
            faults.append("a change without a revision of its own: \(countdown) after \(known)")
        }
        if let asked = entry.asked, !asked.explains(countdown, after: entry.known) {
            faults.append("\(asked) was answered with \(countdown) after \(String(describing: entry.known))")
        }
        entries[countdown.key] = Entry(known: isGone(countdown) ? nil : countdown)
    }

    /// Notes that the change was refused, perhaps because it could not be stored.
    mutating func refuse(_ key: String, asNotStored: Bool = false) {
        var entry = entries[key] ?? Entry()
        if asNotStored, allowance.madeThoughRefused { entry.refused = entry.refused ?? entry.asked }
        entry.asked = nil
        entries[key] = entry
    }

    /// Checks the countdown under a key, received between two instants, against the ledger.
    mutating func find(_ found: Countdown?, under key: String, sentUSec: Int64, receivedUSec: Int64) {
        let entry = entries[key] ?? Entry()
        var refused: Change?
        let isDue = entry.known?.deadlineUSec.map { $0 - doubtUSec <= receivedUSec } ?? false
        let mayRun = entry.known?.deadlineUSec.map { $0 + doubtUSec > sentUSec } ?? true
        if isSame(found, entry.known), mayRun || entry.known?.endedUSec != nil {
            refused = entry.refused
        } else if !isExplained(found, by: entry, isDue: isDue) {
            let (found, known, asked) = (describe(found), describe(entry.known), describe(entry.asked))
            faults.append("under \(key) is \(found) after \(known), asked: \(asked)")
        }
        entries[key] = Entry(known: found, refused: refused)
    }

    private func isExplained(_ found: Countdown?, by entry: Entry, isDue: Bool) -> Bool {
        if let known = entry.known, isDue && isEnding(found, of: known) || isAllowed(found, after: known, isDue: isDue)
        {
            return true
        }
        return [entry.asked, entry.refused].contains { explains($0, found, after: entry.known) }
    }

    private func describe(_ value: (some Any)?) -> String {
        value.map { "\($0)" } ?? "nothing"
    }

    /// Whether nothing has changed, except for the remaining time.
    private func isSame(_ found: Countdown?, _ known: Countdown?) -> Bool {
        guard var found, let known else { return found == nil && known == nil }
        if found.state == .running { found.remainingUSec = known.remainingUSec }
        if found.clock == .elapsed, isNear(found.deadlineUSec, known.deadlineUSec) {
            found.deadlineUSec = known.deadlineUSec
        }
        return found == known
    }

    private func explains(_ change: Change?, _ found: Countdown?, after known: Countdown?) -> Bool {
        guard let change else { return false }
        return change.explains(found, after: known) || allowance.trimmed && found == nil
    }

    private func isNear(_ instant: Int64?, _ other: Int64?) -> Bool {
        guard let instant, let other else { return false }
        return abs(instant - other) <= allowance.clockUSec
    }

    /// Whether a countdown that the run begins with has changed.
    private func isAllowed(_ found: Countdown?, after known: Countdown, isDue: Bool) -> Bool {
        let hasEnded = known.endedUSec != nil || isDue
        guard let found else { return allowance.trimmed && hasEnded }
        guard allowance.endsAgain, known.state == .finished, found.revision != known.revision else { return false }
        var expected = known
        expected.revision = found.revision
        return found == expected
    }

    /// Whether a countdown that was running has ended at its deadline, and nothing else has happened to it.
    private func isEnding(_ found: Countdown?, of known: Countdown) -> Bool {
        guard let found else { return known.forget }
        var expected = known
        expected.state = .finished
        expected.remainingUSec = 0
        expected.endedUSec = isNear(found.endedUSec, known.deadlineUSec) ? found.endedUSec : known.deadlineUSec
        expected.deadlineUSec = nil
        expected.revision = found.revision
        return !known.forget && found == expected && found.revision > known.revision
    }

    private func isGone(_ countdown: Countdown) -> Bool {
        countdown.forget && countdown.endedUSec != nil
    }
}

/// A change that is asked for.
enum Change: Sendable {
    case start(Start)
    case cancel(Cancel)
    case finish(Finish)
    case pause(Pause)
    case resume(Resume)
    case adjust(Adjust)

    var key: String {
        switch self {
        case .start(let start): start.key
        case .cancel(let cancel): cancel.key
        case .finish(let finish): finish.key
        case .pause(let pause): pause.key
        case .resume(let resume): resume.key
        case .adjust(let adjust): adjust.key
        }
    }

    /// Whether this change explains the countdown that was found later, if its deadline may have passed since.
    func explains(_ found: Countdown?, after known: Countdown?) -> Bool {
        guard let found else { return forgets(after: known) && mayEnd }
        guard known.map({ $0.revision < found.revision }) ?? true else { return false }
        switch self {
        case .start(let start):
            return found.label == start.label && [.running, .paused, .finished].contains(found.state)
        case .cancel: return isSame(found, as: known) && found.state == .cancelled
        case .finish: return isSame(found, as: known) && found.state == .finished
        case .pause: return isSame(found, as: known) && found.state == .paused
        case .resume: return isSame(found, as: known) && found.state != .paused && found.state != .cancelled
        case .adjust: return isSame(found, as: known) && found.state != .cancelled
        }
    }

    private func forgets(after known: Countdown?) -> Bool {
        if case .start(let start) = self, start.forget == true { return true }
        return known?.forget ?? false
    }

    private var mayEnd: Bool {
        if case .pause = self { return false }
        return true
    }

    /// Whether a state is a later state of the same countdown.
    private func isSame(_ found: Countdown, as known: Countdown?) -> Bool {
        found.label == known?.label && found.startedUSec == known?.startedUSec && found.metadata == known?.metadata
    }
}
