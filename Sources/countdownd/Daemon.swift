import CountdownCore
import Glibc
import System
import Varlink

/// The owner of all state. Everything happens on the thread of its event loop, one turn after the other.
///
/// A turn expires countdowns that are due, carries out calls, stores the changes, replies, publishes events and arms
/// the timer. No step waits for anything. The steps stand in the files beside this one.
actor Daemon {
    private let eventLoop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe eventLoop.asUnownedSerialExecutor() }

    let limits: Limits
    let options: Options
    var log: Log
    let translation: Translation

    var timetable: Timetable
    var publisher: Publisher
    var startQueue = StartQueue()
    var storage: RetryingStore
    /// Nil if the countdowns are not shared.
    var fleet: FleetMember?

    var clocks: Clocks
    var timer: Timer
    var poller: Poller
    var busyPoll = BusyPoll()
    /// Whether the last turn left no work for the next one.
    private var isDone = true
    let clockChanges: ClockChangeMonitor
    let signals: SignalDescriptor
    var listener: Listener
    /// When to accept connections again, if none is closed before; nil if they are accepted now. Others stay in the listen queue.
    var acceptsAgain: BootInstant?
    /// When to look whether the file of our own socket is there; nil if the system reports it.
    var nextLook: BootInstant?
    var reserve = DescriptorReserve()
    var statusReporter: ServiceStatusReporter
    var rateLimitedLog: RateLimitedLog<LogTopic>

    var connections = ConnectionTable()
    /// The newest revision when the system clock was set last. A watcher that resumes from this revision or an earlier
    /// one does not know of the clock step.
    var stepRevision: Revision?
    /// The number of changes that the next turn reserves memory for.
    var expectedChanges = 0
    /// A clock step that the next turn has to store.
    var clockStep: ClockStep?

    var counters = Counters()
    /// How late countdowns ended whose deadline came while the daemon ran.
    var lateness = DurationHistogram()
    let started: Now
    var receiveBuffer: [UInt8]

    /// The tokens of descriptors that are no connections. The tokens of connections are greater.
    enum Token {
        static let listener: UInt64 = 1
        static let clockChanges: UInt64 = 2
        static let signals: UInt64 = 3
        static let eventLoop: UInt64 = 4
        static let socketFile: UInt64 = 5
        /// The first of the tokens of connections to the bridge.
        static let backend: UInt64 = 16
    }

    /// Opens the store first and the socket last, so that a second daemon on the same store is refused before it
    /// touches a socket.
    ///
    /// Nothing is served before `run`.
    init(
        options: Options,
        log: Log,
        serviceManager: ServiceManager,
        signals: consuming SignalDescriptor,
        storage: consuming RetryingStore,
        time: TimeSource = .system,
        listen: () throws -> Listener
    ) throws {
        eventLoop = try EventLoop()
        self.options = options
        limits = options.limits
        self.log = log
        translation = Translation(limits: limits)
        publisher = Publisher(translation: translation)
        clockChanges = try ClockChangeMonitor()
        self.signals = signals
        var clocks = Clocks(time, followsEngine: options.backend != nil)
        let now = clocks.now().now
        started = now
        if let opened = try storage.open(at: now) {
            if let offset = opened.offset { clocks.hold(offset) }
            stepRevision = opened.stepRevision
            fleet = Self.joinFleet(options, opened.fleet, at: now)
            timetable = opened.timetable
        } else {
            // Nothing can be changed: no revision is used before the content of the store is known.
            timetable = Timetable(limits: limits, revision: Revision(0))
        }
        self.clocks = clocks
        self.storage = storage
        listener = try listen()
        statusReporter = ServiceStatusReporter(serviceManager: serviceManager, at: now)
        rateLimitedLog = RateLimitedLog(lines: limits.logLines, spanUSec: limits.logSpan.microseconds)
        receiveBuffer = [UInt8](repeating: 0, count: limits.readBytesInTurn)
        poller = try Poller()
        timer = Timer(time) { [eventLoop] in eventLoop.wakeUp() }
        guard reserve.fill() else { throw SystemFailure("fcntl") }
    }

    /// Serves on the calling thread, until a signal ends the process.
    nonisolated func run() -> Never {
        eventLoop.adoptThread()
        assumeIsolated { $0.begin() }
        while true { eventLoop.run(assumeIsolated { $0.serve() }) }
    }

    private func begin() {
        let now = readClocks([])
        watchSocketFile(at: now)
        do throws(SystemFailure) {
            try pollListener()
            try poller.add(clockChanges.descriptor, token: Token.clockChanges)
            try poller.add(signals.descriptor, token: Token.signals)
            try poller.add(eventLoop.descriptor, token: Token.eventLoop)
        } catch {
            fail(error)
        }
        listenAgain(at: now)
        statusReporter.becomeReady(statusLine(at: now), at: now)
        log.write(.info, "ready")
        isDone = turn([])
    }

    /// Iterates until there are jobs for the actor, which run after it is left. To enter it takes a thousand instructions.
    private func serve() -> [UnownedJob] {
        while true {
            let jobs = iterate()
            if !jobs.isEmpty { return jobs }
        }
    }

    /// One iteration of the loop: sleeps if there is nothing to do, then does one turn.
    ///
    /// - Returns: jobs for the actor, which run after it is left.
    private func iterate() -> [UnownedJob] {
        var ready = poller.poll()
        if isDone, ready.isEmpty {
            if busyPoll.isWorthwhile {
                ready = poller.spin()
                busyPoll.stop()
            }
            if ready.isEmpty {
                if cleanUp() { return [] }
                ready = poller.wait(for: timer.timeLeft(at: clocks.heldTime))
                counters.wakeUps += 1
            }
        }
        var jobs: [UnownedJob] = []
        if ready.contains(where: { $0.token == Token.eventLoop }) {
            jobs = eventLoop.takeJobs()
            // The alarm of the timer comes early.
            if isDone, jobs.isEmpty, ready.count == 1, let rest = timer.timeLeft(at: clocks.heldTime) {
                ready = poller.wait(for: rest)
            }
        }
        if isDone, ready.isEmpty { while timer.isImminent(at: clocks.heldTime) {} }
        isDone = turn(ready)
        return jobs
    }

    /// Does a part of the background cleanup, unless a deadline or an answer of the engine is near.
    /// - Returns: whether more is left, or a turn has to follow.
    private func cleanUp() -> Bool {
        guard fleet?.link.proposalsInFlight ?? 0 == 0 else { return false }
        guard !timer.fires(within: .milliseconds(10), of: clocks.heldTime) else { return false }
        let remainder = storage.work(&timetable, fleet: fleet?.stored, at: clocks.now().now)
        isDone = remainder != .lostFiles
        return remainder != .nothing
    }

    /// One turn.
    /// - Returns: whether no work is left for the next turn.
    private func turn(_ ready: [Readiness]) -> Bool {
        counters.turns += 1
        let now = retryStorage(at: readClocks(ready))
        var turn = Turn(at: now, limits: limits, patternSteps: publisher.watchers.patternSteps, clockStep: clockStep)
        clockStep = nil
        turn.hasQueuedStarts = !startQueue.isEmpty
        turn.expect(changes: expectedChanges)
        if !storage.isOpen { turn.openFailure = storage.failure }
        receive(ready, at: now)
        // Until then what is due stays due, and calls that change something are refused.
        let givesRevisions = storage.givesRevisions
        if givesRevisions {
            expireDue(&turn)
            followFleet(&turn)
            serveQueue(&turn)
        }
        answerCalls(&turn)
        if givesRevisions { propose(&turn) }
        commitOrUndo(&turn)
        releaseHeldUp(turn)
        publish(turn)
        answerWaitingCalls(turn)
        publishTicks(&turn)
        publishHeartbeats(turn)
        scan(&turn)
        trim(&turn)
        counters.note(turn, of: limits)
        expectedChanges = max(turn.changes.steps.count, expectedChanges / 2)
        sendAll(at: now)
        let statusLine = statusLine(at: now)
        statusReporter.report(statusLine, at: now)
        rateLimitedLog.summarize(to: log, at: now.boot.microseconds)
        arm(after: turn, statusLine.next)
        return !turn.isCutShort && !connections.hasQueuedWork && startQueue.markedCount == 0
    }

    private func statusLine(at now: Now) -> ServiceStatusReporter.StatusLine {
        ServiceStatusReporter.StatusLine(
            running: timetable.runningCount,
            next: timetable.nextDeadline(at: now),
            trouble: storage.failure?.reason,
            loss: fleet?.engineWatch.loss
        )
    }

    /// Arms the timer for the earliest of all instants at which something is due.
    private func arm(after turn: borrowing Turn, _ deadline: WallInstant?) {
        let now = turn.now
        var next = earliest(publisher.heartbeats.next, storage.next)
        next = earliest(earliest(next, acceptsAgain), nextLook)
        next = earliest(next, statusReporter.next)
        next = earliest(next, rateLimitedLog.next.map(BootInstant.init))
        var end = storage.givesRevisions ? earliest(deadline, startQueue.next(at: now)) : nil
        // Not mapped: the runtime checks that a closure of the actor runs on its thread.
        if let soonest = end { end = soonest + options.leeway }
        var wall = earliest(end, next.map(now.wall(of:)))
        wall = earliest(wall, publisher.watchers.nextTick(at: now))
        wall = earliest(wall, fleet?.next(at: now))
        if let instant = wall { wall = clocks.systemTime(at: instant) }
        timer.arm(at: wall, now: clocks.systemTime(at: now.wall))
        busyPoll.note(at: now.boot, calls: turn.calls)
    }
}

