import CountdownCore
import Varlink

/// `List`: answering page by page.
extension Daemon {
    func beginList(_ request: ListRequest, _ call: Call, of connection: Connection) throws {
        try keep(request.selection, tables: 0, for: connection)
        connection.unfinishedReply = .listing(ListCursor(request: request, takesPages: call.more))
        connections.withScans.append(connection)
    }

    /// Finds and delivers as much as fits into this turn, one page at most of an answer whose moment is over.
    func scan(_ cursor: ListCursor, of connection: Connection, _ turn: inout Turn) {
        var cursor = cursor
        if case .unopened = cursor.stage { open(&cursor, of: connection, &turn) }
        if case .scanning(let scan) = cursor.stage, connection.isBusy {
            continueScan(scan, &cursor, of: connection, &turn)
        }
        if case .delivering(let answer, let next, let now) = cursor.stage, connection.isBusy {
            deliver(answer, from: next, at: now, &cursor, of: connection)
        }
        guard connection.isBusy else { return }
        connection.unfinishedReply = .listing(cursor)
        connections.withScans.append(connection)
    }

    private func open(_ cursor: inout ListCursor, of connection: Connection, _ turn: inout Turn) {
        let request = cursor.request
        if request.selection.hasKeysAlone {
            turn.entriesLeft -= request.selection.keys.count
            cursor.stage = .delivering(countdownsOfKeys(in: cursor, at: turn.now), next: 0, at: turn.now)
            return
        }
        if let count = request.soonest {
            // That many of the soonest countdowns rarely change during one scan.
            return findSoonest(count, capacity: count + 256, &cursor, of: connection, &turn)
        }
        cursor.stage = .scanning(openScan(for: request.states))
    }

    private func openScan(for states: ListRequest.States) -> ScanID {
        timetable.openScan(
            live: states.isDisjoint(with: .live) ? .nowhere : .oldest,
            ended: states.isDisjoint(with: .ended) ? .nowhere : .oldest
        )
    }

    /// The countdowns of a few keys, in the order of the answer.
    private func countdownsOfKeys(in cursor: ListCursor, at now: Now) -> [KeyedCountdown] {
        let slots = cursor.request.selection.keys.compactMap { timetable.slot(under: $0) }
        let countdowns = slots.map { timetable[$0] }
        guard let count = cursor.request.soonest else {
            return countdowns.filter(cursor.contains).sorted { $0.revision < $1.revision }
        }
        var candidates = SoonestCandidates(count: count, capacity: max(count, slots.count), at: now)
        for (slot, countdown) in zip(slots, countdowns) where cursor.contains(countdown) {
            candidates.append(SoonestCandidates.Candidate(countdown, at: slot, now)) { _ in true }
        }
        return candidates.soonest { _ in true }?.map { timetable[$0] } ?? []
    }

    // MARK: The soonest

    /// Answers at once if the running countdowns that end first are among the first of all; else begins a scan.
    private func findSoonest(
        _ count: Int,
        capacity: Int,
        _ cursor: inout ListCursor,
        of connection: Connection,
        _ turn: inout Turn
    ) {
        if let answer = soonestRunning(count, cursor, &turn) {
            cursor.stage = .delivering(answer, next: 0, at: turn.now)
            return
        }
        guard keepMore(SoonestCandidates.bytes(capacity: capacity), for: connection) else { return }
        cursor.candidates = SoonestCandidates(count: count, capacity: capacity, at: turn.now)
        cursor.stage = .scanning(openScan(for: cursor.request.states))
    }

    /// The soonest running countdowns in the order of their deadlines; nil if that is not the whole answer, or if more would
    /// have to be looked at than a turn allows.
    private func soonestRunning(_ count: Int, _ cursor: ListCursor, _ turn: inout Turn) -> [KeyedCountdown]? {
        let states = cursor.request.states
        guard count > 0 else { return [] }
        guard states.contains(.running), states.isDisjoint(with: .ended) else { return nil }
        // To find the next deadline takes about as long as to scan three entries.
        let steps = 3 + cursor.request.selection.steps
        let budget = max(1, turn.entriesLeft / steps)
        var left = budget
        let (slots, isAll) = timetable.soonestRunning(count, at: turn.now, budget: &left) { timetable, slot in
            cursor.request.selection.contains(timetable.key(at: slot))
        }
        turn.entriesLeft -= (budget - left) * steps
        let pausedMayFollow = states.contains(.paused) && timetable.pausedCount > 0
        guard slots.count == count || isAll && !pausedMayFollow else { return nil }
        return slots.map { timetable[$0] }
    }

