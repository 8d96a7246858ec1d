public import CountdownCore

/// A member of a fleet, as its host sees the fleet: the records that it knows, the log that it follows, and the calls of its clients that
/// wait for the engine. A state machine without I/O.
///
/// In a turn, the caller expires countdowns, hands in events of the stream and answers (`receive`) and calls (`call`), lets the
/// member decide (`serve`), sends the proposals (`takeProposals`), and takes the output (`takeOutput`). The output has changes that
/// are applied already, to be stored together with the cursor and published, and results of calls, to be sent once the changes
/// are stored.
///
/// `Now.wall` is the engine's time in everything that the member and its timetable are given.
public struct Member: Sendable {
    /// The constants of a fleet.
    public struct Options: Sendable {
        /// No countdown changes in this time before its deadline, so that no host announces an end that another one has postponed.
        public var margin = Duration.milliseconds(50)
        /// A call has its result after this time at the latest.
        public var patience = Duration.seconds(2)
        /// How long a host whose queue was served last lets other hosts go first.
        public var pauseAfterWin = Duration.milliseconds(20)
        /// How long a version above the cursor may stay away before the log is read again.
        public var gapPatience = Duration.milliseconds(100)
        /// Whether a change counts only if replicas have acknowledged it.
        public var needsAcknowledgements = false
        /// Proposals in one call to the engine, and in a chain.
        public var proposalsAtOnce = 64
        /// Calls without a result, those in queues not counted.
        public var calls = 65_536
        /// The memory of these calls, in bytes.
        public var callBytes = 64 * 1_024 * 1_024
        /// Whether no call is answered from the countdowns that this host knows while the engine cannot be reached.
        public var refusesWithoutEngine = false

        /// The defaults.
        public init() {}
    }

    /// The results of a member since its output was taken.
    public struct Output: Sendable {
        /// Changes in their order. They are applied, and remain even if the store fails.
        public var changes: [Change] = []
        /// Results of calls by their numbers.
        public var results: [(number: Int, result: CallResult)] = []
        /// The stream that is needed from now on; nil if the present one is.
        public var opening: LogCursor.Opening?
        /// Whether the history was trimmed, so that open watches must end with `HistoryTrimmed`.
        public var endsWatches = false
        /// Events for the log of the daemon.
        public var notes: [Note] = []
        /// Records to be written together with the cursor and the changes, in this order.
        public var records: [RecordChange] = []
    }

    /// A change of the stored records.
    public enum RecordChange: Equatable, Sendable {
        /// Writes a record, in the place of the one under the key.
        case set(Key, HeldRecord)
        /// Removes a record.
        case remove(Key)
    }

    /// An event for the log of the daemon.
    public enum Note: Equatable, Sendable {
        /// A snapshot is read.
        case snapshot(LogCursor.SnapshotReason)
        /// The log is followed.
        case live
        /// The stream was lost; the reason in words.
        case lost(String)
        /// A record cannot be used; its key cannot be changed here.
        case unusable(Key, RecordFault)
        /// A countdown was postponed elsewhere, and this host had announced its end already.
        case postponedTooLate(Key)
        /// The engine has lost unanswered changes that were followed here, and they are taken back; their number.
        case takenBack(Int)
    }

    /// The constants of the fleet.
    public var options: Options
    let host: HostID
    var random: any RandomNumberGenerator & Sendable
    var lastProposal: UInt64 = 0

    /// How far the log is known.
    public internal(set) var cursor: LogCursor
    /// The records that are known here.
    public internal(set) var records: HeldRecords
    var snapshot = 0
    /// The revision of the timetable when the snapshot began.
    var revisionBeforeSnapshot = Revision(0)
    /// The records that were seen in this snapshot or an earlier one are not in the store any more.
    var lostSnapshot = -1
    /// Visits the countdowns that may have to be cancelled after a snapshot.
    var sweep: ScanID?

