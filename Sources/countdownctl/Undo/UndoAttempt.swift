import Glibc
import IPC
import System
import Text

/// An undo that runs. This service has started it and holds its file, or a killed service has left it.
///
/// It is in a process group of its own. A program that it leaves in the background belongs to the change and lives on, unless the
/// undo is ended.
final class UndoAttempt {
    /// How an undo ended.
    enum Result: Equatable {
        case undone
        case failed(String)
        /// It was another service's, so its exit code is unknown.
        case unknown
    }

    /// The pause between two looks at the process of a killed service, in microseconds.
    private static let pause: Int64 = 100_000

    /// Nil if a killed service has left the undo.
    let file: UndoFile?
    private let running: RunningUndo
    /// Nil if a killed service has left the undo, and once it was reaped.
    private var command: RunningCommand?
    private let note: String
    private var limit: TimeLimit

    /// Starts the undo of a file. It runs only once it is noted, so that the next service finds it if this one is killed.
    init(_ file: UndoFile, in directory: UndoDirectory) throws(ProcessLaunch.NotStarted) {
        self.file = file
        let (record, note) = (file.record, (try? directory.runtimeFile(RunningUndo.suffix)) ?? "")
        var launch = try record.launch()
        guard let gate = Pipe() else { throw ProcessLaunch.NotStarted(name: record.program, errno: errno) }
        launch.input = gate.reading.descriptor
        let command = try RunningCommand(launch)
        running = RunningUndo(process: command.identifier, id: file.id, timeoutUSec: record.timeoutUSec)
        self.command = .some(command)
        self.note = note
        limit = TimeLimit(microseconds: record.timeoutUSec)
        // If it cannot be noted, it has to run all the same.
        _ = try? StoredText.replace(note, with: running.text)
        _ = unsafe write(gate.writing.descriptor, "\n", 1)
    }

    /// Finds the undo that a killed service has left; nil if there is none, or if it has ended.
    init?(leftIn directory: UndoDirectory) {
        guard let note = try? directory.runtimeFile(RunningUndo.suffix), let running = RunningUndo(in: directory) else {
            return nil
        }
        (file, self.note, self.running) = (nil, note, running)
        limit = TimeLimit(microseconds: running.remainingUSec)
    }

    /// Readable when there is output.
    var descriptor: Int32? { command?.descriptor }

    /// When to look at it though there is no output.
    var deadline: MonotonicDeadline {
        file == nil ? min(limit.deadline, .after(microseconds: Self.pause)) : limit.deadline
    }

    /// Passes on the output, ends the undo if it takes too long, and returns how it ended; nil if it still runs.
    func result() -> Result? {
        let (hasEnded, ending) = advance()
        guard hasEnded else {
            if let signal = limit.takeSignal() { running.sendToGroup(signal) }
            return nil
        }
        unsafe unlink(note)
        if limit.hasPassed {
            // A part that has ignored SIGTERM would run beside the next attempt.
            running.sendToGroup(SIGKILL)
            return .failed("it took longer than \(DurationFormat.rounded(running.timeoutUSec))")
        }
        guard let ending, case .ended(let process) = ending.cause else { return .unknown }
        return ending.isSuccess ? .undone : .failed(([process.clause] + ending.lines.suffix(1)).joined(separator: ": "))
    }

    /// Ends all of the undo, and waits until it has ended.
    func stop() {
        let patience = TimeLimit.grace
        running.sendToGroup(SIGTERM)
        var hasEnded = false
        while !hasEnded || running.groupIsAlive, !patience.hasPassed {
            hasEnded = hasEnded || advance().hasEnded
            PollSet.pause(microseconds: 10_000)
        }
        running.sendToGroup(SIGKILL)
        while !hasEnded {
            hasEnded = advance().hasEnded
            PollSet.pause(microseconds: 10_000)
        }
        unsafe unlink(note)
    }

    /// Whether it has ended, and how, as far as it is known.
    private func advance() -> (hasEnded: Bool, CommandEnding?) {
        guard let output = command?.read() else { return (!running.isAlive, nil) }
        if !output.isEmpty { StandardError.shared.write(output, noticePrefix: "countdownctl: ") }
        guard let ending = command?.ending() else { return (false, nil) }
        command = nil
        return (true, ending)
    }
}

/// The process of an undo, as it is noted in the runtime directory.
struct RunningUndo {
    /// The end of the name of the file with the note.
    static let suffix = "running"