/// How a turn begins and ends.
extension Daemon {
    /// Reads the clocks, and notices if the system clock was set.
    func readClocks(_ ready: [Readiness]) -> Now {
        if ready.contains(where: { $0.token == Token.clockChanges }) { clockChanges.arm() }
        let (now, step) = clocks.now()
        if let step { clockWasSet(by: step, at: now) }
        return now
    }

    private func clockWasSet(by step: Duration, at now: Now) {
        counters.clockSteps += 1
        let (clock, level): (String, Log.Level) =
            fleet == nil ? ("the system clock", .notice) : ("the clock of the fleet's engine", .error)
        let sentence = "\(clock) was set by \(step.microseconds / 1_000) ms"
        log.write(level, sentence, fields: ["STEP_USEC": "\(step.microseconds)"])
        timetable.clockWasSet(by: step, at: now)
        stepRevision = timetable.revision
        clockStep = ClockStep(offset: now.offset, revision: timetable.revision)
        publisher.watchers.clockWasSet(at: now)
        for connection in connections.all {
            guard case .watching(var cursor) = connection.unfinishedReply else { continue }
            // The scan after an earlier clock step is of no use any more.
            if case .scanning(let scan, _) = cursor.clockResend { timetable.closeScan(scan) }
            cursor.clockResend = .pending
            connection.unfinishedReply = .watching(cursor)
            connections.withScans.append(connection)
        }
    }

