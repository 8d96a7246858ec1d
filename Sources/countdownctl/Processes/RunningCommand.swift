import Glibc
import System

/// A command that goes on, with nothing on its standard input; what it says is kept for its end.
struct RunningCommand: ~Copyable {
    private let process: StartedProcess
    private let pipe: Pipe.End
    private var output = CommandOutput()
    private var isSilent = false

    /// Starts it.
    ///
    /// - Throws: why it could not be started.
    init(_ command: ShellCommand) throws(ProcessLaunch.NotStarted) {
        let nothing = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        guard nothing >= 0, let pipe = Pipe() else {
            throw ProcessLaunch.NotStarted(name: command.name, errno: errno)
        }
        let end = pipe.writing.descriptor
        process = try ProcessLaunch(words: command.words, input: nothing, output: end, errors: end).start()
        pipe.reading.stopBlocking()
        self.pipe = pipe.reading
    }

    /// Readable when it has said something; nil where nothing more comes.
    var descriptor: Int32? { isSilent ? nil : pipe.descriptor }

    /// Takes what it has said by now.
    mutating func read() {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while !isSilent {
            let count = unsafe Glibc.read(pipe.descriptor, &buffer, buffer.count)
            if count > 0 {
                output.append(buffer[..<count])
            } else if count == 0 || errno != EINTR {
                isSilent = count == 0 || errno != EAGAIN
                return
            }
        }
    }

    /// How it ended; nil where it has not. Asked for once after that, as the process is gone then.
    mutating func ending() -> CommandEnding? {
        guard let ending = process.ending() else { return nil }
        read()
        return CommandEnding(cause: .ended(ending), lines: output.lines)
    }

    /// Asks it to end.
    func terminate() { process.send(SIGTERM) }
}

/// A command that is run in this program's place: it has its streams and its terminal, and the signals that are sent
/// to this program are passed on to it.
struct ForegroundCommand {
    let words: [String]
    /// What is added to its environment.
    var variables: [(name: String, value: String)] = []
    /// A process that it cannot do without: where that ends first, the command is asked to end.
    var support: StartedProcess?

    /// Runs it to its end.
    ///
    /// - Throws: why it could not be started.
    func run() throws(ProcessLaunch.NotStarted) -> ProcessEnding {
        var signals = Self.passedOn
        var before = sigset_t()
        unsafe pthread_sigmask(SIG_BLOCK, &signals, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        // Where whoever started this program ignores it, the system would reap what is to be waited for.
        signal(SIGCHLD, SIG_DFL)
        let process = try ProcessLaunch(words: words, variables: variables, mask: before).start()
        var support = support
        while true {
            if let ending = process.ending() { return ending }
            if support?.hasEnded == true {
                process.send(SIGTERM)
                support = nil
            }
            var told = unsafe siginfo_t()
            let number = unsafe sigwaitinfo(&signals, &told)
            // What the terminal sends, it has sent to the command as well.
            guard number > 0, number != SIGCHLD, unsafe told.si_code != SI_KERNEL else { continue }
            process.send(number)
        }
    }

    /// What is passed on, and what tells of its end.
    private static var passedOn: sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in [SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH] {
            unsafe sigaddset(&signals, number)
        }
        return signals
    }
}

/// A command that a screen runs.
enum ShellCommand: Equatable, Sendable {
    /// A program and its arguments, looked up in PATH, with no shell between.
    case words([String])
    /// A line for sh(1).
    case line(String)

    /// The program and its arguments.
    var words: [String] {
        switch self {
        case .words(let words): words
        case .line(let line): ["sh", "-c", line]
        }
    }

    /// What it is called where something is said about it.
    var name: String {
        switch self {
        case .words(let words): words.first ?? ""
        case .line(let line): line
        }
    }
}

/// How a command ended, and what it said.
struct CommandEnding: Equatable {
    enum Cause: Equatable {
        case ended(ProcessEnding)
        /// It could not be run.
        case notRun(errno: Int32)
    }

    let cause: Cause
    /// The last lines of its standard output and standard error together.
    var lines: [String] = []

    var isSuccess: Bool { cause == .ended(.exited(code: 0)) }
}

/// The end of what a command says, as lines that may be shown.
struct CommandOutput {
    /// More than a terminal shows; what comes before is dropped.
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
