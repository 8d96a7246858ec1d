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

    private func openScan(for states: [CountdownState]) -> ScanID {
        timetable.openScan(
            live: states.contains { $0.isLive } ? .oldest : .nowhere,
            ended: states.contains { !$0.isLive } ? .oldest : .nowhere
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
        guard states.contains(.running), states.allSatisfy(\.isLive) else { return nil }
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
        connections.withPages.append(connection)
        let countdowns = page.bytes
        connection.use { $0.reply(continues: true) { $0.array("countdowns") { $0.element(raw: countdowns) } } }
        page.removeAll()
    }

    private func finish(with page: borrowing JSONWriter, of connection: Connection) {
        let countdowns = page.bytes
        connections.withPages.append(connection)
        finishReply(of: connection) { $0.reply { $0.array("countdowns") { $0.element(raw: countdowns) } } }
    }
}