    // MARK: Scanning

    private func continueScan(_ scan: ScanID, _ cursor: inout ListCursor, of connection: Connection, _ turn: inout Turn)
    {
        let now = turn.now
        let pageBytes = limits.pageBytes
        let progress = continueScan(scan, for: cursor.request.selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            guard cursor.contains(countdown) else { return true }
            guard cursor.candidates == nil else {
                cursor.candidates?.append(SoonestCandidates.Candidate(countdown, at: slot, now)) {
                    timetable.revision(at: $0.slot) == $0.revision
                }
                return true
            }
            cursor.found.append((slot, countdown.revision))
            cursor.foundBytes += 160 + countdown.textBytes
            return cursor.foundBytes < pageBytes
        }
        let isAtEnd = progress != .more
        if isAtEnd { timetable.closeScan(scan) }
        if cursor.candidates == nil {
            guard isAtEnd || cursor.foundBytes >= pageBytes else { return }
            deliverFound(&cursor, isLast: isAtEnd, of: connection, at: now)
        } else if isAtEnd {
            answerWithCandidates(&cursor, of: connection, &turn)
        }
    }

    private func answerWithCandidates(_ cursor: inout ListCursor, of connection: Connection, _ turn: inout Turn) {
        guard var candidates = cursor.candidates.take() else { return }
        let isComparable = candidates.offset == turn.now.offset
        let soonest = candidates.soonest { timetable.isKnown($0.slot, with: $0.revision) }
        if isComparable, let soonest {
            cursor.stage = .delivering(soonest.map { timetable[$0] }, next: 0, at: turn.now)
            return
        }
        // Too many of the soonest have changed, or the system clock was set.
        let capacity = isComparable ? 2 * candidates.capacity : candidates.capacity
        findSoonest(candidates.count, capacity: capacity, &cursor, of: connection, &turn)
    }

    /// Writes the countdowns that the scan has found, as they are now, into pages; a page must be full, unless nothing follows.
    private func deliverFound(_ cursor: inout ListCursor, isLast: Bool, of connection: Connection, at now: Now) {
        // Countdowns, with commas between them.
        var page = JSONWriter()
        var delivered = 0
        for (index, found) in cursor.found.enumerated() {
            // A countdown that has changed is visited again further on. An end whose key has another countdown by now is
            // history: `Watch` delivers it, `List` does not.
            guard timetable.isKnown(found.slot, with: found.revision) else { continue }
            translation.write(element: timetable[found.slot], at: now, into: &page)
            guard page.count >= limits.pageBytes else { continue }
            reply(with: &page, cursor, of: connection)
            guard connection.isBusy else { return }
            delivered = index + 1
        }
        if isLast { return finish(with: page, of: connection) }
        cursor.found.removeFirst(delivered)
        cursor.foundBytes = page.count
    }

    // MARK: Replies

    /// Delivers the next page of an answer; the moment of the answer is that of its first page.
    private func deliver(
        _ answer: [KeyedCountdown],
        from next: Int,
        at moment: Now,
        _ cursor: inout ListCursor,
        of connection: Connection
    ) {
        var page = JSONWriter()
        for index in next..<answer.count {
            translation.write(element: answer[index], at: moment, into: &page)
            guard page.count >= limits.pageBytes else { continue }
            reply(with: &page, cursor, of: connection)
            guard connection.isBusy, next > 0 || keepMore(bytes(of: answer), for: connection) else { return }
            cursor.stage = .delivering(answer, next: index + 1, at: moment)
            return
        }
        finish(with: page, of: connection)
    }

    /// The bytes of countdowns that are kept until the client has read their page.
    private func bytes(of countdowns: [KeyedCountdown]) -> Int {
        countdowns.reduce(0) { $0 + MemoryLayout<KeyedCountdown>.stride + $1.textBytes }
    }

    /// Puts a page that is full into a reply; a caller that takes one reply alone gets the error `expectedMore`.
    private func reply(with page: inout JSONWriter, _ cursor: ListCursor, of connection: Connection) {
        guard cursor.takesPages else { return finishReply(of: connection) { $0.fail(ServiceError.expectedMore) } }
        connections.dirty.append(connection)
        let countdowns = page.bytes
        connection.use { $0.reply(continues: true) { $0.array("countdowns") { $0.element(raw: countdowns) } } }
        page.removeAll()
    }

    private func finish(with page: borrowing JSONWriter, of connection: Connection) {
        let countdowns = page.bytes
        finishReply(of: connection) { $0.reply { $0.array("countdowns") { $0.element(raw: countdowns) } } }
    }
}