    var keys: [Key: KeyCalls] = [:]
    var marked: [Key] = []
    private var wakeUps = WakeUps()
    /// When calls expire, in the order of the instants; those before the index have expired.
    private var expiries: [(instant: BootInstant, key: Key)] = []
    private var expired = 0
    /// The keys whose chains are to be sent.
    var unsent: [Key] = []
    /// The keys whose answered chains wait for the log, or are to be sent again.
    var unsettled: Set<Key> = []
    /// The entries to which the cursor has not come: changes that this host has won, which the stream may leave out, and
    /// entries of the stream that follow such a change. Sorted by version.
    var ahead: [LogEntry] = []
    /// The newest version that is known of, until the cursor has come to it.
    var awaited: LogVersion?
    /// Since when there has been one.
    var gapSince: WallInstant?
    /// The entries whose log has another history, as far as they are not found in it again.
    var tail: [LogCursor.Past] = []
    /// The offset of the engine's clock in the last turn.
    private var clockOffset: Duration?
    var output = Output()
    /// Why the stream was lost, in words.
    public internal(set) var lostReason = "the bridge is not connected yet"

    /// The number of calls without a result that expire, and their bytes.
    private var expiringCalls = 0
    private var callBytes = 0
    /// The number of starts that wait until their keys are free. The caller bounds their memory.
    public private(set) var queuedCalls = 0

    /// The number of calls without a result.
    public var calls: Int { expiringCalls + queuedCalls }

    /// The position to store with the applied changes; nil while the records here are not those at the position.
    public var stored: LogCursor.Position? { tail.isEmpty ? cursor.stored : nil }

    /// Whether the engine is known to have changes that are not known here.
    public var lacksChanges: Bool { gapSince != nil || cursor.isFillingGap }

    /// A member at a stored position, or a new one.
    ///
    /// - Parameters:
    ///   - host: drawn anew at each start of the daemon.
    ///   - random: for the pauses after conflicts.
    ///   - options: the constants of the fleet.
    ///   - position: the stored cursor; nil if there is none.
    ///   - records: the stored records; without a position they mean nothing.
    public init(
        host: HostID,
        random: any RandomNumberGenerator & Sendable,
        options: Options = Options(),
        position: LogCursor.Position? = nil,
        records: HeldRecords = HeldRecords()
    ) {
        self.records = position == nil ? HeldRecords() : records
        self.host = host
        self.random = random
        self.options = options
        cursor = LogCursor(at: position)
        isKnown = position != nil
    }

    /// Takes the output.
    public mutating func takeOutput() -> Output {
        defer { output = Output() }
        return output
    }

    /// Whether another stream is asked for in the output, so that events of the present one are to be discarded.
    public var wantsStream: Bool { output.opening != nil }

    /// Whether the countdowns in the timetable were the fleet's countdowns at some time.
    var isKnown: Bool

    /// Why calls about countdowns cannot be answered now, as a sentence; nil if the timetable has the answers.
    public var silenceReason: String? {
        guard cursor.hasStream || isKnown else { return unreachableReason }
        guard isKnown else { return "the countdowns of the fleet are not known yet" }
        return cursor.isLive || !options.refusesWithoutEngine ? nil : unreachableReason
    }

    /// When the log must be read because the stream has not come to the awaited version.
    private var gapEnd: WallInstant? { cursor.isLive ? gapSince.map { $0 + options.gapPatience } : nil }

    /// When `serve` must be called next, by the engine's clock; nil if only an event can change anything.
    public func next(at now: Now) -> WallInstant? {
        guard marked.isEmpty, !cursor.isSnapshotRead else { return now.wall }
        var next = earliest(wakeUps.next, gapEnd)
        if expired < expiries.count { next = earliest(next, now.wall(of: expiries[expired].instant)) }
        return next
    }
}

// MARK: Calls

extension Member {
    /// Accepts a call; `serve` decides it. If there are too many calls, it has its result at once.
    public mutating func call(_ number: Int, _ request: Request, at now: Now) {
        let expires = now.boot + options.patience
        let call = MemberCall(number: number, request: request, expires: expires)
        guard expiringCalls < options.calls, callBytes + call.size <= options.callBytes else {
            return output.results.append((number, .notMade("too many calls wait for the engine")))
        }
        expiringCalls += 1
        callBytes += call.size
        expiries.append((expires, request.key))
        keys[request.key, default: KeyCalls()].pending.append(call)
        mark(request.key)
    }

