import Glibc
import IPC
import System
import Text

/// A command line with `--host`, for the daemon of another machine.
struct RemoteInvocation: Equatable {
    static let option = "--host"
    /// Names the machine to the program that is run for its daemon.
    private static let variable = "COUNTDOWND_HOST"

    /// Whether this process was started for another machine, so that local files say nothing about the daemon.
    static var isInside: Bool { machine != nil }
    /// The machine for which this process was started; nil if it is this one.
    static var machine: String? { Environment.value(of: variable) }

    /// The machine, and the user there, as ssh(1) takes them.
    let host: String
    let arguments: [String]

    /// Nil if there is no `--host`. Arguments after `--` stay. A host that is missing or begins with `-` is a usage
    /// error.
    init?(_ typed: [String]) throws(CommandFailure) {
        let end = typed.firstIndex(of: "--") ?? typed.endIndex
        guard let place = typed[..<end].firstIndex(where: Self.isOption)
        else { return nil }
        let isApart = typed[place] == Self.option
        let value = isApart ? typed[..<end].dropFirst(place + 1).first : String(typed[place].dropFirst(7))
        // ssh would read it as an option.
        guard let value, !value.isEmpty, !value.hasPrefix("-") else {
            throw .usage("missing host; for example `countdownctl --host alice@example.org list`")
        }
        host = value
        arguments = Array(typed[..<place] + typed[(place + (isApart ? 2 : 1))...])
    }

    /// Whether a word that was typed is the option, with its value or without.
    static func isOption(_ word: String) -> Bool { word == option || word.hasPrefix("\(option)=") }

    /// Runs the program anew, for the daemon there.
    func run() throws(CommandFailure) -> ExitCode {
        let tunnel = try Tunnel.open(to: host)
        var command = ForegroundCommand(words: ["/proc/self/exe"] + arguments)
        command.variables = [(Address.variable, tunnel.path), (Self.variable, host)]
        command.support = tunnel.process
        let ending = try command.run()
        if tunnel.process.hasEnded, ending == .killed(signal: SIGTERM) {
            throw CommandFailure(.unavailable, "the connection to \(quoted(host)) was closed")
        }
        return ending.exitCode
    }
}

/// The daemon's socket on another machine.
struct RemoteSocket: Equatable {
    let path: String
    /// Whether the path has a socket.
    let isThere: Bool

    /// The remote command, for any login shell: prints the path of the socket, by the rule of `Address`, and runs while
    /// its standard input is open.
    static let command = """
        sh -c 'p=${\(Address.variable):-${XDG_RUNTIME_DIR:-/run/user/$(id -u)}/countdownd/io.countdownd}; \
        if [ -S "$p" ]; then echo "\(found)$p"; exec cat >/dev/null; else echo "\(missing)$p"; fi'
        """

    private static let found = "io.countdownd at "
    private static let missing = "io.countdownd not at "

    /// Nil if no complete line has it; a shell may print other lines before.
    init?(in text: String) {
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            for (beginning, isThere) in [(Self.found, true), (Self.missing, false)] where line.hasPrefix(beginning) {
                (path, self.isThere) = (String(line.dropFirst(beginning.count)), isThere)
                return
            }
        }
        return nil
    }
}

/// A socket here behind which is the daemon of another machine, for as long as this lives: one login by ssh(1), which
/// finds the socket there and forwards it.
struct Tunnel: ~Copyable {
    /// Of the socket here.
    var path: String { folder.path(of: "daemon") }
    let process: StartedProcess
    private let folder: PrivateFolder
    /// While it is open, the remote command runs; it is also closed if this program is killed.
    private let holding: Pipe.PipeEnd

    private let answers: Pipe.PipeEnd

    /// Logs in and has the socket there forwarded. If that fails, ssh itself has said more on standard error.
    static func open(to host: String) throws(CommandFailure) -> Tunnel {
        let tunnel = try Tunnel(loggingInTo: host)
        guard let remote = tunnel.answer() else {
            let command = "`ssh \(ShellWord.quote(host))`"
            throw CommandFailure(.unavailable, "cannot log in to \(quoted(host)); \(command) must work")
        }
        guard remote.isThere else {
            let place = "\(PrintableText.escape(remote.path)) on \(quoted(host))"
            let remedy = "start it there with `systemctl --user start countdownd.socket`"
            throw CommandFailure(.unavailable, "no daemon at \(place): \(remedy)")
        }
        try tunnel.forward(remote.path, of: host)
        return tunnel
    }

