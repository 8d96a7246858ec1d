public import CountdownCore

/// The log of the fleet, and snapshots.
extension Member {
    /// Asks for the stream: at the start, and again whenever it was lost.
    public mutating func open(_ timetable: inout Timetable) {
        let opening = cursor.open()
        output.opening = opening
        if opening.after == nil { restartSnapshot(&timetable) }
    }

    /// Reads everything again, because the store is lost.
    public mutating func readAgain(_ timetable: inout Timetable) {
        output.opening = cursor.readAgain()
        lostSnapshot = snapshot
        beginSnapshot(&timetable)
    }

    /// Receives an event of the stream.
    ///
    /// - Parameters:
    ///   - event: the event. After a new stream was asked for, events of earlier ones are discarded by the caller.
    ///   - timetable: has the countdowns. Those that are due were expired.
    ///   - now: this instant.
    public mutating func receive(_ event: LogCursor.Event, _ timetable: inout Timetable, at now: Now) {
        let before = cursor.state
        if case .diverged = event, options.needsAcknowledgements, rewind() { return }
        cursor.receive(event)
        if case .snapshot = cursor.state, cursor.state != before { beginSnapshot(&timetable) }
        switch event {
        case .page(let entries, _):
            for entry in entries { apply(entry, &timetable, at: now) }
        case .changes(let entries):
            let keys = follow(entries, &timetable, at: now)
            return settle(unsettled.intersection(keys), timetable, at: now)
        case .lost(let reason):
            if before != cursor.state || reason != lostReason { output.notes.append(.lost(reason)) }
            lostReason = reason
            markAll()
        case .live:
            if before != .live, cursor.isLive { becomeLive() }
            if cursor.isLive { takeBackTail() }
        case .resumed, .trimmed, .diverged: break
        }
        if cursor.isPrefix { settle(unsettled, timetable, at: now) }
    }

    /// Applies entries of the log, and between them those that are ahead.
    ///
    /// - Returns: the keys of the entries.
    private mutating func follow(_ entries: [LogEntry], _ timetable: inout Timetable, at now: Now) -> [Key] {
        var keys = entries.map(\.key)
        for (index, entry) in entries.enumerated() {
            keys += applyAhead(&timetable, at: now)
            switch cursor.verdict(on: entry, held: records[entry.key]) {
            case .apply: apply(entry, before: entries[(index + 1)...], &timetable, at: now)
            case .skip: break
            case .gap:
                guard hold(entry, at: now) else {
                    fillGap(&timetable)
                    return keys
                }
            case .diverged:
                diverge(&timetable)
                return keys
            }
        }
        keys += applyAhead(&timetable, at: now)
        return keys
    }

    /// Keeps an entry until the cursor has come to it: the stream leaves out changes that this host has won, and the answer comes on
    /// another connection.
    ///
    /// - Returns: false if the log must be read instead.
    private mutating func hold(_ entry: LogEntry, at now: Now) -> Bool {
        guard cursor.isPrefix, ahead.count < options.proposalsAtOnce * 64 else { return false }
        insertAhead(entry)
        awaitEntry(entry.version, at: now)
        return true
    }

    /// Brings a key to the state of an entry, unless a newer one is known. If the entry is late, its countdown does not end before
    /// the next change of the same run, which can only have come before the end.
    ///
    /// - Parameters:
    ///   - entry: the entry.
    ///   - next: the entries that are applied after it in this turn.
    ///   - timetable: has the countdowns.
    ///   - now: this instant.
    mutating func apply(
        _ entry: LogEntry,
        before next: ArraySlice<LogEntry> = [],
        _ timetable: inout Timetable,
        at now: Now
    ) {
        let held = records[entry.key]
        let isPage = !cursor.isPrefix
        if let first = tail.first, first.position.id == entry.id, first.position.version == entry.version, !isPage {
            tail.removeFirst()
            return cursor.advance(over: entry)
        }
        if !isPage || cursor.verdict(on: entry, held: held) == .apply { cursor.advance(over: entry) }
        if isPage, let held, held.snapshot == snapshot, held.version >= entry.version { return }
        guard entry.record != nil else {
            output.changes += timetable.applyRemote(.absent(entry.key), at: now)
            remove(entry.key)
            return mark(entry.key)
        }
        var changes: [Change] = []
        if let held, held.id == entry.id, held.fault == nil {
            confirm(held, entry)
        } else {
            changes = replace(held, by: entry, before: next, &timetable, at: now)
        }
        noteInFlight(entry, changes)
        mark(entry.key)
    }

    /// Brings a key to the state of an entry.
    ///
    /// - Returns: the changes of the timetable.
    mutating func replace(
        _ held: HeldRecord?,
        by entry: LogEntry,
        before next: ArraySlice<LogEntry> = [],
        _ timetable: inout Timetable,
        at now: Now
    ) -> [Change] {
        do throws(RecordFault) {
            let record = try Record(entry)
            let isLate = record.end.map { $0 <= now.wall } ?? false
            let isFollowed = isLate && next.first { $0.key == entry.key }?.continues(record.run ?? entry.id) == true
            return apply(record, of: entry, instead: held, isFollowed, &timetable, at: now)
        } catch {
            output.notes.append(.unusable(entry.key, error))
            set(HeldRecord(entry, error, instead: held, snapshot: snapshot), under: entry.key)
            return []
        }
    }