    /// Removes a call whose client is gone. If it is in flight, its proposal continues, and it will still have a result.
    public mutating func withdraw(_ number: Int, of key: Key) {
        guard var entry = keys[key] else { return }
        for call in (entry.pending + entry.queue) where call.number == number { forget(call) }
        entry.pending.removeAll { $0.number == number }
        entry.waiting = nil
        entry.queue.withdraw(number)
        keys[key] = entry.isEmpty ? nil : entry
        mark(key)
    }

    mutating func finish(_ call: MemberCall, _ result: CallResult) {
        forget(call)
        output.results.append((call.number, result))
    }

    private mutating func forget(_ call: MemberCall) {
        if call.expires == nil { queuedCalls -= 1 } else { stopExpiring(call) }
    }

    /// Once no call can expire, `next` no longer returns the instants of calls that have their results.
    private mutating func stopExpiring(_ call: MemberCall) {
        expiringCalls -= 1
        callBytes -= call.size
        guard expiringCalls == 0 else { return }
        expiries = []
        expired = 0
    }

    mutating func mark(_ key: Key) {
        guard keys[key]?.isMarked == false else { return }
        keys[key]?.isMarked = true
        marked.append(key)
    }

    mutating func wake(_ key: Key, at instant: WallInstant?) {
        if let instant { wakeUps.set(instant, for: key) }
    }
}

// MARK: A turn

extension Member {
    /// Decides the calls whose time has come, and carries on with a snapshot.
    ///
    /// - Parameters:
    ///   - timetable: has the countdowns. Those that are due were expired.
    ///   - now: this instant.
    ///   - budget: how many keys and countdowns at most; less the number that was looked at afterwards. If it is used up, `next`
    ///     returns this instant.
    public mutating func serve(_ timetable: inout Timetable, at now: Now, budget: inout Int) {
        followClock(at: now)
        expireCalls(timetable, at: now)
        finishSnapshot(&timetable, at: now, budget: &budget)
        if let gapEnd, gapEnd <= now.wall { fillGap(&timetable) }
        while let key = wakeUps.takeDue(at: now.wall) { mark(key) }
        let served = min(max(0, budget), marked.count)
        budget -= served
        for key in marked.prefix(served) { serve(key, &timetable, at: now) }
        marked.removeFirst(served)
        output.records += records.removeDue(at: now.wall, budget: &budget) { keys[$0] != nil }.map(RecordChange.remove)
    }

    /// After a step of the engine's clock, the instants for which keys wait are invalid.
    private mutating func followClock(at now: Now) {
        defer { clockOffset = now.offset }
        guard let clockOffset, (now.offset - clockOffset).microseconds.magnitude > options.margin.microseconds else {
            return
        }
        if gapSince != nil { gapSince = now.wall }
        for key in keys.keys {
            keys[key]?.notBefore = nil
            if keys[key]?.flight?.resend != nil { keys[key]?.flight?.resend = now.wall }
            mark(key)
        }
    }

    private mutating func serve(_ key: Key, _ timetable: inout Timetable, at now: Now) {
        guard var entry = keys.removeValue(forKey: key) else { return }
        entry.isMarked = false
        serve(&entry, key, &timetable, at: now)
        if !entry.isEmpty { keys[key] = entry }
    }

    private mutating func serve(_ entry: inout KeyCalls, _ key: Key, _ timetable: inout Timetable, at now: Now) {
        guard cursor.isLive else { return serveWithoutEngine(&entry, timetable, at: now) }
        if let resend = entry.flight?.resend {
            guard resend <= now.wall else { return wake(key, at: resend) }
            return send(&entry, key)
        }
        guard entry.flight == nil else { return }
        if entry.isLost, ask(&entry, key, at: now) { return }
        if let notBefore = entry.notBefore {
            guard notBefore <= now.wall else { return wake(key, at: notBefore) }
            entry.notBefore = nil
        }
        let steps = decide(&entry, key, &timetable, at: now)
        guard !steps.isEmpty else { return }
        entry.flight = Flight(steps: steps)
        unsent.append(key)
    }

    private mutating func serveWithoutEngine(_ entry: inout KeyCalls, _ timetable: borrowing Timetable, at now: Now) {
        if cursor.isPrefix, !options.refusesWithoutEngine {
            answerFromCache(&entry, timetable, at: now) { _ in true }
        } else if !cursor.hasStream {
            refusePending(of: &entry) { _ in true }
        }
    }

