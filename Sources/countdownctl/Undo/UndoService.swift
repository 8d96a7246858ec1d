import Glibc
import IPC
import System
import Text
import Varlink

/// Undoes changes at the ends of their countdowns. It keeps no state but the files: at its start, after each `synced`, each event of
/// `undo/*` and each change of the directory it looks at every file. A file that cannot be read, written or removed holds up no other.
final class UndoService {
    /// The pause before a locked file is looked at again, in microseconds.
    private static let pause: Int64 = 100_000
    /// The pause after a fault, and between two looks if the system reports no changes of the directory, in microseconds.
    private static let longPause: Int64 = 1_000_000
    /// How long it stays when nothing remains to be undone, and the pause before it connects again to a daemon that it does not
    /// understand, in microseconds. systemd starts it again with a file, so that it would be started very often otherwise.
    private static let linger: Int64 = 5_000_000
    /// The longest wait for an instant of the system clock, which may be set meanwhile.
    private static let longestWait: Int64 = 60_000_000
    /// How long no daemon has to answer before the instants in the files count, in microseconds.
    private static let patience: Int64 = 30_000_000

    /// What the service knows about the present content of a file; it forgets all when another process has written the file.
    private struct Knowledge {
        var content: FileIdentity?
        /// Whether the countdown is known to be as the file says.
        var isFollowed = false
        /// Whether the change is undone, and the file could not be removed.
        var isUndone = false
        /// The failed attempts, and when the next one is due.
        var failures = 0
        var next: MonotonicDeadline?
    }

    private let directory: UndoDirectory
    private let daemon: DaemonEndpoint
    private let output: Output
    private let lock: FileLock
    private let files: UndoWatch
    private let signals: SignalDescriptor
    private var connection: WatchConnection
    /// When to connect again to a daemon that was not understood.
    private var reconnection: MonotonicDeadline?
    private let here = Machine()
    /// Whether the daemon has told the present state, and is there.
    private var isSynced = false
    /// When the daemon will have been away for long; nil while it answers.
    private var absence: MonotonicDeadline? = .after(microseconds: UndoService.patience)
    private var attempt: UndoAttempt?
    private var known: [String: Knowledge] = [:]
    /// When to look at the files again though nothing is reported.
    private var nextLook: MonotonicDeadline?
    private var isStopped = false
    /// The faults that were logged.
    private var reported: Set<String> = []

    /// - Parameters:
    ///   - path: the directory with the files.
    ///   - output: for the log.
    /// - Throws: that another service runs, or that the directory cannot be used.
    init(of path: String, output: Output) throws(CommandFailure) {
        directory = try UndoDirectory(at: path)
        daemon = try DaemonEndpoint()
        self.output = output
        // A client that looks whether a service runs holds it for a moment.
        lock = try directory.lockService(patience: 1_000_000)
        signals = try SignalDescriptor(reading: [SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1])
        files = directory.watch()
        connection = Self.connection(to: daemon)
        attempt = UndoAttempt(leftIn: directory)
    }

    private static func connection(to daemon: DaemonEndpoint) -> WatchConnection {
        var options = ResumableWatch.FailureOptions()
        options.waitsForDaemon = true
        let watch = ResumableWatch(Watch(match: ["\(UndoRecord.prefix)*"], tick: .zero), options: options)
        return WatchConnection(watch, at: daemon.path, sendsBlocking: true)
    }

    /// Runs until the directory has been empty for a while, or until a signal. Ends the undo that runs then.
    ///
    /// - Parameter stays: whether it goes on with an empty directory.
    /// - Throws: that the directory cannot be used.
    func run(stays: Bool) throws(CommandFailure) {
        defer { attempt?.stop() }
        var needsLook = true
        var end: MonotonicDeadline?
        while !isStopped {
            if follow() { needsLook = true }
            if advance() { needsLook = true }
            if files.takeReports() || nextLook?.hasPassed == true { needsLook = true }
            if needsLook {
                needsLook = false
                try look()
            }
            let isIdle = try directory.isEmpty() && attempt == nil
            end = isIdle && !stays ? end ?? .after(microseconds: Self.linger) : nil
            if end?.hasPassed == true { return }
            wait(until: end)
            if obeySignals() { needsLook = true }
        }
    }