    private mutating func apply(
        _ record: Record,
        of entry: LogEntry,
        instead held: HeldRecord?,
        _ isFollowed: Bool,
        _ timetable: inout Timetable,
        at now: Now
    ) -> [Change] {
        let countdown = record.countdown
        // If the stored records are lost, the countdowns that were stored with them are still known.
        let known = held == nil ? timetable.countdown(under: entry.key) : nil
        let isSameRun = held.map { $0.run == record.run ?? entry.id } ?? (known?.started == countdown.started)
        let state = RemoteState.countdown(countdown, record.kind, isSameRun: isSameRun)
        let isUnchanged = known?.isSame(as: countdown) ?? false
        let changes = isUnchanged ? [] : timetable.applyRemote(state, at: now, isFollowed: isFollowed)
        if isSameRun, changes.first?.kind == .started, tail.isEmpty {
            output.notes.append(.postponedTooLate(entry.key))
        }
        output.changes += changes
        set(HeldRecord(entry, record, snapshot: snapshot), under: entry.key)
        return changes
    }

    func heldRecord(of entry: LogEntry, instead held: HeldRecord?) -> HeldRecord {
        do throws(RecordFault) {
            return HeldRecord(entry, try Record(entry), snapshot: snapshot)
        } catch {
            return HeldRecord(entry, error, instead: held, snapshot: snapshot)
        }
    }

    /// Notes that the log has a record that is known. It is stored again only if it must be.
    private mutating func confirm(_ held: HeldRecord, _ entry: LogEntry) {
        guard held.version == entry.version, held.snapshot > lostSnapshot else {
            return set(heldRecord(of: entry, instead: held), under: entry.key)
        }
        var record = held
        record.snapshot = snapshot
        records.set(record, under: entry.key)
    }

    mutating func set(_ record: HeldRecord, under key: Key) {
        records.set(record, under: key)
        output.records.append(.set(key, record))
    }

    mutating func remove(_ key: Key) {
        guard records[key] != nil else { return }
        records.remove(key)
        output.records.append(.remove(key))
    }

    /// Notes that the log has a change that is in flight.
    private mutating func noteInFlight(_ entry: LogEntry, _ changes: [Change]) {
        guard let flight = keys[entry.key]?.flight,
            let index = flight.steps.firstIndex(where: { $0.proposal.id == entry.id })
        else { return }
        keys[entry.key]?.flight?.steps[index].isInLog = true
        let countdowns = changes.map(\.countdown)
        keys[entry.key]?.flight?.steps[index].made = countdowns.last { $0.isLive } ?? countdowns.last
        if flight.isAnswered { unsettled.insert(entry.key) }
    }

    private mutating func markAll() {
        for key in keys.keys { mark(key) }
    }

    private mutating func becomeLive() {
        isKnown = true
        output.notes.append(.live)
        for key in unsettled where keys[key]?.flight?.resend != nil {
            keys[key]?.flight?.resend = WallInstant(microseconds: 0)
        }
        markAll()
    }

    // MARK: Snapshots

    /// Ends all chains in flight, because the log cannot show any more whether they were made.
    mutating func beginSnapshot(_ timetable: inout Timetable) {
        if case .snapshot(let reason) = cursor.state { output.notes.append(.snapshot(reason)) }
        restartSnapshot(&timetable)
        trim(&timetable)
        let neverSent = Set(unsent)
        unsent = []
        unsettled = []
        tail = []
        forgetAhead()
        for key in keys.keys { abandonFlight(of: key, wasSent: !neverSent.contains(key)) }
    }

    /// Lets every record of the stream that follows count as unknown.
    mutating func restartSnapshot(_ timetable: inout Timetable) {
        if let sweep { timetable.closeScan(sweep) }
        sweep = nil
        snapshot += 1
        revisionBeforeSnapshot = timetable.revision
    }

    private mutating func abandonFlight(of key: Key, wasSent: Bool) {
        guard var entry = keys[key], let flight = entry.flight else { return }
        var returned: [MemberCall] = []
        for step in flight.steps {
            for (call, _) in step.calls {
                if step.isChange, wasSent || flight.isResent {
                    finish(call, .unknown("the log of the fleet does not show whether the change was made"))
                } else {
                    returned.append(call)
                }
            }
        }
        entry.flight = nil
        entry.putBack(returned)
        keys[key] = entry.isEmpty ? nil : entry
    }

    private mutating func trim(_ timetable: inout Timetable) {
        timetable.trimHistory()
        output.endsWatches = true
    }

    /// Cancels the countdowns that a complete snapshot does not hold.
    mutating func finishSnapshot(_ timetable: inout Timetable, at now: Now, budget: inout Int) {
        guard cursor.isSnapshotRead else { return }
        let scan = sweep ?? timetable.openScan(live: .oldest, ended: .nowhere)
        sweep = scan
        var absent: [Key] = []
        var isSwept = false
        let progress = timetable.scan(scan, budget: &budget) { timetable, slot in
            // The snapshot, or the log after it, has every countdown that has changed since.
            isSwept = timetable.revision(at: slot) > revisionBeforeSnapshot
            let key = timetable.key(at: slot)
            if !isSwept, records[key]?.snapshot != snapshot { absent.append(key) }
            return !isSwept
        }
        for key in absent {
            output.changes += timetable.applyRemote(.absent(key), at: now)
            remove(key)
        }
        guard isSwept || progress != .more else { return }
        timetable.closeScan(scan)
        sweep = nil
        cursor.finishSnapshot()
        trim(&timetable)
        becomeLive()
    }
}

extension LogEntry {
    /// Whether it is a change of a run.
    fileprivate func continues(_ run: ProposalID) -> Bool { (try? Record(self))?.run == run }
}