    /// Accepts connections and reads calls.
    func receive(_ ready: [Readiness], at now: Now) {
        acceptAgain(at: now)
        lookAtSocketFile(at: now)
        for readiness in ready {
            switch readiness.token {
            case Token.listener: acceptAll(at: now)
            case Token.signals: stop()
            case Token.clockChanges, Token.eventLoop: break
            case Token.socketFile: listenAgain(at: now)
            case Token.backend..<Token.backend + BridgeLink.tokens:
                fleet?.link.exchange(readiness, into: &receiveBuffer)
            default: if let connection = connections[readiness.token] { receive(from: connection, readiness, at: now) }
            }
        }
    }

    // MARK: The end

    /// Ends the process in order. The next start will find all stored changes.
    private func stop() {
        log.write(.info, "stopping")
        statusReporter.stop()
        storage.close(timetable, at: clocks.now().now)
        listener.removeFile()
        exit(EXIT_SUCCESS)
    }

    /// Ends the process after an error that nothing can be done about.
    func fail(_ failure: SystemFailure) -> Never {
        log.write(.error, "\(failure)")
        exit(EXIT_FAILURE)
    }
}

/// Lists and watches, which deliver existing countdowns in parts, as fast as their clients read.
extension Daemon {
    func scan(_ turn: inout Turn) {
        for _ in 0..<connections.withScans.count {
            guard turn.entriesLeft > 0, let connection = connections.withScans.takeFirst() else { break }
            guard connection.condition == .open else { continue }
            guard !connection.isBlocked, connection.buffers.unsent <= limits.pageBytes else {
                connection.isThrottled = true
                continue
            }
            let (entries, unsent) = (turn.entriesLeft, connection.buffers.unsent)
            switch connection.unfinishedReply {
            case .none, .waiting, .queued: break
            case .listing(let cursor): scan(cursor, of: connection, &turn)
            case .watching(let cursor): scan(cursor, of: connection, &turn)
            }
            turn.count(scanned: connection.buffers.unsent - unsent, from: entries)
        }
    }