    private init(loggingInTo host: String) throws(CommandFailure) {
        let folder = try PrivateFolder()
        guard let input = Pipe(), let output = Pipe() else {
            throw CommandFailure(.internalFault, "cannot create a pipe: \(systemMessage(errno))")
        }
        let words = Self.login(to: host, control: folder.path(of: "control"))
        process = try Self.start(
            ProcessLaunch(words: words, input: input.reading.descriptor, output: output.writing.descriptor)
        )
        self.folder = folder
        holding = input.writing
        answers = output.reading
    }

    deinit {
        process.send(SIGTERM)
        _ = process.awaitEnding()
    }

    /// Overrides the user's configuration: a separate session, without other forwardings or a terminal.
    private static func login(to host: String, control: String) -> [String] {
        let options = [
            "ControlMaster=yes", "ControlPath=\(control)", "ControlPersist=no", "ClearAllForwardings=yes",
            "RemoteCommand=none", "StreamLocalBindUnlink=yes",
        ]
        return ["ssh", "-T"] + options.flatMap { ["-o", $0] } + ["--", host, RemoteSocket.command]
    }

    /// Has the session forward the socket; the configuration has no part in it.
    private func forward(_ remote: String, of host: String) throws(CommandFailure) {
        let words = [
            "ssh", "-F", "none", "-S", folder.path(of: "control"), "-O", "forward", "-L", "\(path):\(remote)", "--",
            host,
        ]
        guard try Self.start(ProcessLaunch(words: words)).awaitEnding() == .exited(code: 0) else {
            throw CommandFailure(.unavailable, "ssh cannot forward \(quoted(remote)) of \(quoted(host))")
        }
    }

    private static func start(_ launch: ProcessLaunch) throws(CommandFailure) -> StartedProcess {
        // If SIGCHLD is ignored, which is inherited, the kernel reaps children before they are waited for.
        signal(SIGCHLD, SIG_DFL)
        do {
            return try launch.start()
        } catch {
            let reason =
                error.errno == ENOENT
                ? "which is not in PATH" : "which cannot be started: \(systemMessage(error.errno))"
            throw CommandFailure(.unavailable, "\(RemoteInvocation.option) needs ssh, \(reason)")
        }
    }

    /// The remote socket; nil if the login ends without naming it.
    private func answer() -> RemoteSocket? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < CommandOutput.limit {
            let count = unsafe read(answers.descriptor, &buffer, buffer.count)
            guard count > 0 || count < 0 && errno == EINTR else { break }
            bytes += buffer[..<max(count, 0)]
            if let socket = RemoteSocket(in: String(decoding: bytes, as: UTF8.self)) { return socket }
        }
        return nil
    }
}

/// A private temporary directory, removed with its content.
struct PrivateFolder: ~Copyable {
    private let path: String

    /// Makes it in the directory of the session, which the system clears, else in /tmp.
    init() throws(CommandFailure) {
        let parent = Environment.value(of: "XDG_RUNTIME_DIR") ?? "/tmp"
        guard let path = Self.make(in: parent) ?? Self.make(in: "/tmp") else {
            throw CommandFailure(.internalFault, "cannot create a directory in /tmp: \(systemMessage(errno))")
        }
        self.path = path
    }

    func path(of name: String) -> String { "\(path)/\(name)" }

    deinit {
        for name in ["daemon", "control"] { unsafe unlink(path(of: name)) }
        unsafe rmdir(path)
    }

    /// Nil if it cannot be created, or the path of a socket in it would be too long: ssh appends 17 characters.
    private static func make(in parent: String) -> String? {
        guard parent.utf8.count + 46 <= Address.pathLimit else { return nil }
        var template = Array("\(parent)/countdownctl-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
