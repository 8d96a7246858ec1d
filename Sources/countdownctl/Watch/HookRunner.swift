import Glibc
import IPC
import System
import Text

/// Runs commands for events, in their order: with a limit on how many run at once and how long each may run.
final class HookRunner: BackgroundWork {
    /// The number of commands that run at once.
    static let limit = 8
    /// The number of events that wait before no more are read.
    static let queueLimit = 1_000
    /// The time between two attempts to claim an end, in microseconds.
    private static let claimPause: Int64 = 1_000_000

    private struct Run {
        let process: StartedProcess
        let name: String
        /// The number of the command of the cursor; nil if the cursor does not count it.
        let command: Int?
        var limit: TimeLimit
    }

    private let hook: Hook
    private let output: Output
    private var running: [Run] = []
    /// The events whose commands wait, with the instants of the boot clock at which the daemon noticed them.
    private var queue: [(event: HookEvent, command: Int?, noticed: Int64)] = []
    private var ages = ReportAges()
    /// Without `--before` it has no alarm.
    private var alarms = EndAlarms()
    private let claims: (of: EndClaims, daemon: DaemonEndpoint)?
    /// When an end is to be claimed again; nil if the last claim was answered.
    private var retry: MonotonicDeadline?
    private let timer: BootTimer
    private let file: CursorFile?
    private var cursor: HookCursor
    private var stored: Int64?
    /// Why the file could not be written; nil if it could.
    private var failure: CommandFailure?

    /// Runs the hook's commands, after claims if there are any. The file keeps the cursor, which begins at `since`, the
    /// revision in it.
    init(
        _ hook: Hook,
        output: Output,
        claims: (of: EndClaims, daemon: DaemonEndpoint)? = nil,
        file: CursorFile? = nil,
        since: Int64? = nil
    ) throws(CommandFailure) {
        self.hook = hook
        self.claims = claims
        // The next command must not wait for a reader of messages.
        self.output = output.impatient
        self.file = file
        timer = try BootTimer.orFailure()
        cursor = HookCursor(since: since)
        stored = since
    }

    /// The first deadline of a command, or of another attempt to claim an end.
    var deadline: MonotonicDeadline? {
        (running.map(\.limit.deadline) + [retry].compactMap(\.self)).min()
    }

    /// Readable when a countdown has the time of `--before` left; nil without `--before`.
    var descriptor: Int32? { hook.before == nil ? nil : timer.descriptor }

    /// The newest revision that was received; nil before the first `synced`.
    var received: Int64? { cursor.received }

    var isFull: Bool { queue.count >= Self.queueLimit }

    /// Whether `begin` has to be called after each `synced`.
    var needsCountdowns: Bool { hook.before != nil }

    /// Takes the countdowns as they are after `synced`, because a watch that continues does not report all of them.
    func begin(with countdowns: [Countdown]) {
        alarms = EndAlarms()
        for countdown in countdowns { setAlarm(Event(type: .attached, countdown: countdown)) }
        advance()
    }

    private func setAlarm(_ event: Event) {
        guard let lead = hook.before else { return }
        alarms.receive(event, lead: lead, wall: WallClock.now, boot: BootClock.now)
    }

    /// Notes that the watch begins again.
    func watchWasLost() { ages.watchWasLost() }

    /// Queues the events that commands run for, and starts commands.
    func enqueue(_ events: [Event]) {
        let (boot, wall) = (BootClock.now, WallClock.now)
        for event in events {
            if hook.types.contains(event.type), let countdown = event.countdown, isNew(event, countdown),
                claims == nil || !EndClaims.isClaim(countdown)
            {
                let age = ages.age(of: event, wall: wall, boot: boot)
                queue.append((HookEvent(event, countdown), cursor.addCommand(), boot - age))
            }
            ages.receive(event, boot: boot)
            cursor.receive(event)
            setAlarm(event)
        }
        // Between two commands, the file may be older than the cursor: it then says less than was done.
        if events.contains(where: { $0.type == .synced || $0.type == .heartbeat }) { store() }
        advance()
    }