    /// Continues a scan within the budget of the turn. Entries that are matched against patterns cost more of it.
    func continueScan(
        _ scan: ScanID,
        for selection: Selection,
        _ turn: inout Turn,
        visit: (borrowing Timetable, Slot) -> Bool
    ) -> Scan.Progress {
        let budget = max(1, turn.entriesLeft / selection.steps)
        var left = budget
        let progress = timetable.scan(scan, budget: &left, visit: visit)
        turn.entriesLeft = left == 0 ? 0 : turn.entriesLeft - (budget - left) * selection.steps
        return progress
    }
}

/// The middle of a turn: expiry, and the store.
extension Daemon {
    /// Expires the due countdowns. Expiries cannot fail, so they must come first. If more of the countdowns have queued starts than
    /// the turn can serve, the rest will expire in the next turn.
    func expireDue(_ turn: inout Turn) {
        while turn.endingsLeft > 0, !turn.hasQueuedStarts || startQueue.markedCount < turn.servedStartsLeft,
            let change = timetable.expireNext(at: turn.now)
        {
            turn.count(end: change.countdown)
            turn.changes.steps.append(change)
            counters.endings += 1
            if case .finished(_, let late) = change.countdown.phase, late <= turn.now.boot - started.boot {
                lateness.add(late)
            }
            if turn.hasQueuedStarts { startQueue.mark(change.countdown.key) }
        }
        if timetable.isDue(at: turn.now) { turn.isCutShort = true }
    }

    /// Stores the turn. If that fails, the clients' changes are undone and their calls are decided again; expiries stand.
    func commitOrUndo(_ turn: inout Turn) {
        guard !turn.changes.isEmpty else { return }
        do throws(StoreFailure) {
            try storage.commit(turn.changes, of: timetable, at: turn.now)
        } catch {
            // A decision of the fleet must stand.
            guard fleet == nil else { return storage.keep(turn.changes, of: timetable) }
            let undone = turn.changes.steps.suffix(turn.applied.count)
            turn.changes.steps.removeLast(turn.applied.count)
            for applied in turn.applied.reversed() { timetable.undo(applied) }
            turn.applied = []
            restoreQueue(turn, undone)
            storage.keep(turn.changes, of: timetable)
            decideAgain(error, &turn)
            failQueue(error, &turn)
        }
        counters.changes += turn.changes.steps.count
    }

    /// Retries changes that could not be stored, or opening the store, if it is time.
    ///
    /// - Returns: the instant by the clocks as they are held from now on.
    func retryStorage(at now: Now) -> Now {
        storage.retry(timetable, at: now)
        guard !storage.isOpen, storage.isTimeToTry(at: now) else { return now }
        guard let opened = storage.openAtLast(at: now) else { return now }
        let offset = opened.offset ?? now.offset
        adopt(opened, at: now)
        return Now(boot: now.boot, offset: offset)
    }

    /// Continues with the content of a store that could not be opened at first.
    ///
    /// Until now, every call about countdowns was refused.
    private func adopt(_ opened: consuming OpenedStore, at now: Now) {
        if let offset = opened.offset { clocks.hold(offset) }
        stepRevision = opened.stepRevision
        fleet = Self.joinFleet(options, opened.fleet, at: now)
        timetable = opened.timetable
        // Opening the store has noted it, with the store's revision.
        clockStep = nil
    }

    /// Removes ends that are too many or too old.
    func trim(_ turn: inout Turn) {
        storage.drop(timetable.compact(at: turn.now, budget: &turn.compactionsLeft))
        _ = storage.work(&timetable, fleet: fleet?.stored, changes: turn.changes.count, at: turn.now)
        if turn.compactionsLeft == 0 { turn.isCutShort = true }
    }
}
