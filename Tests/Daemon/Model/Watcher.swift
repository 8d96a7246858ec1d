import TestSupport

/// A client that watches, leaves, and resumes with `since`. It checks the order and the completeness of its events.
final class Watcher {
    let name: String
    let filter: Filter
    private let tickUSec: Int
    /// Whether it resumes with `since`; otherwise each Watch begins with the current state.
    private let resumes: Bool
    private let history: History

    private(set) var connection: RawConnection?
    private(set) var isSynced = false
    private(set) var events = 0
    private(set) var resumptions = 0
    private(set) var trimmed = 0

    /// The newest revision received, the `since` of the next Watch.
    private var since: Int?
    /// The parameters and the state of the Watch that is open.
    private var openedSince: Int?
    private var newestAtOpening = 0
    private var lastRevision = 0
    /// The countdowns that this Watch has attached, and the changes that happened before synced: the daemon sends some of
    /// these, but until synced the watcher has not received all changes up to their revisions.
    private var attached: Set<String> = []
    private var changesBeforeSynced: [Countdown] = []
    /// The live countdowns according to the events.
    private(set) var alive: [String: Countdown] = [:]
    /// Countdowns that may have ended unseen while the watcher was away.
    private var uncertain: [String: Countdown] = [:]

    /// The ends that were delivered, and the ranges of revisions in which none may be missing.
    private var ends: Set<Int> = []
    private var owedSince: Int?
    private var owed: [(after: Int, upTo: Int)] = []
    /// The events that the connections received after synced.
    private(set) var stretches: [Stretch] = []

    /// The changes between synced and the last event of one connection.
    struct Stretch {
        var after: Int
        var upTo: Int
        /// The countdowns that were running or paused at the beginning.
        var base: [String: Countdown]
        var changes: [Countdown] = []
    }

    init(_ name: String, filter: Filter = Filter(), tickUSec: Int = 0, resumes: Bool = true, history: History) {
        self.name = name
        self.filter = filter
        self.tickUSec = tickUSec
        self.resumes = resumes
        self.history = history
    }

    func connect(to daemon: DaemonProcess) throws {
        connection = try daemon.connect()
        if !resumes { forgetPosition() }
        if since != nil { resumptions += 1 }
        try watch()
    }

    private func watch() throws {
        isSynced = false
        openedSince = since
        newestAtOpening = history.newest
        lastRevision = since ?? 0
        attached = []
        changesBeforeSynced = []
        if since == nil { alive = [:] }
        for (key, countdown) in alive where mayForget(key) {
            alive[key] = nil
            uncertain[key] = countdown
        }
        var call = Call(method: "Watch", more: true)
        call.parameters.keys = filter.keys
        call.parameters.match = filter.match
        call.parameters.tickUSec = tickUSec
        call.parameters.since = since
        call.parameters.heartbeatUSec = 1_000_000
        try connection?.send(message: call.message)
    }

    func disconnect() { connection = nil }

    private func forgetPosition() {
        if let owedSince, let since { owed.append((owedSince, since)) }
        owedSince = nil
        since = nil
    }

    // MARK: Receiving

    func receive(_ message: String) throws {
        let reply = try Reply(message)
        if let error = reply.errorName {
            let oldest = reply.parameters?.oldestRevision ?? 0
            history.check(error == "HistoryTrimmed" && openedSince != nil, "\(name): \(error) without a since")
            history.check(!history.keepsAllEnds, "\(name): HistoryTrimmed, though all ends are kept")
            history.check(
                oldest > openedSince ?? 0,
                "\(name): HistoryTrimmed for \(openedSince ?? 0), oldest is \(oldest)"
            )
            guard openedSince != nil else { return disconnect() }
            trimmed += 1
            forgetPosition()
            // If the daemon has ended meanwhile, the connection is closed next.
            try? watch()
            return
        }
        history.check(reply.continues ?? false, "\(name): the watch ended")
        for event in reply.parameters?.events ?? [] { receive(event) }
    }

    private func receive(_ event: Event) {
        events += 1
        switch event.type {
        case "attached": receiveAttached(event)
        case "synced": receiveSynced(event)
        case "heartbeat":
            history.check(isSynced, "\(name): a heartbeat before synced")
            history.check(event.revision ?? 0 >= lastRevision, "\(name): \(event) after \(lastRevision)")
            advance(to: event.revision ?? 0)
        case "tick":
            let remaining = event.remainingUSec ?? 0
            let duration = event.key.flatMap { alive[$0] ?? uncertain[$0] }?.durationUSec ?? 0
            let isRight = tickUSec > 0 && remaining > 0 && remaining < duration && remaining % max(1, tickUSec) == 0
            history.check(isSynced && isRight, "\(name): \(event) with a duration of \(duration)")
        default: receiveChange(event)
        }
    }

    private func receiveAttached(_ event: Event) {
        guard let countdown = event.countdown else { return history.check(false, "\(name): \(event)") }
        history.observe(countdown, in: name)
        history.check(!isSynced && countdown.isAlive && event.key == countdown.key, "\(name): \(event)")
        history.check(filter.matches(countdown.key), "\(name): \(countdown.key) does not match")
        if openedSince != nil {
            history.check(countdown.revision > lastRevision, "\(name): \(event) after \(lastRevision)")
            lastRevision = countdown.revision
        }
        history.check(alive[countdown.key]?.revision ?? 0 < countdown.revision, "\(name): attached twice: \(countdown)")
        alive[countdown.key] = countdown
        attached.insert(countdown.key)
        uncertain[countdown.key] = nil
    }

