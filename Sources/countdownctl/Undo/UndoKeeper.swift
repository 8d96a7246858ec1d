import Glibc
import IPC
import System
import Text
import Varlink

/// The commands `temporarily`, `keep` and `undo` with the user's own daemon and service.
struct UndoKeeper {
    private static let unit = "countdown-undo.path"
    /// The longest wait for the lock of a file that the service only reads, in microseconds.
    private static let lockPatience: Int64 = 2_000_000

    private let directory: UndoDirectory
    private let daemon: DaemonEndpoint

    /// - Throws: that the daemon is not the user's own, that it belongs to a fleet, or that no service would undo a change.
    init() throws(CommandFailure) {
        if let host = RemoteInvocation.machine {
            let command = "`ssh \(ShellWord.quote(host)) countdownctl …`"
            throw .usage("--host cannot be combined with temporarily, keep and undo; \(command) changes that machine")
        }
        let variable = Address.variable
        guard Environment.value(of: variable) == nil else {
            let command = "`env -u \(variable) countdownctl …`"
            throw .usage("\(variable) is set, but changes are undone with the user's own daemon; \(command) uses that")
        }
        directory = try UndoDirectory()
        daemon = try DaemonEndpoint()
        try checkService()
        guard try daemon.call(GetStatus()).fleet == nil else {
            let remedy = "`systemctl --user edit countdownd` removes --backend"
            throw .usage("the daemon belongs to a fleet, whose countdowns other machines end; \(remedy)")
        }
    }

    /// Starts the unit that watches the directory, if it is enabled.
    private func checkService() throws(CommandFailure) {
        guard FileIdentity(of: "/run/systemd/system") != nil else {
            do throws(CommandFailure) {
                _ = try directory.lockService(patience: 0)
            } catch {
                guard error.exitCode == .tryLater else { throw error }
                return
            }
            let remedy = "`countdownctl undo-service --stay &`, or log in again: the session starts it"
            throw CommandFailure(.unavailable, "no countdown-undo runs, so the change would not be undone: \(remedy)")
        }
        guard systemctl("is-enabled", "--quiet") else {
            let remedy = "`systemctl --user unmask \(Self.unit)`, or daemon-reload after an installation"
            throw CommandFailure(.unavailable, "\(Self.unit) is off, so the change would not be undone: \(remedy)")
        }
        guard systemctl("start") else {
            let remedy = "`systemctl --user status \(Self.unit)` says why"
            throw CommandFailure(.unavailable, "\(Self.unit) cannot be started: \(remedy)")
        }
    }

    private func systemctl(_ verb: String, _ options: String...) -> Bool {
        let words = ["systemctl", "--user"] + options + [verb, Self.unit]
        return (try? ProcessLaunch(words: words, output: STDERR_FILENO).start())?.awaitEnding() == .exited(code: 0)
    }

    // MARK: temporarily

    /// Makes the file and starts the countdown. If the name has a file with the same undo, its deadline is moved instead.
    ///
    /// - Returns: the locked file.
    func prepare(_ wish: UndoRecord) throws(CommandFailure) -> UndoFile {
        let lock = try directory.lock()
        defer { withExtendedLifetime(lock) {} }
        guard let old = try directory.find(wish.name) else {
            let file = try UndoFile(wish, in: directory)
            do {
                try start(file, until: wish, .fail)
            } catch {
                try file.remove()
                guard case .alreadyRunning = error.refusal else { throw error }
                let remedy = "`countdownctl cancel \(ShellWord.quote(wish.key))` ends it"
                throw CommandFailure(.tryLater, "\(wish.key) is another program's countdown; \(remedy)")
            }
            return file
        }
        guard old.record.words == wish.words else {
            let name = ShellWord.quote(wish.name)
            let fault = "\(PrintableText.escape(wish.name)) has another undo: \(old.record.commandLine)"
            let remedy = "first `countdownctl undo \(name)` or `countdownctl keep \(name)`"
            throw CommandFailure(.tryLater, "\(fault); \(remedy)")
        }
        let file = try locked(old.id, old.record)
        try start(file, until: wish, .later)
        return file
    }

    /// Starts or lengthens the countdown of a file, and notes its deadline.
    private func start(_ file: UndoFile, until wish: UndoRecord, _ ifRunning: IfRunning) throws(CommandFailure) {
        var call = file.record.start(file.id, ifRunning)
        call.durationUSec = wish.durationUSec
        if wish.durationUSec == nil { call.deadlineUSec = wish.deadlineUSec }
        let countdown = try daemon.call(call).countdown
        try file.update { record in
            record.failure = nil
            record.note(countdown, now: WallClock.now, boot: wish.boot)
        }
    }

