import Glibc

/// A program that is to be started: its words go to it as they are, with no shell between.
struct ProcessLaunch {
    /// The program, looked up in PATH where its name has no slash, and its arguments.
    let words: [String]
    /// What is added to the environment that this program has.
    var variables: [(name: String, value: String)] = []
    /// The descriptors that stand for standard input, output and error; nil for this program's own.
    var input: Int32?
    var output: Int32?
    var errors: Int32?
    /// Whether it is in a process group of its own, with all that it starts.
    var hasOwnGroup = false
    /// The signals that it begins with blocked.
    var mask = sigset_t()

    /// Starts it.
    ///
    /// - Throws: why it could not be.
    func start() throws(NotStarted) -> StartedProcess {
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
        // This program ignores it; another one is to end where nobody reads what it says.
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
        let arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        let environment = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for place in unsafe arguments.indices { unsafe free(arguments[place]) }
            for place in unsafe environment.indices { unsafe free(environment[place]) }
        }
        var process: pid_t = 0
        let code = unsafe posix_spawnp(&process, words.first ?? "", &actions, &attributes, arguments, environment)
        guard code == 0 else { throw NotStarted(name: words.first ?? "", errno: code) }
        return process
    }

    /// `NAME=VALUE` each: what is added, and of this program's environment what is not said anew.
    private var environment: [String] {
        var all = variables.map { "\($0.name)=\($0.value)" }
        guard var place = unsafe environ as UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? else { return all }
        while let entry = unsafe place.pointee {
            let text = unsafe String(cString: entry)
            if !variables.contains(where: { text.hasPrefix("\($0.name)=") }) { all.append(text) }
            unsafe place += 1
        }
        return all
    }

    /// Why a program was not started.
    struct NotStarted: Error {
        let name: String
        let errno: Int32
    }
}

extension Failure {
    /// A command could not be run; the codes are those of timeout(1).
    init(_ failure: ProcessLaunch.NotStarted) {
        self.init(
            failure.errno == ENOENT ? .notFound : .notExecutable,
            "cannot run \(quoted(failure.name)): \(systemMessage(failure.errno))"
        )
    }
}
