import CountdownCore
import Dispatch
import Varlink

/// The owner of all state: everything happens on the thread of its event loop, one turn after the other.
///
/// A turn ends what is due, carries out what was asked, stores both, answers, tells, and arms the alarm for what comes
/// next. Nothing in it waits: the files beside this one are its steps.
actor Daemon {
    private let eventLoop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe eventLoop.asUnownedSerialExecutor() }

    let policy: Policy
    let options: Options
    let log: Log
    let translation: Translation

    var timetable: Timetable
    var watchers: Watchers
    var storage: Storage

    var clocks: Clocks
    var alarm: Alarm
    var poller: Poller
    var busyPoll = BusyPoll()
    /// Whether the last turn left nothing over for the next.
    private var isDone = true
    let clockWatch: ClockWatch
    let signals: Signals
    var listener: Listener
    var accepting = Accepting()
    var reserve: Reserve
    var supervision: Supervision
    var complaints: Complaints

    var peers = Peers()
    /// Peers that may have sent calls which are not carried out.
    var unanswered: [Peer] = []
    /// Peers that are being told what there is, portion by portion.
    var walking: [Peer] = []
    /// Peers that something was written for, or that something became of, in this turn.
    var touched: [Peer] = []
    /// What all peers together have not read yet.
    var unsentInAll = 0
    /// What it takes to hold what all peers have sent and what is not carried out yet.
    var receivedInAll = 0
    /// What it takes to keep what all watches and lists ask for.
    var selectionsInAll = 0
    /// Who waits for the ending of the countdown under a key.
    var waiting: [Key: [Peer]] = [:]
    /// When watchers that asked for heartbeats have to hear one.
    var heartbeats = Heartbeats()
    /// What events are put together in, kept for its memory: that of a page, or of one event that is larger.
    var round = Round()
    /// The newest revision when the system clock was set last; who resumes from an earlier one has not heard of it.
    var stepRevision: Revision?
    /// How many changes the last turn had.
    var lastChanges = 0
    /// A step that the turn has to store.
    var clockStep: ClockStep?

    var counters = Counters()
    let started: WallInstant
    var receiveBuffer: [UInt8]

    /// Descriptors in the poller that are no peers', whose tokens are greater.
    enum Token {
        static let listener: UInt64 = 1
        static let clockWatch: UInt64 = 2
        static let signals: UInt64 = 3
        static let eventLoop: UInt64 = 4
        static let socketFile: UInt64 = 5
    }

    /// Opens the store, then the socket: of two daemons upon one store, that which is refused touches no socket.
    ///
    /// Nothing is served before `start`.
    init(
        policy: Policy,
        options: Options,
        log: Log,
        supervisor: Supervisor,
        storage: consuming Storage,
        clocks: consuming Clocks = Clocks(),
        listen: () throws -> Listener
    ) throws {
        eventLoop = try EventLoop()
        self.policy = policy
        self.options = options
        self.log = log
        translation = Translation(policy: policy)
        watchers = Watchers(tickPlaces: policy.tickPlaces)
        clockWatch = try ClockWatch()
        signals = try Signals()
        let now = clocks.now().now
        started = now.wall
        if let opened = try storage.open(at: now) {
            if let offset = opened.offset { clocks.hold(offset) }
            stepRevision = opened.stepRevision
            timetable = opened.timetable
        } else {
            // Nothing can be changed: no revision is used before the content of the store is known.
            timetable = Timetable(policy: policy, revision: Revision(0))
        }
        self.clocks = clocks
        self.storage = storage
        listener = try listen()
        supervision = Supervision(supervisor: supervisor, at: now)
        complaints = Complaints(policy: policy)
        receiveBuffer = [UInt8](repeating: 0, count: policy.readBytesInTurn)
        poller = try Poller()
        alarm = Alarm(queue: DispatchQueue(label: "countdownd.timer"))
        reserve = Reserve(of: signals.descriptor)
        guard reserve.fill() else { throw SystemFailure("fcntl") }
    }

    /// Serves on the calling thread, until a signal ends the process.
    nonisolated func run() -> Never {
        eventLoop.adoptThread()
        assumeIsolated { $0.begin() }
        while true {
            let jobs = assumeIsolated { $0.iterate() }
            if !jobs.isEmpty { eventLoop.run(jobs) }
        }
    }

    private func begin() {
        do throws(SystemFailure) {
            try pollListener()
            try poller.add(clockWatch.descriptor, token: Token.clockWatch)
            try poller.add(signals.descriptor, token: Token.signals)
            try poller.add(eventLoop.descriptor, token: Token.eventLoop)
        } catch {
            fail(error)
        }
        alarm.start { [eventLoop] in eventLoop.wakeUp() }
        let now = takeTime([])
        supervision.becomeReady(situation(at: now), at: now)
        log.write(.info, "ready")
        isDone = turn([])
    }

    /// One iteration of the loop: sleeps if there is nothing to do, then does one turn.
    ///
    /// - Returns: jobs for the actor, to be run after it was left.
    private func iterate() -> [UnownedJob] {
        var ready = poller.poll()
        if isDone, ready.isEmpty {
            if busyPoll.isWorthwhile {
                ready = poller.spin()
                busyPoll.stop()
            }
            if ready.isEmpty {
                if tidyUp() { return [] }
                ready = poller.wait()
                counters.wakeUps += 1
            }
        }
        var jobs: [UnownedJob] = []
        if ready.contains(where: { $0.token == Token.eventLoop }) {
            jobs = eventLoop.takeJobs()
            alarm.hasRung(by: Clocks.systemClock)
        }
        isDone = turn(ready)
        return jobs
    }

    /// Does some of what could wait, where nothing is due soon.
    /// - Returns: whether there is more of it.
    private func tidyUp() -> Bool {
        !alarm.rings(within: .milliseconds(10), of: Clocks.systemClock()) && storage.tidyUp()
    }

    /// One pass.
    /// - Returns: whether nothing was left over for the next.
    private func turn(_ ready: [Readiness]) -> Bool {
        counters.turns += 1
        let now = retryStorage(at: takeTime(ready))
        var turn = Turn(at: now, policy: policy, patternSteps: watchers.patternSteps, clockStep: clockStep)
        clockStep = nil
        turn.expect(changes: lastChanges)
        // What the store holds is not known then: not even that there is no such countdown can be said.
        if !storage.isOpen { turn.failure = storage.failure }
        receive(ready, at: now)
        endDue(&turn)
        answerCalls(&turn)
        storeOrTakeBack(&turn)
        tell(turn)
        tellTicks(&turn)
        tellHeartbeats(turn)
        walkOn(&turn)
        trim(&turn)
        counters.note(turn, of: policy)
        lastChanges = turn.changes.steps.count
        sendAll(at: now)
        let situation = situation(at: now)
        supervision.report(situation, at: now)
        complaints.sumUp(to: log, at: now.boot)
        arm(after: turn, situation.next)
        return !turn.isCutShort && unanswered.isEmpty && walking.isEmpty
    }

    private func situation(at now: Now) -> Supervision.Situation {
        let (running, next) = (timetable.runningCount, timetable.nextDeadline(at: now))
        return Supervision.Situation(running: running, next: next, trouble: storage.failure?.reason)
    }

    /// Arms the alarm for whatever comes first.
    private func arm(after turn: Turn, _ deadline: WallInstant?) {
        let now = turn.now
        var next: WallInstant?
        if let deadline { next = deadline + options.leeway }
        next = earliest(next, watchers.nextTick(at: now))
        next = earliest(next, heartbeats.next.map(now.wall(of:)))
        next = earliest(next, storage.next.map(now.wall(of:)))
        next = earliest(next, accepting.next.map(now.wall(of:)))
        next = earliest(next, supervision.next.map(now.wall(of:)))
        next = earliest(next, complaints.next.map(now.wall(of:)))
        alarm.arm(at: next)
        busyPoll.note(at: now.boot, calls: turn.portion.calls - turn.callsLeft)
    }
}