    /// Reaps ended commands, terminates commands that timed out, and starts waiting ones.
    func advance() {
        for countdown in alarms.takeDue(at: BootClock.now) { queue.append((HookEvent(nil, countdown), nil, 0)) }
        timer.set(alarms.next)
        running = running.compactMap(advanced)
        if let retry, retry.remainingUSec > 0 { return }
        while running.count < Self.limit, let next = queue.first, take(next) { queue.removeFirst() }
    }

    /// Starts the command of an event, or leaves it to another program. Returns false if its claim has to be tried
    /// again.
    private func take(_ next: (event: HookEvent, command: Int?, noticed: Int64)) -> Bool {
        guard let claims, next.event.event != nil else {
            start(next.event, next.command)
            return true
        }
        let countdown = next.event.countdown
        let name = CountdownText.name(countdown)
        let verdict = claims.of.verdict(
            on: countdown,
            noticed: next.noticed,
            clock: { BootClock.now },
            find: claims.daemon.countdown(of:),
            start: { start throws(CommandFailure) in _ = try claims.daemon.call(start) }
        )
        switch verdict {
        case .ours: start(next.event, next.command)
        case .taken: finish(next.command)
        case .tooOld:
            output.warn("countdownctl: \(name): its end is older than a claim lasts; the command is not run")
            finish(next.command)
        case .unknown(let reason):
            if retry == nil { output.warn("countdownctl: \(name): its end is not claimed: \(reason); trying again") }
            retry = .after(microseconds: Self.claimPause)
            return false
        }
        retry = nil
        return true
    }

    /// Terminates all running commands. Those that do not exit before this program run again at the next start.
    func terminate() {
        store()
        for run in running { run.process.sendToGroup(SIGTERM) }
    }

    /// Whether it was not received before: if the history was trimmed, all that is kept is received again.
    private func isNew(_ event: Event, _ countdown: Countdown) -> Bool {
        cursor.received.map { (event.revision ?? countdown.revision) > $0 } ?? true
    }

    /// Nil if it has ended.
    private func advanced(_ run: Run) -> Run? {
        if let ending = run.process.ending() {
            if !run.limit.hasPassed, let failure = ending.failure {
                output.warn("countdownctl: \(quoted(run.name)) \(failure)")
            }
            finish(run.command)
            return nil
        }
        var run = run
        let wasLate = run.limit.hasPassed
        guard let signal = run.limit.takeSignal() else { return run }
        if !wasLate { output.warn("countdownctl: \(quoted(run.name)) timed out and was terminated") }
        run.process.sendToGroup(signal)
        return run
    }

    private func start(_ event: HookEvent, _ command: Int?) {
        let words = hook.words(for: event.countdown, clock: .local)
        do {
            let process = try launch(words, event)
            let limit = TimeLimit(microseconds: hook.timeout)
            running.append(Run(process: process, name: words[0], command: command, limit: limit))
        } catch {
            output.warn("countdownctl: \(CommandFailure(error).sentence)")
            finish(command)
        }
    }

    private func launch(_ words: [String], _ event: HookEvent) throws(ProcessLaunch.NotStarted) -> StartedProcess {
        guard let pipe = Pipe() else { throw ProcessLaunch.NotStarted(name: words[0], errno: errno) }
        // An event is far smaller than a pipe's buffer, so this never blocks.
        pipe.writing.stopBlocking()
        let text = JSONText.object(event) + [UInt8(ascii: "\n")]
        _ = unsafe text.withUnsafeBytes { unsafe write(pipe.writing.descriptor, $0.baseAddress, $0.count) }
        var launch = ProcessLaunch(words: words)
        launch.variables = event.variables
        // This program may itself be the command of an event.
        launch.droppedPrefix = HookEvent.metadataPrefix
        launch.input = pipe.reading.descriptor
        // Standard output is for the lines of the watch alone.
        launch.output = STDERR_FILENO
        launch.hasOwnGroup = true
        return try launch.start()
    }

    private func finish(_ command: Int?) {
        guard let command else { return }
        cursor.finish(command)
        store()
    }

    /// Writes the cursor if it has moved. A row of failures is reported once.
    private func store() {
        guard let file, let revision = cursor.revision, revision != stored else { return }
        do {
            try file.write(revision)
            stored = revision
            failure = nil
        } catch {
            if failure == nil { output.warn("countdownctl: \(error.sentence); trying again") }
            failure = error
        }
    }
}