    private func wait(until end: MonotonicDeadline?) {
        var set = PollSet()
        set.add(signals.descriptor)
        if let descriptor = files.descriptor { set.add(descriptor) }
        if let reconnection {
            set.add(reconnection)
        } else {
            if let descriptor = connection.descriptor { set.add(descriptor, for: connection.pollEvents) }
            set.add(connection.deadline)
        }
        if let descriptor = attempt?.descriptor { set.add(descriptor) }
        set.add(nextLook)
        set.add(attempt?.deadline)
        set.add(end)
        set.wait()
    }

    /// SIGUSR1 tries failed undos at once, for example when a desktop has started. Returns whether it came.
    private func obeySignals() -> Bool {
        var triesAgain = false
        while let signal = signals.next() {
            switch signal {
            case SIGCHLD: break
            case SIGUSR1: triesAgain = true
            default: isStopped = true
            }
        }
        if triesAgain { for id in known.keys { known[id]?.next = nil } }
        return triesAgain
    }

    /// Takes events. Returns whether to look at the files.
    private func follow() -> Bool {
        if let reconnection {
            guard reconnection.hasPassed else { return false }
            self.reconnection = nil
            connection = Self.connection(to: daemon)
        }
        do {
            var hasNews = false
            for event in try connection.advance() {
                switch event {
                case .events(let events):
                    if events.contains(where: { $0.type == .synced }) { (isSynced, absence) = (true, nil) }
                    hasNews = true
                case .lost:
                    isSynced = false
                    isAway()
                    hasNews = true
                case .started, .stillLost, .recovered, .historyTrimmed, .current, .forgotten: break
                }
            }
            return hasNews
        } catch {
            isSynced = false
            isAway()
            report(CommandFailure(error, isRead: true).sentence)
            reconnection = .after(microseconds: Self.linger)
            return true
        }
    }

    private func isAway() { absence = absence ?? .after(microseconds: Self.patience) }

    // MARK: The files

    private func look() throws(CommandFailure) {
        nextLook = nil
        if files.descriptor == nil { lookAgain(after: Self.longPause) }
        guard directory.isInPlace else {
            throw CommandFailure(.notStored, "\(PrintableText.escape(directory.path)) was removed")
        }
        try? directory.removeRemains()
        let identifiers = try directory.identifiers()
        known = known.filter { identifiers.contains($0.key) }
        var asks = isSynced
        for id in identifiers where id != attempt?.file?.id {
            do {
                switch try directory.open(id) {
                case .opened(let file): try handle(file, &asks)
                case .locked: lookAgain(after: Self.pause)
                case .gone: break
                case .foreign(let reason): leave(id, reason)
                }
            } catch {
                report(error.sentence)
                lookAgain(after: Self.longPause)
            }
        }
    }

    private func lookAgain(after microseconds: Int64) {
        let deadline = MonotonicDeadline.after(microseconds: microseconds)
        nextLook = nextLook.map { min($0, deadline) } ?? deadline
    }

    private func lookAgain(at instant: Int64) {
        lookAgain(after: min(max(0, instant - WallClock.now), Self.longestWait))
    }

    private func leave(_ id: String, _ reason: String) {
        report("\(PrintableText.escape("\(directory.path)/\(id)")) is left alone: \(reason)")
    }

    /// Logs a fault once.
    private func report(_ sentence: String) {
        guard reported.insert(sentence).inserted else { return }
        output.warn("countdownctl: \(sentence)")
    }

    /// Does the next step for a locked file. A daemon that does not answer is asked once in a look.
    private func handle(_ file: UndoFile, _ asks: inout Bool) throws(CommandFailure) {
        guard here.isOwner(of: file.record) else { return leave(file.id, "it is another machine's") }
        if known[file.id]?.content != file.content { known[file.id] = Knowledge(content: file.content) }
        if known[file.id]?.isUndone == true { return try file.remove() }
        guard file.record.stage != .undoing, asks else { return try handleAlone(file) }
        let countdown: Countdown?
        do {
            countdown = try daemon.countdown(of: file.record.key)
            if file.record.stage == .kept { try daemon.end(file) { Cancel(key: $0) } }
            absence = nil
        } catch {
            // The watch notices if the daemon is gone, and not if it does not answer.
            asks = false
            isAway()
            lookAgain(after: Self.longPause)
            return try handleAlone(file)
        }
        switch UndoDecision(file.record, file.id, countdown, now: WallClock.now, boot: here.boot) {
        case .remove: try file.remove()
        case .wait(let instant):
            known[file.id]?.isFollowed = true
            if let instant { lookAgain(at: instant) }
        case .note: if let countdown { try note(countdown, in: file) }
        case .start: try start(file)
        case .undo: undo(file)
        }
    }

