import Glibc
import System
import Text

/// A command in the background with empty standard input. Its output is kept until it ends.
struct RunningCommand: ~Copyable {
    private let process: StartedProcess
    private let pipe: Pipe.PipeEnd
    private var output = CommandOutput()
    private var isSilent = false

    init(_ command: ShellCommand) throws(ProcessLaunch.NotStarted) {
        var launch = ProcessLaunch(words: command.words)
        launch.keepsArguments = true
        try self.init(launch)
    }

    /// Starts a program, whose output is replaced, and its input unless it has one.
    init(_ launch: ProcessLaunch) throws(ProcessLaunch.NotStarted) {
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        guard nothing >= 0, let pipe = Pipe() else {
            throw ProcessLaunch.NotStarted(name: launch.words.first ?? "", errno: errno)
        }
        var launch = launch
        launch.input = launch.input ?? nothing
        (launch.output, launch.errors) = (pipe.writing.descriptor, pipe.writing.descriptor)
        process = try launch.start()
        pipe.reading.stopBlocking()
        self.pipe = pipe.reading
    }

    /// The process identifier.
    var identifier: pid_t { process.identifier }

    /// Readable when there is output; nil after its end.
    var descriptor: Int32? { isSilent ? nil : pipe.descriptor }

    /// Reads the output so far, and returns the part that was not read before.
    @discardableResult
    mutating func read() -> [UInt8] {
        var news: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !isSilent {
            let count = unsafe Glibc.read(pipe.descriptor, &buffer, buffer.count)
            if count > 0 {
                output.append(buffer[..<count])
                news += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                isSilent = count == 0 || errno != EAGAIN
                break
            }
        }
        return news
    }

    /// How it ended; nil if it is still running. Must be called only once after the end, which reaps the process.
    mutating func ending() -> CommandEnding? {
        guard let ending = process.ending() else { return nil }
        read()
        return CommandEnding(cause: .ended(ending), lines: output.lines)
    }

    func send(_ signal: Int32) { process.send(signal) }

    /// Sends a signal to its process group, if it has its own.
    func sendToGroup(_ signal: Int32) { process.sendToGroup(signal) }
}

/// A command that is run in this program's place: it has its streams and its terminal, and the signals that are sent
/// to this program are passed on to it.
struct ForegroundCommand {
    let words: [String]
    /// Variables added to its environment.
    var variables: [(name: String, value: String)] = []
    /// A process that it needs: if that process ends first, the command gets SIGTERM.
    var support: StartedProcess?

    /// Runs it to its end. Meanwhile `advance` is called when a descriptor is readable, and may return a signal for the command.
    func run(
        beside descriptors: () -> [Int32] = { [] },
        advance: () -> Int32? = { nil }
    ) throws(CommandFailure) -> ProcessEnding {
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, nil, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        let signals = try SignalDescriptor(reading: Self.passedOn + [SIGCHLD])
        let process = try started(mask: before)
        var support = support
        while true {
            if let ending = process.ending() { return ending }
            if support?.hasEnded == true {
                process.send(SIGTERM)
                support = nil
            }
            var set = PollSet()
            set.add(signals.descriptor)
            for descriptor in descriptors() { set.add(descriptor) }
            set.wait()
            passOn(signals, to: process)
            if let signal = advance() { process.send(signal) }
        }
    }

    private func started(mask: sigset_t) throws(CommandFailure) -> StartedProcess {
        do {
            var launch = ProcessLaunch(words: words, variables: variables, mask: mask)
            launch.keepsArguments = true
            return try launch.start()
        } catch {
            throw CommandFailure(error)
        }
    }

    private func passOn(_ signals: borrowing SignalDescriptor, to process: StartedProcess) {
        while let (signal, isFromKernel) = signals.nextWithOrigin() {
            if signal != SIGCHLD, Self.passesOn(signal, isFromKernel: isFromKernel) { process.send(signal) }
        }
    }

    /// Whether to send the command a signal that this process received. The kernel sends the signals of the terminal's keys to
    /// both; the SIGHUP of a terminal that goes away it sends to the leader of the session alone.
    static func passesOn(_ signal: Int32, isFromKernel: Bool) -> Bool { !isFromKernel || signal == SIGHUP }

    private static let passedOn = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH]
}

/// A command that a screen runs.
enum ShellCommand: Equatable, Sendable {
    /// A program and its arguments, looked up in PATH, with no shell between.
    case words([String])
    /// A line for sh(1).
    case line(String)

    var words: [String] {
        switch self {
        case .words(let words): words
        case .line(let line): ["sh", "-c", line]
        }
    }

    /// Its name in messages.
    var name: String {
        switch self {
        case .words(let words): words.first ?? ""
        case .line(let line): line
        }
    }
}

/// How a command ended, and its output.
struct CommandEnding: Equatable {
    enum Cause: Equatable {
        case ended(ProcessEnding)
        case notRun(errno: Int32)
    }

    let cause: Cause
    /// The last lines of its standard output and standard error together.
    var lines: [String] = []

    var isSuccess: Bool { cause == .ended(.exited(code: 0)) }
}

/// The last output of a command, as printable lines.
struct CommandOutput {
    /// The bytes that are kept; more than a terminal shows.
    static let limit = 16 << 10

    private var bytes: [UInt8] = []

    mutating func append(_ more: some Sequence<UInt8>) {
        bytes += more
        if bytes.count > 2 * Self.limit { bytes.removeFirst(bytes.count - Self.limit) }
    }

    /// The lines, without those that are empty.
    var lines: [String] {
        bytes.suffix(Self.limit).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }).map { line in
            PrintableText.escape(String(decoding: line, as: UTF8.self), doublesBackslashes: false)
        }
    }
}

extension CommandFailure {
    /// A command could not be run. The exit code is 127 if it was not found, else 126, as in timeout(1).
    init(_ failure: ProcessLaunch.NotStarted) {
        self.init(
            failure.errno == ENOENT ? .notFound : .notExecutable,
            "cannot run \(quoted(failure.name)): \(systemMessage(failure.errno))"
        )
    }
}

extension ProcessEnding {
    /// `exit code 3`, or `killed by signal 9`.
    var clause: String {
        switch self {
        case .exited(let code): "exit code \(code)"
        case .killed(let signal): "killed by signal \(signal)"
        }
    }

    /// `failed with exit code 3`, or `was killed by signal 9`; nil if it succeeded.
    var failure: String? {
        switch self {
        case .exited(code: 0): nil
        case .exited: "failed with \(clause)"
        case .killed: "was \(clause)"
        }
    }

    /// The code that a shell returns for it.
    var exitCode: ExitCode {
        switch self {
        case .exited(let code): ExitCode(rawValue: code)
        case .killed(let signal): ExitCode(rawValue: 128 + signal)
        }
    }
}
