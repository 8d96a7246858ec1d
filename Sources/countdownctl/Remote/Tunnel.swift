import Glibc
import IPC
import System

/// A socket here behind which is the daemon of another machine, for as long as this lives: one login by ssh(1), which
/// finds the socket there and forwards it.
struct Tunnel: ~Copyable {
    /// Of the socket here.
    var path: String { folder.path(of: "daemon") }
    /// What carries it.
    let process: StartedProcess
    private let folder: PrivateFolder
    /// As long as it is open, the command there goes on; it is closed where this program is killed, too.
    private let holding: Pipe.End

    /// What the login says.
    private let answers: Pipe.End

    /// Logs in and has the socket there forwarded.
    ///
    /// - Throws: why the daemon there cannot be reached; ssh itself has said more on standard error.
    static func open(to host: String) throws(Failure) -> Tunnel {
        let tunnel = try Tunnel(loggingInTo: host)
        switch tunnel.answer() {
        case .found(let remote): try tunnel.forward(remote, of: host)
        case .missing(let remote): throw .noDaemon(at: remote, on: host)
        case nil: throw .noLogin(to: host)
        }
        return tunnel
    }

    private init(loggingInTo host: String) throws(Failure) {
        let folder = try PrivateFolder()
        guard let input = Pipe(), let output = Pipe() else {
            throw Failure(.internalFault, "cannot make a pipe: \(systemMessage(errno))")
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

    /// Whatever somebody's configuration says, this is a session of its own, without forwardings of his and a terminal.
    private static func login(to host: String, control: String) -> [String] {
        let options = [
            "ControlMaster=yes", "ControlPath=\(control)", "ControlPersist=no", "ClearAllForwardings=yes",
            "RemoteCommand=none", "StreamLocalBindUnlink=yes",
        ]
        return ["ssh", "-T"] + options.flatMap { ["-o", $0] } + ["--", host, RemoteSocket.command]
    }

    /// Has the session forward the socket; the configuration has no part in it.
    private func forward(_ remote: String, of host: String) throws(Failure) {
        let words = [
            "ssh", "-F", "none", "-S", folder.path(of: "control"), "-O", "forward", "-L", "\(path):\(remote)", "--",
            host,
        ]
        guard try Self.start(ProcessLaunch(words: words)).awaitEnding() == .exited(code: 0) else {
            throw Failure(.unavailable, "ssh does not forward \(quoted(remote)) of \(quoted(host))")
        }
    }

    private static func start(_ launch: ProcessLaunch) throws(Failure) -> StartedProcess {
        // Where whoever started this program ignores it, the system would reap what is to be waited for.
        signal(SIGCHLD, SIG_DFL)
        do {
            return try launch.start()
        } catch {
            let reason = error.errno == ENOENT ? "not in PATH" : "not to be started: \(systemMessage(error.errno))"
            throw Failure(.unavailable, "\(RemoteInvocation.option) needs ssh, which is \(reason)")
        }
    }

    /// What is said there of the socket; nil where the login ends without a word of it.
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

extension Failure {
    fileprivate static func noDaemon(at path: String, on host: String) -> Failure {
        Failure(
            .unavailable,
            "no daemon at \(PrintableText.escape(path)) on \(quoted(host)): start it there with"
                + " `systemctl --user start countdownd.socket`"
        )
    }

    fileprivate static func noLogin(to host: String) -> Failure {
        Failure(
            .unavailable,
            "no login to \(quoted(host)); `ssh \(ShellWord.quote(host))` has to work"
        )
    }
}