/// A `List` that is being answered.
///
/// A reply holds countdowns of one moment: those found in earlier turns must be checked in the turn in which the reply is
/// written, and a countdown that changed meanwhile is visited again further on.
struct ListCursor {
    enum Stage {
        /// Nothing was looked at yet.
        case unopened
        case scanning(ScanID)
        /// The answer of this moment, which is delivered from this countdown on.
        case delivering([KeyedCountdown], next: Int, at: Now)
    }

    let request: ListRequest
    /// Whether the caller takes more than one reply.
    let takesPages: Bool
    var stage = Stage.unopened
    /// The countdowns found by the scan that are not in a reply yet, in the order of revisions.
    var found: [(slot: Slot, revision: Revision)] = []
    /// About as many bytes as the found countdowns take in a reply.
    var foundBytes = 0
    /// The countdowns that the scan has found for `soonest`.
    var candidates: SoonestCandidates?

    init(request: ListRequest, takesPages: Bool) {
        self.request = request
        self.takesPages = takesPages
    }

    func contains(_ countdown: KeyedCountdown) -> Bool {
        request.states.contains(.of(countdown)) && request.selection.contains(countdown.key)
    }
}

/// The countdowns that end first, of those that the scan has visited so far.
///
/// More are kept than are asked for, since some of them may change or end before the scan is at its end. If too many do, the
/// soonest of those that were dropped may belong to the answer: then nothing can be said, and the scan has to be repeated
/// with room for more.
struct SoonestCandidates {
    struct Candidate {
        let slot: Slot
        let revision: Revision
        let isPaused: Bool
        /// In microseconds: when it ends, or ended; the remaining time of a paused one.
        let rank: Int64

        init(_ countdown: KeyedCountdown, at slot: Slot, _ now: Now) {
            self.slot = slot
            revision = countdown.revision
            switch countdown.phase {
            case .running(let deadline): (isPaused, rank) = (false, deadline.wall(at: now).microseconds)
            case .paused(let remaining): (isPaused, rank) = (true, remaining.microseconds)
            case .finished(let instant, _), .cancelled(let instant, _): (isPaused, rank) = (false, instant.microseconds)
            }
        }

        /// Whether one comes before another; of two at the same instant, the one that changed first, as it ends first.
        static func isSooner(_ left: Candidate, _ right: Candidate) -> Bool {
            guard left.isPaused == right.isPaused else { return right.isPaused }
            return (left.rank, left.revision) < (right.rank, right.revision)
        }
    }

    /// The number that is asked for.
    let count: Int
    /// The number that is kept at least.
    let capacity: Int
    /// The offset of the clocks by which deadlines on both of them are compared.
    let offset: Duration
    private var candidates: [Candidate] = []
    /// The soonest candidate that was dropped because there was no room.
    private var dropped: Candidate?

    init(count: Int, capacity: Int, at now: Now) {
        self.count = count
        self.capacity = capacity
        offset = now.offset
    }

    /// The bytes of as many candidates as there can be at once.
    static func bytes(capacity: Int) -> Int { 2 * capacity * MemoryLayout<Candidate>.stride }

    /// Adds a countdown that the scan visits.
    ///
    /// - Parameters:
    ///   - candidate: the countdown.
    ///   - isUnchanged: whether the countdown of a candidate is as it was when it was visited.
    mutating func append(_ candidate: Candidate, isUnchanged: (Candidate) -> Bool) {
        candidates.append(candidate)
        guard candidates.count >= 2 * capacity else { return }
        sort(isUnchanged)
        guard candidates.count > capacity else { return }
        if dropped.map({ Candidate.isSooner(candidates[capacity], $0) }) ?? true { dropped = candidates[capacity] }
        candidates.removeLast(candidates.count - capacity)
    }

    /// Picks the soonest.
    ///
    /// - Parameter isKnown: whether the countdown of a candidate is as it was when it was visited, and known under its key.
    /// - Returns: their slots in their order; nil if a countdown that was dropped may belong to them.
    mutating func soonest(isKnown: (Candidate) -> Bool) -> [Slot]? {
        sort(isKnown)
        let chosen = candidates.prefix(count)
        if let dropped, let last = chosen.last, chosen.count < count || Candidate.isSooner(dropped, last) { return nil }
        if dropped != nil, chosen.isEmpty, count > 0 { return nil }
        return chosen.map(\.slot)
    }

    private mutating func sort(_ isWanted: (Candidate) -> Bool) {
        candidates.removeAll { !isWanted($0) }
        candidates.sort(by: Candidate.isSooner)
    }
}