    private func handleAlone(_ file: UndoFile) throws(CommandFailure) {
        let isFollowed = known[file.id]?.isFollowed == true
        switch UndoDecision(withoutDaemon: file.record, isFollowed: isFollowed, now: WallClock.now) {
        case .undo where file.record.stage == .undoing || absence?.hasPassed == true: undo(file)
        case .undo: lookAgain(after: absence?.remainingUSec ?? Self.longPause)
        case .wait(let instant?): lookAgain(at: instant)
        case .wait, .remove, .note, .start: break
        }
    }

    private func update(_ file: UndoFile, _ change: (inout UndoRecord) -> Void) throws(CommandFailure) {
        try file.update(change)
        known[file.id]?.content = file.content
    }

    private func note(_ countdown: Countdown, in file: UndoFile) throws(CommandFailure) {
        known[file.id]?.isFollowed = false
        try update(file) { $0.note(countdown, now: WallClock.now, boot: here.boot) }
        known[file.id]?.isFollowed = true
    }

    /// Starts the countdown again as the file has it, also if it was paused.
    private func start(_ file: UndoFile) throws(CommandFailure) {
        var call = file.record.start(file.id, .restart)
        if let paused = file.record.pausedUSec {
            call.durationUSec = max(1, paused)
        } else {
            call.deadlineUSec = file.record.deadlineUSec
        }
        var countdown = try daemon.call(call).countdown
        if file.record.pausedUSec != nil { countdown = try daemon.call(Pause(key: call.key)).countdown }
        try note(countdown, in: file)
    }

    // MARK: Undoing

    /// Begins an undo, unless another one runs or a failed one is to wait.
    private func undo(_ file: UndoFile) {
        guard attempt == nil else { return }
        if let next = known[file.id]?.next, !next.hasPassed { return lookAgain(after: next.remainingUSec) }
        do throws(CommandFailure) {
            if file.record.stage != .undoing { try update(file) { $0.stage = .undoing } }
        } catch {
            // The undo matters more than the note of it.
            report(error.sentence)
        }
        do throws(ProcessLaunch.NotStarted) {
            attempt = try UndoAttempt(file, in: directory)
        } catch {
            fail(file, "\(quoted(error.name)): \(systemMessage(error.errno))")
        }
    }

    /// Follows the undo that runs, and notes its result. Returns whether it has ended.
    private func advance() -> Bool {
        guard let attempt, let result = attempt.result() else { return false }
        self.attempt = nil
        if let file = attempt.file {
            switch result {
            case .undone: succeed(file)
            case .failed(let reason): fail(file, reason)
            case .unknown: break
            }
        }
        return true
    }

    private func succeed(_ file: UndoFile) {
        output.warn("\(PrintableText.escape(file.record.name)): undone")
        known[file.id]?.isUndone = true
        do {
            try file.remove()
        } catch {
            report(error.sentence)
            lookAgain(after: Self.longPause)
        }
        // It runs on if the file's instant came first.
        if isSynced, absence == nil { _ = try? daemon.end(file) { Finish(key: $0) } }
    }

    private func fail(_ file: UndoFile, _ reason: String) {
        let name = PrintableText.escape(file.record.name)
        output.warn("countdownctl: \(name): the undo failed: \(reason); trying again")
        let count = (known[file.id]?.failures ?? 0) + 1
        let pause = min(Int64(1_000_000) << min(count - 1, 10), 600_000_000)
        known[file.id]?.failures = count
        known[file.id]?.next = .after(microseconds: pause)
        let failure = reason.shortened(toBytes: 600)
        do throws(CommandFailure) {
            if file.record.failure != failure { try update(file) { $0.failure = failure } }
        } catch {
            report(error.sentence)
        }
        guard count == 1, isSynced, absence == nil else { return }
        // Its end becomes a notification.
        let key = ChangeMark.failurePrefix + file.record.name
        var call = Start(
            key: key.utf8.count <= 255 ? key : ChangeMark.failurePrefix + file.id,
            durationUSec: 1,
            ifRunning: .restart
        )
        (call.label, call.metadata) = (file.record.name, ["undo-failure": failure])
        _ = try? daemon.call(call)
    }
}
