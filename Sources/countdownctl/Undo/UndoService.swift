import Glibc
import IPC
import System
import Text
import Varlink

/// Undoes changes at the ends of their countdowns. It keeps no state but the files: at its start, after each `synced`, each event of
/// `undo/*` and each change of the directory it looks at every file.
final class UndoService {
    /// The time between SIGTERM and SIGKILL, in microseconds.
    private static let grace: Int64 = 2_000_000
    /// The pause before a locked file, or a countdown that the daemon could not look up, is looked at again, in microseconds.
    private static let pause: Int64 = 100_000
    /// The longest wait for an instant of the system clock, which may be set meanwhile.
    private static let longestWait: Int64 = 60_000_000

    /// An undo that runs. Its file is locked.
    private final class Attempt {
        let file: UndoFile
        var command: RunningCommand
        var end: MonotonicDeadline
        var isLate = false

        init(_ file: UndoFile) throws(ProcessLaunch.NotStarted) {
            self.file = file
            command = try RunningCommand(file.record.launch())
            end = .after(microseconds: file.record.timeoutUSec)
        }
    }

    private let directory: UndoDirectory
    private let daemon: DaemonEndpoint
    private let output: Output
    private let lock: FileLock
    private let files: FileWatch
    private let signals: SignalDescriptor
    private let connection: WatchConnection
    private let here: Machine
    /// Whether the daemon has told the present state, and is there.
    private var isSynced = false
    private var attempt: Attempt?
    /// The failed attempts of a file, and when the next one is due.
    private var retries: [String: (count: Int, next: MonotonicDeadline)] = [:]
    /// When to look at the files again though nothing is reported.
    private var nextLook: MonotonicDeadline?
    private var isStopped = false
    /// The files of which it was said that they are left alone.
    private var reported: Set<String> = []

    /// - Throws: that another service runs, or that the directory cannot be used.
    init(output: Output) throws(CommandFailure) {
        directory = try UndoDirectory()
        daemon = try DaemonEndpoint()
        self.output = output
        here = Machine()
        // A client that looks whether a service runs holds it for a moment.
        lock = try directory.lockService(patience: 1_000_000)
        signals = try SignalDescriptor(reading: [SIGCHLD, SIGHUP, SIGINT, SIGTERM, SIGUSR1])
        files = try directory.watch()
        var options = ResumableWatch.FailureOptions()
        options.waitsForDaemon = true
        let watch = ResumableWatch(Watch(match: ["\(UndoRecord.prefix)*"], tick: .zero), options: options)
        connection = WatchConnection(watch, at: daemon.path, sendsBlocking: true)
    }

    /// Runs until the directory is empty, or until a signal.
    ///
    /// - Parameter stays: whether it goes on with an empty directory.
    /// - Throws: that the directory cannot be used.
    func run(stays: Bool) throws(CommandFailure) {
        var needsLook = true
        while !isStopped {
            if try follow() { needsLook = true }
            if try advance() { needsLook = true }
            if files.takeReports() || nextLook?.hasPassed == true { needsLook = true }
            if needsLook {
                needsLook = false
                try look()
            }
            if !stays, attempt == nil, try directory.isEmpty() { return }
            wait()
            if obeySignals() { needsLook = true }
        }
        attempt?.command.sendToGroup(SIGTERM)
    }

    private func wait() {
        var set = PollSet()
        set.add(signals.descriptor)
        set.add(files.descriptor)
        if let descriptor = connection.descriptor { set.add(descriptor, for: connection.pollEvents) }
        if let descriptor = attempt?.command.descriptor { set.add(descriptor) }
        set.add(connection.deadline)
        set.add(nextLook)
        set.add(attempt?.end)
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
        if triesAgain { retries = retries.mapValues { ($0.count, .passed) } }
        return triesAgain
    }

    /// Takes events. Returns whether to look at the files.
    private func follow() throws(CommandFailure) -> Bool {
        do {
            var hasNews = false
            for event in try connection.advance() {
                switch event {
                case .events(let events):
                    if events.contains(where: { $0.type == .synced }) { isSynced = true }
                    hasNews = true
                case .lost: isSynced = false
                case .started, .stillLost, .recovered, .historyTrimmed, .current, .forgotten: break
                }
            }
            return hasNews
        } catch {
            throw CommandFailure(error, isRead: true)
        }
    }

    // MARK: The files

    private func look() throws(CommandFailure) {
        nextLook = nil
        try directory.removeRemains()
        for id in try directory.identifiers() where id != attempt?.file.id {
            switch try directory.open(id) {
            case .opened(let file): try handle(file)
            case .locked: lookAgain(after: Self.pause)
            case .gone: retries[id] = nil
            case .foreign(let reason): leave(id, reason)
            }
        }
    }

    private func lookAgain(after microseconds: Int64) {
        let deadline = MonotonicDeadline.after(microseconds: microseconds)
        nextLook = nextLook.map { min($0, deadline) } ?? deadline
    }

    private func leave(_ id: String, _ reason: String) {
        guard reported.insert(id).inserted else { return }
        output.warn("countdownctl: \(PrintableText.escape("\(directory.path)/\(id)")) is left alone: \(reason)")
    }

