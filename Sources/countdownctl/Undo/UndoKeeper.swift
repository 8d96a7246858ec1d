import Glibc
import IPC
import System
import Text
import Varlink

/// The commands `temporarily`, `keep` and `undo` with the user's own daemon and service.
struct UndoKeeper {
    private static let unit = "countdown-undo.path"
    private static let service = "countdown-undo.service"
    /// The longest wait for the lock of a file that the service only reads, in microseconds.
    private static let lockPatience: Int64 = 2_000_000

    private let directory: UndoDirectory
    private let daemon: DaemonEndpoint

    /// For a command that only changes the file.
    ///
    /// - Throws: that the daemon is not the user's own.
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
        daemon = try DaemonEndpoint()
        directory = try UndoDirectory(at: UndoDirectory.place())
    }

    /// For a command that needs the service.
    ///
    /// - Throws: also that no service would undo a change.
    init(withService: Void) throws(CommandFailure) {
        // A directory in another home directory must not be made.
        if Self.hasSystemd { try Self.checkUnits() }
        try self.init()
        if !Self.hasSystemd { try checkProcess() }
    }

    /// - Throws: that the daemon belongs to a fleet, or that a change would become another machine's.
    func checkMachine() throws(CommandFailure) {
        guard try daemon.call(GetStatus()).fleet == nil else {
            let remedy = "`systemctl --user edit countdownd` removes --backend"
            throw .usage("the daemon belongs to a fleet, whose countdowns other machines end; \(remedy)")
        }
        guard !Machine.isOutlasted(by: directory.path) else {
            let fault = "/etc/machine-id is in memory, so the change would be another machine's after a restart"
            throw CommandFailure(.unavailable, "\(fault); as root: `systemd-machine-id-setup --commit`")
        }
    }

    private static let hasSystemd = FileIdentity(of: "/run/systemd/system") != nil

    /// Starts the unit that watches the directory, if it is enabled, and if its service can be started.
    private static func checkUnits() throws(CommandFailure) {
        guard systemctl("is-enabled", "--quiet", unit) != nil else {
            let remedy = "`systemctl --user unmask \(unit)`, or daemon-reload after an installation"
            throw CommandFailure(.unavailable, "\(unit) is off, so the change would not be undone: \(remedy)")
        }
        guard systemctl("show", "--value", "--property=LoadState", service) == ["loaded"] else {
            let remedy = "`systemctl --user unmask \(service)`, or daemon-reload after an installation"
            throw CommandFailure(.unavailable, "\(service) is off, so the change would not be undone: \(remedy)")
        }
        guard systemctl("start", unit) != nil else {
            let remedy = "`systemctl --user status \(unit)` says why"
            throw CommandFailure(.unavailable, "\(unit) cannot be started: \(remedy)")
        }
        let here = PrintableText.escape(try UndoDirectory.place(), doublesBackslashes: false)
        let places = (systemctl("show", "--value", "--property=Paths", unit) ?? []).map { line in
            line.split(separator: " (").first.map(String.init) ?? ""
        }
        let file = FileIdentity(following: here)
        guard places.contains(where: { $0 == here || file != nil && FileIdentity(following: $0) == file }) else {
            let fault = "HOME is \(PrintableText.escape(Environment.value(of: "HOME") ?? ""))"
            let home = places.first.map { $0.replacing("/.local/state/countdown-undo", with: "") } ?? ""
            let remedy = "`env HOME=\(ShellWord.quote(home)) countdownctl …`"
            throw CommandFailure(.unavailable, "\(fault), but the user's services have another: \(remedy)")
        }
    }

    /// The lines that systemctl(1) prints; nil if it fails.
    private static func systemctl(_ words: String...) -> [String]? {
        let launch = ProcessLaunch(words: ["systemctl", "--user"] + words)
        guard var command = try? RunningCommand(launch) else { return nil }
        while true {
            command.read()
            if let ending = command.ending() {
                if ending.isSuccess { return ending.lines }
                for line in ending.lines { try? StandardStream.error.write(Array("\(line)\n".utf8)) }
                return nil
            }
            var set = PollSet()
            if let descriptor = command.descriptor { set.add(descriptor) }
            set.add(.after(microseconds: 10_000))
            set.wait()
        }
    }

    /// Without systemd, the session has started the service.
    private func checkProcess() throws(CommandFailure) {
        do throws(CommandFailure) {
            _ = try directory.lockService(patience: 0)
        } catch {
            guard error.exitCode == .tryLater else { throw error }
            return
        }
        let remedy = "`countdownctl undo-service --stay &`, or log in again: the session starts it"
        throw CommandFailure(.unavailable, "no countdown-undo runs, so the change would not be undone: \(remedy)")
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
        guard old.record.isSameChange(as: wish) else {
            let name = ShellWord.quote(wish.name)
            let place = PrintableText.escape(old.record.directory)
            let fault = "\(PrintableText.escape(wish.name)) has another undo: \(old.record.commandLine) in \(place)"
            let remedy = "first `countdownctl undo \(name)` or `countdownctl keep \(name)`"
            throw CommandFailure(.tryLater, "\(fault); \(remedy)")
        }
        let file = try locked(old.id, old.record)
        guard file.record.stage != .kept else { throw isBusy(file.record) }
        try start(file, until: wish, .later)
        return file
    }

    /// Starts or lengthens the countdown of a file, and notes its deadline. A change whose undo has begun may no longer be in force,
    /// so its command runs again.
    private func start(_ file: UndoFile, until wish: UndoRecord, _ ifRunning: IfRunning) throws(CommandFailure) {
        var call = file.record.start(file.id, ifRunning)
        call.durationUSec = wish.durationUSec
        if wish.durationUSec == nil { call.deadlineUSec = wish.deadlineUSec }
        if ifRunning == .later, try daemon.countdown(of: call.key).map({ !UndoRecord.isOwn($0, file.id) }) ?? true {
            // It is lost, or another program has started the key again: its end is not the change's.
            call.ifRunning = .restart
            if file.record.stage != .undoing, file.record.deadlineUSec > wish.deadlineUSec {
                (call.durationUSec, call.deadlineUSec) = (nil, file.record.deadlineUSec)
            }
        }
        let countdown = try daemon.call(call).countdown
        guard UndoRecord.isOwn(countdown, file.id) else {
            let fault = "\(PrintableText.escape(call.key)) was started by another program just now"
            throw CommandFailure(.tryLater, "\(fault); try again")
        }
        try file.update { record in
            record.failure = nil
            if record.stage == .undoing { record.stage = .prepared }
            record.note(countdown, now: WallClock.now, boot: wish.boot)
        }
    }

    /// When the change is undone, and by which command.
    func promise(_ record: UndoRecord) -> String {
        let boot = Lingering.isEnabled() == false ? " (after a restart of the machine, at your next login)" : ""
        return "until \(ClockText.local.render(record.deadlineUSec)), then: \(record.commandLine)\(boot)"
    }

    // MARK: keep and undo

    /// Keeps a change. If no daemon answers, the service cancels the countdown later.
    func keep(_ name: String) throws(CommandFailure) {
        let found = try find(name)
        let file = try locked(found.id, found.record)
        do {
            try file.update { $0.stage = .kept }
        } catch {
            // A file can be removed from a full disk.
            try file.remove()
            _ = try? daemon.end(file) { Cancel(key: $0) }
            return
        }
        guard (try? daemon.end(file) { Cancel(key: $0) }) != nil else { return }
        try? file.remove()
    }

    /// Lets the service undo a change now, or try a failed undo again.
    func undo(_ name: String, _ output: Output) throws(CommandFailure) -> ExitCode {
        let found = try find(name)
        let file: UndoFile
        do {
            file = try locked(found.id, found.record)
        } catch {
            guard error.exitCode == .tryLater, found.record.stage != .prepared else { throw error }
            return try awaitUndo(of: found.id, for: found.record, output)
        }
        return try undo(file, output)
    }

    /// Lets the service undo the change of a locked file now, also if the daemon has lost its countdown.
    func undo(_ file: UndoFile, _ output: Output) throws(CommandFailure) -> ExitCode {
        var fault: CommandFailure?
        do {
            try file.update { record in
                record.failure = nil
                record.stage = .undoing
                record.deadlineUSec = min(record.deadlineUSec, WallClock.now)
            }
        } catch {
            fault = error
        }
        // On a full disk, the end of the countdown is enough.
        let hasEnded = (try? daemon.end(file) { Finish(key: $0) }) == true
        if let fault, !hasEnded { throw fault }
        file.unlock()
        return try awaitUndo(of: file.id, for: file.record, output)
    }

    private func find(_ name: String) throws(CommandFailure) -> (id: String, record: UndoRecord) {
        let name = UndoRecord.name(typed: name)
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
            case .opened(let file):
                // A service that was killed has left the undo.
                guard RunningUndo(in: directory)?.id != id else { throw isBusy(record) }
                return file
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
        let reason =
            switch record.stage {
            case .prepared: "its command still runs"
            case .changed, .undoing: "its undo runs"
            case .kept: "it was kept just now"
            }
        return CommandFailure(.tryLater, "\(PrintableText.escape(record.name)): \(reason); try again afterwards")
    }

    /// Waits until the service has undone a change, or has failed to.
    private func awaitUndo(of id: String, for record: UndoRecord, _ output: Output) throws(CommandFailure) -> ExitCode {
        let name = PrintableText.escape(record.name)
        // The service ends an undo that takes too long, and notes that.
        let patience = MonotonicDeadline.after(microseconds: record.timeoutUSec + 5_000_000)
        let files = directory.watch()
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
            if let descriptor = files.descriptor { set.add(descriptor) }
            // Without a watch, it looks now and then.
            set.add(min(patience, .after(microseconds: 500_000)))
            set.wait()
            _ = files.takeReports()
        }
        throw CommandFailure(.tryLater, "\(name): not undone yet; `countdownctl status` shows it")
    }
}

extension DaemonEndpoint {
    /// Ends the countdown of a file by a call, unless another program has started it. Returns whether it has ended.
    @discardableResult
    func end<M: Method>(_ file: UndoFile, by method: (_ key: String) -> M) throws(CommandFailure) -> Bool {
        guard let countdown = try countdown(of: file.record.key), UndoRecord.isOwn(countdown, file.id) else {
            return false
        }
        guard countdown.hasNotEnded else { return true }
        do {
            _ = try call(method(countdown.key))
        } catch {
            guard [.notRunning, .unknownKey].contains(error.exitCode) else { throw error }
        }
        return true
    }
}