    /// When the change is undone, and by which command.
    func promise(_ record: UndoRecord) -> String {
        let boot = Lingering.isEnabled() == false ? " (after a restart of the machine, at your next login)" : ""
        return "until \(ClockText.local.render(record.deadlineUSec)), then: \(record.commandLine)\(boot)"
    }

    // MARK: keep and undo

    /// Keeps a change.
    func keep(_ name: String) throws(CommandFailure) {
        let found = try find(name)
        let file = try locked(found.id, found.record)
        try file.update { $0.stage = .kept }
        try daemon.end(file) { Cancel(key: $0) }
        try file.remove()
    }

    /// Lets the service undo a change now, or try a failed undo again.
    func undo(_ name: String, _ output: Output) throws(CommandFailure) -> ExitCode {
        let found = try find(name)
        let file: UndoFile
        do {
            file = try locked(found.id, found.record)
        } catch {
            guard error.exitCode == .tryLater, found.record.stage == .changed else { throw error }
            return try awaitUndo(of: found.id, for: found.record, output)
        }
        return try undo(file, output)
    }

    /// Lets the service undo the change of a locked file now, also if the daemon has lost its countdown.
    func undo(_ file: UndoFile, _ output: Output) throws(CommandFailure) -> ExitCode {
        try file.update { record in
            record.failure = nil
            record.deadlineUSec = min(record.deadlineUSec, WallClock.now)
        }
        try daemon.end(file) { Finish(key: $0) }
        file.unlock()
        return try awaitUndo(of: file.id, for: file.record, output)
    }

    private func find(_ name: String) throws(CommandFailure) -> (id: String, record: UndoRecord) {
        let name = name.hasPrefix(UndoRecord.prefix) ? String(name.dropFirst(UndoRecord.prefix.count)) : name
        guard let found = try directory.find(name) else {
            throw CommandFailure(.unknownKey, "\(PrintableText.escape(name)): nothing is to be undone")
        }
        return found
    }

    /// The file, locked. The service locks a file for a moment to look at it.
    private func locked(_ id: String, _ record: UndoRecord) throws(CommandFailure) -> UndoFile {
        let patience = MonotonicDeadline.after(microseconds: Self.lockPatience)
        while true {
            switch try directory.open(id) {
            case .opened(let file): return file
            case .gone:
                throw CommandFailure(.unknownKey, "\(PrintableText.escape(record.name)): it was undone just now")
            case .foreign(let reason): throw CommandFailure(.notStored, "\(record.name): \(reason)")
            case .locked:
                guard !patience.hasPassed else { throw isBusy(record) }
                PollSet.pause(microseconds: 10_000)
            }
        }
    }

    private func isBusy(_ record: UndoRecord) -> CommandFailure {
        let reason = record.stage == .prepared ? "its command still runs" : "its undo runs"
        return CommandFailure(.tryLater, "\(PrintableText.escape(record.name)): \(reason); try again afterwards")
    }

    /// Waits until the service has undone a change, or has failed to.
    private func awaitUndo(of id: String, for record: UndoRecord, _ output: Output) throws(CommandFailure) -> ExitCode {
        let name = PrintableText.escape(record.name)
        // The service ends an undo that takes too long, and notes that.
        let patience = MonotonicDeadline.after(microseconds: record.timeoutUSec + 5_000_000)
        let files = try directory.watch()
        while !patience.hasPassed {
            guard let now = try directory.records().first(where: { $0.id == id })?.record else {
                output.say("\(name): undone")
                return .success
            }
            if let failure = now.failure {
                let sentence = "\(name): the undo failed: \(PrintableText.escape(failure)); it is tried again"
                throw CommandFailure(.tryLater, sentence)
            }
            var set = PollSet()
            set.add(files.descriptor)
            set.add(patience)
            set.wait()
            _ = files.takeReports()
        }
        throw CommandFailure(.tryLater, "\(name): not undone yet; `countdownctl status` shows it")
    }
}

extension DaemonEndpoint {
    /// Ends the countdown of a file by a call, unless it has ended or another program has started it.
    func end<M: Method>(_ file: UndoFile, by method: (_ key: String) -> M) throws(CommandFailure) {
        guard let countdown = try countdown(of: file.record.key), countdown.hasNotEnded,
            UndoRecord.isOwn(countdown, file.id)
        else { return }
        do {
            _ = try call(method(countdown.key))
        } catch {
            guard [.notRunning, .unknownKey].contains(error.exitCode) else { throw error }
        }
    }
}