    private func receiveSynced(_ event: Event) {
        let revision = event.revision ?? 0
        history.check(!isSynced, "\(name): synced twice")
        history.check(revision >= lastRevision, "\(name): synced at \(revision) after \(lastRevision)")
        history.check(revision >= newestAtOpening, "\(name): synced at \(revision), but \(newestAtOpening) was known")
        let newestAttached = alive.values.map(\.revision).max() ?? 0
        history.check(revision >= newestAttached, "\(name): synced at \(revision) after \(newestAttached) was attached")
        isSynced = true
        for change in changesBeforeSynced {
            history.check(revision >= change.revision, "\(name): synced at \(revision) after \(change)")
            if !change.isAlive { receiveEnd(change) }
        }
        stretches.append(Stretch(after: revision, upTo: revision, base: alive))
        advance(to: revision)
        if owedSince == nil { owedSince = revision }
    }

    private func receiveChange(_ event: Event) {
        guard let countdown = event.countdown, event.key == countdown.key, event.revision == countdown.revision else {
            return history.check(false, "\(name): \(event)")
        }
        let revision = countdown.revision
        history.observe(countdown, as: event.type, in: name)
        history.check(filter.matches(countdown.key), "\(name): \(countdown.key) does not match")
        if isSynced || attached.contains(countdown.key) {
            checkThatFollows(event, countdown)
            alive[countdown.key] = countdown.isAlive ? countdown : nil
            uncertain[countdown.key] = nil
        }
        // An end that happens while the state is being sent.
        let isNewEnd = !countdown.isAlive && (openedSince == nil || countdown.forget)
        if !isSynced, attached.contains(countdown.key) || isNewEnd {
            changesBeforeSynced.append(countdown)
            return
        }
        history.check(revision > lastRevision, "\(name): \(event) after \(lastRevision)")
        if isSynced {
            stretches[stretches.count - 1].changes.append(countdown)
        } else {
            let isKeptEnd = openedSince != nil && countdown.isKeptEnd
            history.check(isKeptEnd, "\(name), since \(openedSince ?? 0): before synced \(event)")
        }
        if !countdown.isAlive { receiveEnd(countdown) }
        uncertain[countdown.key] = nil
        alive[countdown.key] = countdown.isAlive ? countdown : nil
        advance(to: revision)
    }

    private func checkThatFollows(_ event: Event, _ countdown: Countdown) {
        let before = alive[countdown.key]
        if before == nil, uncertain[countdown.key] != nil { return }
        // While the state is being sent, an end may follow changes that were not sent.
        let isEndOfLater = !isSynced && !countdown.isAlive && countdown.revision > before?.revision ?? 0
        let isRight = isEndOfLater || follows(before, event, countdown)
        let state = isSynced ? "synced" : "before synced"
        history.check(isRight, "\(name), \(state): \(event) after \(before.map { "\($0)" } ?? "none")")
    }

    private func receiveEnd(_ countdown: Countdown) {
        history.check(ends.insert(countdown.revision).inserted, "\(name): delivered twice: \(countdown)")
    }

    private func advance(to revision: Int) {
        history.observe(revision: revision)
        since = max(since ?? 0, revision)
        lastRevision = max(lastRevision, revision)
        if isSynced { stretches[stretches.count - 1].upTo = lastRevision }
    }

    /// Whether a change may follow the state before it.
    private func follows(_ before: Countdown?, _ event: Event, _ after: Countdown) -> Bool {
        guard let before else { return event.type == "started" && after.isRunning }
        let longer = after.durationUSec - before.durationUSec
        let isSame = longer == 0 && after.startedUSec == before.startedUSec && after.label == before.label
        switch event.type {
        case "restarted": return after.isRunning
        case "adjusted" where before.isRunning:
            return after.isRunning && (after.deadlineUSec ?? 0) - (before.deadlineUSec ?? 0) == longer
        case "adjusted":
            return before.isPaused && after.isPaused && after.remainingUSec - before.remainingUSec == longer
        case "paused":
            return isSame && before.isRunning && after.isPaused && after.remainingUSec <= after.durationUSec
        case "resumed":
            let isElapsed = after.isRunning && after.clock == "elapsed"
            return isSame && before.isPaused && isElapsed && event.remainingUSec == before.remainingUSec
        case "finished":
            let isInTime = before.isPaused || after.endedUSec ?? .max <= before.deadlineUSec ?? 0
            let isLate = event.lateUSec ?? 0 > 0
            return longer != 0 || isSame && isInTime && (!isLate || after.endedUSec == before.deadlineUSec)
        case "cancelled":
            return isSame && (before.isRunning || after.remainingUSec == before.remainingUSec)
        default: return false
        }
    }

    // MARK: At the end of the run

    /// Checks that no change is missing after synced, and no kept end between two connections.
    func conclude() {
        forgetPosition()
        for stretch in stretches {
            let received = Set(stretch.changes.map(\.revision))
            for change in history.changes(after: stretch.after, upTo: stretch.upTo, matching: filter) {
                history.check(received.contains(change.revision), "\(name): never received \(change)")
            }
        }
        for range in owed {
            for end in history.changes(after: range.after, upTo: range.upTo, matching: filter) where end.isKeptEnd {
                history.check(ends.contains(end.revision), "\(name): never received the end \(end)")
            }
        }
    }
}
