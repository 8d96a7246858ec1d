import CountdownCore
import Varlink

/// `Watch`: a snapshot, in parts, and then events.
extension Daemon {
    func beginWatch(_ request: WatchRequest, of connection: Connection, at now: Now) throws {
        if let refusal = refusal(of: request) { throw refusal }
        try keep(request.selection, tables: request.tick == nil ? 1 : 2, for: connection)
        publisher.watchers.add(connection.watcher, following: request.selection, every: request.tick)
        connection.lastDelivery = now.boot
        if let interval = request.heartbeat { publisher.heartbeats.add(connection.token, at: now.boot + interval) }
        let missedStep = request.since.flatMap { since in stepRevision.map { since <= $0 } } ?? false
        let sendsOlder = missedStep || request.since == nil
        let base = request.since ?? timetable.revision
        let cursor = WatchCursor(request: request, base: base, sendsOlder: sendsOlder)
        connection.unfinishedReply = .watching(cursor)
        connections.withScans.append(connection)
    }

    private func refusal(of request: WatchRequest) -> (any ReplyError)? {
        if let since = request.since, !timetable.canResume(after: since) {
            return translation.historyTrimmed(oldest: timetable.oldestRevision)
        }
        if publisher.watchers.patternSteps(with: request.selection) > limits.matchStepsInAll {
            return translation.limitReached("matchStepsInAll", limits.matchStepsInAll)
        }
        guard let tick = request.tick, !publisher.watchers.hasTicks(every: tick) else { return nil }
        if publisher.watchers.intervals >= limits.tickIntervals {
            return translation.limitReached("tickIntervals", limits.tickIntervals)
        }
        return publisher.watchers.hasFreePlaces ? nil : translation.limitReached("tickPlaces", limits.tickPlaces)
    }

    /// Sends the next part, as much as the turn allows.
    func scan(_ cursor: WatchCursor, of connection: Connection, _ turn: inout Turn) {
        var cursor = cursor
        switch cursor.snapshot {
        case .pending: beginSnapshot(&cursor, of: connection, &turn)
        case .scanning(let scan): continueSnapshot(scan, &cursor, of: connection, &turn)
        case .complete: resendAfterClockStep(&cursor, of: connection, &turn)
        }
        guard connection.isBusy else { return }
        connection.unfinishedReply = .watching(cursor)
        if cursor.needsScan { connections.withScans.append(connection) }
    }

    // MARK: The snapshot

    private func beginSnapshot(_ cursor: inout WatchCursor, of connection: Connection, _ turn: inout Turn) {
        let request = cursor.request
        if request.since == nil { cursor.base = timetable.revision }
        // A countdown that is not sent has to tick all the same.
        let visitsOlder = cursor.sendsOlder || request.tick != nil
        var live: Scan.StartPoint = visitsOlder ? .oldest : .after(cursor.base)
        if visitsOlder, let slots = slotsAtOnce(of: request.selection, &turn) {
            for slot in slots where timetable[slot].revision <= cursor.base {
                visit(slot, timetable[slot], cursor, of: connection, at: turn.now)
            }
            live = .after(cursor.base)
        }
        let scan = timetable.openScan(live: live, ended: .after(cursor.base))
        cursor.snapshot = .scanning(scan)
        continueSnapshot(scan, &cursor, of: connection, &turn)
    }

    private func continueSnapshot(
        _ scan: ScanID,
        _ cursor: inout WatchCursor,
        of connection: Connection,
        _ turn: inout Turn
    ) {
        let (now, current) = (turn.now, cursor)
        let progress = continueScan(scan, for: current.request.selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            if current.request.selection.contains(countdown.key) {
                visit(slot, countdown, current, of: connection, at: now)
            }
            return connection.buffers.unsent <= limits.pageBytes
        }
        switch progress {
        case .more: return
        case .atEnd:
            timetable.closeScan(scan)
            cursor.snapshot = .complete
            deliver(.synced(timetable.revision), to: connection, at: now)
            publisher.watchers.open(connection.watcher, at: now)
        case .missed:
            timetable.closeScan(scan)
            missEnds(cursor, of: connection)
        }
    }

    /// Ends a watch if so many ends came while it read the state that not all of them could be held for it.
    ///
    /// `HistoryTrimmed` advises a watch without `since`, so a watch that had none gets the name of the exceeded limit.
    private func missEnds(_ cursor: WatchCursor, of connection: Connection) {
        let error =
            cursor.request.since == nil
            ? translation.limitReached("endsHeldForWatches", limits.endsHeldForWatches)
            : translation.historyTrimmed(oldest: timetable.oldestRevision)
        finishReply(of: connection) { $0.fail(error) }
    }