    private let process: pid_t
    /// When the process was started, in clock ticks since the boot. Together with its identifier, no other process has it. 0 if it
    /// is unknown.
    private let started: Int64
    /// The ID of the change's file.
    let id: String
    let timeoutUSec: Int64

    init(process: pid_t, id: String, timeoutUSec: Int64) {
        (self.process, self.id, self.timeoutUSec) = (process, id, timeoutUSec)
        started = Self.start(of: process) ?? 0
    }

    /// The undo that is noted for a directory; nil if there is none, or if it has ended.
    init?(in directory: UndoDirectory) {
        guard let path = try? directory.runtimeFile(Self.suffix), let text = try? StoredText.read(path) else {
            return nil
        }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 4, let process = pid_t(words[0]), process > 1, let started = Int64(words[1]),
            let timeout = Int64(words[3])
        else { return nil }
        (self.process, self.started, id, timeoutUSec) = (process, started, String(words[2]), timeout)
        guard isAlive else { return nil }
    }

    var text: String { "\(process) \(started) \(id) \(timeoutUSec)\n" }

    var isAlive: Bool { Self.start(of: process) == started }

    /// Whether a process of its group is left, also one that has ended and was not reaped.
    var groupIsAlive: Bool { kill(-process, 0) == 0 || errno == EPERM }

    /// Sends a signal to its group, and lets a stopped process go on to take it.
    func sendToGroup(_ signal: Int32) {
        kill(-process, signal)
        kill(-process, SIGCONT)
    }

    /// The rest of its time, in microseconds.
    var remainingUSec: Int64 {
        let ticks = Int64(sysconf(Int32(_SC_CLK_TCK)))
        return max(0, timeoutUSec - (BootClock.now - started * (1_000_000 / max(1, ticks))))
    }

    /// When a process was started, in clock ticks since the boot; nil if it has ended.
    private static func start(of process: pid_t) -> Int64? {
        // The name of the program, in parentheses, may have spaces and parentheses, see proc_pid_stat(5).
        guard let text = try? StoredText.read("/proc/\(process)/stat"), let name = text.lastIndex(of: ")") else {
            return nil
        }
        let fields = text[name...].split(separator: " ")
        guard fields.count > 20, fields[1] != "Z", fields[1] != "X" else { return nil }
        return Int64(fields[20])
    }
}

extension UndoRecord {
    /// The start of the undo: in the directory of the caller or, if that is gone, in the home directory, once its input has a line.
    fileprivate func launch() throws(ProcessLaunch.NotStarted) -> ProcessLaunch {
        // The program may have moved, as at an upgrade.
        let search = SearchPath(path: path, directory: directory)
        guard let program = search.find(program) ?? search.find(words[0]) else {
            throw ProcessLaunch.NotStarted(name: program, errno: ENOENT)
        }
        // posix_spawn(3) has no portable way to choose a directory. A program in the background may write when nobody reads its
        // output any more.
        let script = """
            read -r line || exit
            trap '' PIPE
            cd -- "$0" 2> /dev/null || { echo "the directory $0 is gone; the undo runs in the home directory"; cd; }
            exec "$@" < /dev/null
            """
        return ProcessLaunch(
            words: ["/bin/sh", "-c", script, directory, program] + words.dropFirst(),
            variables: [("PATH", path)],
            hasOwnGroup: true
        )
    }
}

/// A `PATH` and the words of a command, as they are understood in one directory.
struct SearchPath {
    /// The `PATH` without relative and empty entries.
    let path: String
    private let directory: String

    init(path: String, directory: String) {
        let entries = path.split(separator: ":", omittingEmptySubsequences: false)
        self.path = entries.map { Self.absolute($0, in: directory) }.joined(separator: ":")
        self.directory = directory
    }

    /// The absolute path of the program that a word names; nil if it names none that can be executed.
    func find(_ word: String) -> String? {
        let hasSlash = word.utf8.contains(UInt8(ascii: "/"))
        return ProgramSearch.find(hasSlash ? Self.absolute(word[...], in: directory) : word, path: path)
    }

    private static func absolute(_ path: Substring, in directory: String) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return String(path) }
        var rest = path.utf8
        while rest.starts(with: "./".utf8) { rest = rest.dropFirst(2) }
        if rest.isEmpty || rest.elementsEqual(".".utf8) { return directory }
        return "\(directory == "/" ? "" : directory)/\(Substring(rest))"
    }
}