    private func handle(_ file: UndoFile) throws(CommandFailure) {
        guard file.record.machine == here.machine else { return leave(file.id, "it is another machine's") }
        if file.record.failure == nil { retries[file.id] = nil }
        guard isSynced else { return }
        let countdown: Countdown?
        do {
            countdown = try daemon.countdown(of: file.record.key)
            if file.record.stage == .kept { try daemon.end(file) { Cancel(key: $0) } }
        } catch {
            // The watch notices if the daemon is gone.
            return lookAgain(after: 10 * Self.pause)
        }
        switch UndoDecision(file.record, file.id, countdown, now: WallClock.now, boot: here.boot) {
        case .remove: try file.remove()
        case .wait(nil): break
        case .wait(let instant?): lookAgain(after: min(max(0, instant - WallClock.now), Self.longestWait))
        case .note: if let countdown { try note(countdown, in: file) }
        case .start: try start(file)
        case .undo: try undo(file)
        }
    }

    private func note(_ countdown: Countdown, in file: UndoFile) throws(CommandFailure) {
        try file.update { $0.note(countdown, now: WallClock.now, boot: here.boot) }
    }

    private func start(_ file: UndoFile) throws(CommandFailure) {
        var call = file.record.start(file.id, .restart)
        call.deadlineUSec = file.record.deadlineUSec
        do {
            try note(daemon.call(call).countdown, in: file)
        } catch {
            lookAgain(after: 10 * Self.pause)
        }
    }

    // MARK: Undoing

    /// Begins an undo, unless another one runs or a failed one is to wait.
    private func undo(_ file: UndoFile) throws(CommandFailure) {
        guard attempt == nil else { return }
        if let next = retries[file.id]?.next, !next.hasPassed { return lookAgain(after: next.remainingUSec) }
        do {
            attempt = try Attempt(file)
        } catch {
            try fail(file, "\(quoted(error.name)): \(systemMessage(error.errno))")
        }
    }

    /// Passes on the output of the undo, ends it if it takes too long, and notes its result. Returns whether it has ended.
    private func advance() throws(CommandFailure) -> Bool {
        guard let attempt else { return false }
        let text = attempt.command.read()
        if !text.isEmpty { try? StandardStream.error.write(text) }
        guard let ending = attempt.command.ending() else {
            guard attempt.end.hasPassed else { return false }
            attempt.command.sendToGroup(attempt.isLate ? SIGKILL : SIGTERM)
            attempt.isLate = true
            attempt.end = .after(microseconds: Self.grace)
            return false
        }
        self.attempt = nil
        if attempt.isLate {
            try fail(attempt.file, "it took longer than \(DurationFormat.render(attempt.file.record.timeoutUSec))")
        } else if ending.isSuccess {
            try succeed(attempt.file)
        } else if case .ended(let process) = ending.cause {
            try fail(attempt.file, ([process.clause] + ending.lines.suffix(1)).joined(separator: ": "))
        }
        return true
    }

    private func succeed(_ file: UndoFile) throws(CommandFailure) {
        output.warn("\(PrintableText.escape(file.record.name)): undone")
        retries[file.id] = nil
        try file.remove()
        // It runs on if the file's instant came first.
        try? daemon.end(file) { Finish(key: $0) }
    }

    private func fail(_ file: UndoFile, _ reason: String) throws(CommandFailure) {
        let name = PrintableText.escape(file.record.name)
        output.warn("countdownctl: \(name): the undo failed: \(reason); trying again")
        let count = (retries[file.id]?.count ?? 0) + 1
        let pause = min(Int64(1_000_000) << min(count - 1, 10), 600_000_000)
        retries[file.id] = (count, .after(microseconds: pause))
        let failure = String(reason.prefix(200))
        try file.update { $0.failure = failure }
        guard count == 1 else { return }
        // Its end becomes a notification.
        var call = Start(key: "undo-failed/\(file.record.name)", durationUSec: 1, ifRunning: .restart)
        (call.label, call.metadata) = (file.record.name, ["undo-failure": failure])
        _ = try? daemon.call(call)
    }
}

/// The identities of this machine and of its boot; empty if the system has none.
struct Machine {
    let machine = Self.read("/etc/machine-id")
    let boot = Self.read("/proc/sys/kernel/random/boot_id")

    private static func read(_ path: String) -> String {
        ((try? StoredText.read(path)) ?? nil)?.split(separator: "\n").first.map(String.init) ?? ""
    }
}

extension UndoRecord {
    /// The start of the undo: in the directory of the caller or, if that is gone, in the home directory.
    func launch() throws(ProcessLaunch.NotStarted) -> ProcessLaunch {
        guard let program = ProgramSearch.find(words[0], path: path) else {
            throw ProcessLaunch.NotStarted(name: words[0], errno: ENOENT)
        }
        // posix_spawn(3) has no portable way to choose a directory.
        let change = ["/bin/sh", "-c", "cd -- \"$0\" 2> /dev/null || cd; exec \"$@\"", directory, program]
        return ProcessLaunch(words: change + words.dropFirst(), variables: [("PATH", path)], hasOwnGroup: true)
    }
}