    /// Answers calls from the countdowns that are known here, without the engine: changes are not made.
    private mutating func answerFromCache(
        _ entry: inout KeyCalls,
        _ timetable: borrowing Timetable,
        at now: Now,
        _ isOver: (MemberCall) -> Bool
    ) {
        var rest: [MemberCall] = []
        let reason = cursor.isLive ? lateReason(of: entry) : unreachableReason
        for call in entry.pending {
            guard isOver(call) else {
                rest.append(call)
                continue
            }
            do throws(Refusal) {
                switch try timetable.decide(call.request, at: now, queued: entry.queue.count) {
                case .attached(let countdown): finish(call, withoutEngine(.attached(countdown), reason))
                case .wait: enqueue(call, in: &entry)
                case .change: finish(call, .notMade(reason))
                }
            } catch {
                finish(call, withoutEngine(.refused(error), reason))
            }
        }
        (entry.pending, entry.waiting) = (rest, nil)
    }

    /// The result of a call that changes nothing, if the engine does not confirm it. Only a live countdown is known well enough:
    /// any other key may be live elsewhere.
    func withoutEngine(_ result: CallResult, _ reason: String) -> CallResult {
        switch result {
        case .refused(.noSuchCountdown), .refused(.wrongState), .refused(.revisionMismatch): .notMade(reason)
        case .attached, .refused: options.refusesWithoutEngine ? .notMade(reason) : result
        case .changed, .notMade, .unknown: result
        }
    }

    private var lateReason: String { "the fleet's engine has not answered in time" }

    /// Why a call of a key was not decided in time.
    private func lateReason(of entry: KeyCalls) -> String {
        guard entry.isWithinMargin, entry.flight == nil else { return lateReason }
        let margin = options.margin.microseconds / 1_000
        return "the countdown ends within the margin: it is not changed in its last \(margin) ms"
    }

    private var unreachableReason: String { "the fleet's engine cannot be reached: \(lostReason)" }

    /// Refuses calls because the countdowns are not known now.
    private mutating func refusePending(of entry: inout KeyCalls, _ isOver: (MemberCall) -> Bool) {
        let reason = silenceReason ?? "the countdowns of the fleet are being read again"
        for call in entry.pending where isOver(call) { finish(call, .notMade(reason)) }
        entry.pending.removeAll(where: isOver)
        entry.waiting = nil
    }

    mutating func enqueue(_ call: MemberCall, in entry: inout KeyCalls) {
        stopExpiring(call)
        queuedCalls += 1
        var call = call
        call.expires = nil
        entry.queue.enqueue(call)
    }

    /// Gives calls that have waited for too long their results.
    private mutating func expireCalls(_ timetable: borrowing Timetable, at now: Now) {
        var keysWithExpired: Set<Key> = []
        while expired < expiries.count, expiries[expired].instant <= now.boot {
            keysWithExpired.insert(expiries[expired].key)
            expired += 1
        }
        if expired > 4_096 {
            expiries.removeFirst(expired)
            expired = 0
        }
        for key in keysWithExpired {
            guard var entry = keys.removeValue(forKey: key) else { continue }
            let isOver = { (call: MemberCall) in call.expires.map { $0 <= now.boot } ?? false }
            if cursor.isPrefix {
                answerFromCache(&entry, timetable, at: now, isOver)
            } else {
                refusePending(of: &entry, isOver)
            }
            expireFlight(of: &entry, isOver)
            if !entry.isEmpty { keys[key] = entry }
        }
    }

    private mutating func expireFlight(of entry: inout KeyCalls, _ isOver: (MemberCall) -> Bool) {
        // A decision on a change without an answer is as unknown as the change.
        var isUnknown = false
        for index in entry.flight?.steps.indices ?? 0..<0 {
            isUnknown = isUnknown || entry.flight?.steps[index].isChange == true
            for (call, decision) in entry.flight?.steps[index].calls ?? [] where isOver(call) {
                let result = isUnknown ? nil : decision.result(on: nil)
                finish(call, result.map { withoutEngine($0, lateReason) } ?? .unknown(lateReason))
            }
            entry.flight?.steps[index].calls.removeAll { isOver($0.call) }
        }
    }
}