    /// Sends a countdown of the snapshot, if the watcher does not know it, and lets it tick.
    private func visit(
        _ slot: Slot,
        _ countdown: KeyedCountdown,
        _ cursor: WatchCursor,
        of connection: Connection,
        at now: Now
    ) {
        if countdown.isLive { publisher.watchers.schedule(slot, countdown, for: connection.watcher, at: now) }
        let isOlder = countdown.revision <= cursor.base
        if !isOlder || cursor.request.since == nil {
            counters.events += 1
            deliver(.current(countdown), to: connection, at: now)
        } else if cursor.sendsOlder {
            resend(countdown, to: connection, at: now)
        }
    }

    // MARK: After the system clock was set

    private func resendAfterClockStep(_ cursor: inout WatchCursor, of connection: Connection, _ turn: inout Turn) {
        switch cursor.clockResend {
        case .idle: return
        case .pending:
            cursor.clockResend = .idle
            if let slots = slotsAtOnce(of: cursor.request.selection, &turn) {
                for slot in slots { resend(timetable[slot], to: connection, at: turn.now) }
            } else {
                let scan = timetable.openScan(live: .oldest, ended: .nowhere)
                cursor.clockResend = .scanning(scan, upTo: timetable.revision)
            }
        case .scanning(let scan, let upTo):
            guard continueResend(scan, upTo, cursor.request.selection, of: connection, &turn) else { return }
            timetable.closeScan(scan)
            cursor.clockResend = .idle
        }
    }

    /// - Returns: whether all countdowns up to the revision were sent.
    private func continueResend(
        _ scan: ScanID,
        _ last: Revision,
        _ selection: Selection,
        of connection: Connection,
        _ turn: inout Turn
    ) -> Bool {
        let now = turn.now
        var hasPassedLast = false
        let progress = continueScan(scan, for: selection, &turn) { timetable, slot in
            let countdown = timetable[slot]
            hasPassedLast = countdown.revision > last
            guard !hasPassedLast else { return false }
            if selection.contains(countdown.key) { resend(countdown, to: connection, at: now) }
            return connection.buffers.unsent <= limits.pageBytes
        }
        return hasPassedLast || progress != .more
    }

    private func resend(_ countdown: KeyedCountdown, to connection: Connection, at now: Now) {
        counters.events += 1
        deliver(.clockWasSet(countdown), to: connection, at: now)
    }

    /// The live countdowns of a few keys, in the order of their revisions; nil if they have to be scanned for.
    private func slotsAtOnce(of selection: Selection, _ turn: inout Turn) -> [Slot]? {
        guard selection.hasKeysAlone else { return nil }
        turn.entriesLeft -= selection.keys.count
        return selection.keys.compactMap { timetable.slot(under: $0) }.filter { timetable[$0].isLive }
            .sorted { timetable[$0].revision < timetable[$1].revision }
    }
}

/// Events on their way into the connections.
extension Daemon {
    /// Delivers the changes of the turn.
    func publish(_ turn: borrowing Turn) {
        publisher.publish(turn.changes.steps, of: timetable, at: turn.now) { id, batch in
            guard let connection = connections[UInt64(id.number)] else { return }
            counters.events += batch.count
            deliver(batch, to: connection, at: turn.now)
        } end: { connection, countdown in
            finishReply(of: connection) { $0.reply { translation.write(countdown, at: turn.now, into: &$0) } }
        }
    }

    /// Delivers the ticks that are due. A client that has not read its earlier events gets none.
    func publishTicks(_ turn: inout Turn) {
        let now = turn.now
        publisher.publishTicks(of: timetable, limit: &turn.ticksLeft, at: now) { id, batch in
            guard let connection = connections[UInt64(id.number)], !connection.isBlocked else { return }
            counters.ticks += batch.count
            deliver(batch, to: connection, at: now)
        }
        if turn.ticksLeft == 0 { turn.isCutShort = true }
    }

    /// Delivers a heartbeat to each watcher that asked for them and got no event for as long.
    func publishHeartbeats(_ turn: borrowing Turn) {
        let now = turn.now
        while let token = publisher.heartbeats.takeDue(at: now.boot) {
            guard let connection = connections[token], case .watching(let cursor) = connection.unfinishedReply,
                let interval = cursor.request.heartbeat
            else { continue }
            if connection.lastDelivery + interval <= now.boot, cursor.isSynced, !connection.isBlocked {
                deliver(.heartbeat(timetable.revision), to: connection, at: now)
            }
            let next = Heartbeats.next(after: connection.lastDelivery, every: interval, at: now.boot)
            publisher.heartbeats.add(token, at: next)
        }
    }

    /// Delivers an event to one watcher.
    func deliver(_ event: DeliveredEvent, to connection: Connection, at now: Now) {
        publisher.encode(event, at: now) { deliver($0, to: connection, at: now) }
    }

    /// Puts a batch into the reply that a watcher gets at the end of the turn, or before if it is full.
    private func deliver(_ batch: borrowing EventBatch, to connection: Connection, at now: Now) {
        guard connection.condition == .open else { return }
        connections.dirty.append(connection)
        guard connection.deliver(batch.events, at: now, pageBytes: limits.pageBytes) else { return }
        notePage(for: connection, at: now)
    }
}
