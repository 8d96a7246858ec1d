public import Glibc

/// A program that is to be started: its words go to it as they are, with no shell between.
public struct ProcessLaunch {
    /// The program, looked up in PATH if its name has no slash, and its arguments.
    public let words: [String]
    /// Whether the words end with the last arguments of this process, which keep their bytes, even if these are not UTF-8.
    public var keepsArguments = false
    /// Variables added to this program's environment.
    public var variables: [(name: String, value: String)] = []
    /// Variables of this program's environment whose names begin with this are not passed on; nil passes all on. The
    /// others keep their bytes.
    public var droppedPrefix: String?
    /// The descriptors that stand for standard input, output and error; nil for this program's own.
    public var input: Int32?
    /// See `input`.
    public var output: Int32?
    /// See `input`.
    public var errors: Int32?
    /// Whether it is in a process group of its own, with all that it starts.
    public var hasOwnGroup = false
    /// The signals that it begins with blocked.
    public var mask: sigset_t

    /// The program `words[0]` with the arguments behind it; the other arguments are as the properties say.
    public init(
        words: [String],
        variables: [(name: String, value: String)] = [],
        input: Int32? = nil,
        output: Int32? = nil,
        hasOwnGroup: Bool = false,
        mask: sigset_t = sigset_t()
    ) {
        self.words = words
        self.variables = variables
        self.input = input
        self.output = output
        self.hasOwnGroup = hasOwnGroup
        self.mask = mask
    }

    /// Starts it.
    public func start() throws(NotStarted) -> StartedProcess {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let input { unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO) }
        if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
        if let errors { unsafe posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO) }

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var mask = mask
        unsafe posix_spawnattr_setsigmask(&attributes, &mask)
        // This program ignores SIGPIPE; a child must not inherit that.
        var defaults = sigset_t()
        unsafe sigemptyset(&defaults)
        unsafe sigaddset(&defaults, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &defaults)
        let group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        return StartedProcess(identifier: try unsafe spawn(&actions, &attributes))
    }

    private func spawn(
        _ actions: inout posix_spawn_file_actions_t,
        _ attributes: inout posix_spawnattr_t
    ) throws(NotStarted) -> pid_t {
        let texts = keepsArguments ? ProcessArguments.bytes(of: words) : words.map { Array($0.utf8CString) }
        guard let name = texts.first else { throw NotStarted(name: "", errno: ENOENT) }
        let arguments = unsafe texts.map { unsafe strdup($0) } + [nil]
        let environment = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for place in unsafe arguments.indices { unsafe free(arguments[place]) }
            for place in unsafe environment.indices { unsafe free(environment[place]) }
        }
        var process: pid_t = 0
        var code = unsafe posix_spawnp(&process, name, &actions, &attributes, arguments, environment)
        if code == ENOEXEC, let script = ProgramSearch.find(name) {
            // A script without `#!`: the shell runs it, as execvp(3) has it and posix_spawnp(3) does not.
            let shell = Array("/bin/sh".utf8CString)
            let start = unsafe [strdup(shell), strdup(script)]
            defer { for place in unsafe start.indices { unsafe free(start[place]) } }
            let line = unsafe start + arguments.dropFirst()
            code = unsafe posix_spawn(&process, shell, &actions, &attributes, line, environment)
        }
        guard code == 0 else { throw NotStarted(name: words[0], errno: code) }
        return process
    }

    /// The environment as `NAME=VALUE`, each with a zero byte behind it: the added variables, and this program's others.
    private var environment: [[CChar]] {
        var all = variables.map { Array("\($0.name)=\($0.value)".utf8CString) }
        let dropped = variables.map { "\($0.name)=" } + (droppedPrefix.map { [$0] } ?? [])
        guard var place = unsafe environ as UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? else { return all }
        while let entry = unsafe place.pointee {
            if !dropped.contains(where: { unsafe strncmp(entry, $0, $0.utf8.count) == 0 }) {
                all.append(unsafe Array(UnsafeBufferPointer(start: entry, count: strlen(entry) + 1)))
            }
            unsafe place += 1
        }
        return all
    }

    /// Why a program was not started.
    public struct NotStarted: Error {
        /// The name of the program.
        public let name: String
        /// The error number, see errno(3).
        public let errno: Int32

        /// A program and the reason.
        public init(name: String, errno: Int32) {
            self.name = name
            self.errno = errno
        }
    }
}

/// A process that was started here, and is reaped here.
public struct StartedProcess: Sendable {
    /// The process identifier.
    public let identifier: pid_t

    /// How it ended; nil if it is still running. Must be called only once after the end, which reaps the process.
    public func ending() -> ProcessEnding? {
        var status: Int32 = 0
        guard unsafe waitpid(identifier, &status, WNOHANG) == identifier else { return nil }
        return ProcessEnding(waitStatus: status)
    }

    /// Waits for its end. Asked for once, as the process is gone then.
    public func awaitEnding() -> ProcessEnding {
        var status: Int32 = 0
        while unsafe waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        return ProcessEnding(waitStatus: status)
    }

    /// Whether it has ended; it can still be asked how.
    public var hasEnded: Bool {
        var told = unsafe siginfo_t()
        let isTold = unsafe waitid(P_PID, id_t(identifier), &told, WEXITED | WNOHANG | WNOWAIT) == 0
        return unsafe isTold && told.si_signo == SIGCHLD
    }

    /// Sends it a signal.
    public func send(_ signal: Int32) { Self.send(signal, to: identifier) }

    /// Sends a signal to its process group, if it has its own.
    public func sendToGroup(_ signal: Int32) { Self.send(signal, to: -identifier) }

    /// A stopped process takes a signal that asks it to end only when it goes on, so SIGCONT follows.
    private static func send(_ signal: Int32, to target: pid_t) {
        kill(target, signal)
        if [SIGHUP, SIGINT, SIGQUIT, SIGTERM].contains(signal) { kill(target, SIGCONT) }
    }
}

/// How a process ended.
public enum ProcessEnding: Equatable, Sendable {
    /// It returned this code.
    case exited(code: Int32)
    /// A signal ended it.
    case killed(signal: Int32)

    /// From a status of wait(2).
    public init(waitStatus: Int32) {
        let signal = waitStatus & 0x7F
        self = signal == 0 ? .exited(code: waitStatus >> 8 & 0xFF) : .killed(signal: signal)
    }
}
