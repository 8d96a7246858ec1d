import BackendContract
import Glibc
import TestSupport

/// A redis-server on loopback that a test started.
final class RedisServer: EngineController {
    private let directory: TemporaryDirectory
    private let arguments: [String]
    private var process: Program?
    let port: Int

    /// Its folder, which it saves in.
    var folder: String { directory.path }

    /// Starts a server with further options of redis-server. With TLS among them, `{port}` stands for the port, and
    /// `--port 0` has to be given.
    init(_ options: [String] = []) throws {
        directory = try TemporaryDirectory()
        port = Int(try LoopbackPort.free())
        let own = [
            "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", directory.path, "--unixsocket",
            directory.path(of: "redis"), "--daemonize", "no",
        ]
        let listening = options.contains("--tls-port") ? [] : ["--port", "\(port)"]
        let port = port
        arguments = own + listening + options.map { $0 == "{port}" ? "\(port)" : $0 }
        try restart()
    }

    func kill() throws { try process?.kill() }

    func restart() throws { try start(until: "The server is now ready to accept connections at") }

    /// Starts it again, with further options, until a line of its log contains the text.
    func start(_ options: [String] = [], until text: String) throws {
        let process = try Program("/usr/bin/redis-server", arguments + options)
        try process.line(containing: text)
        self.process = process
    }

    func freeze() throws { process?.send(signal: SIGSTOP) }

    func thaw() throws { process?.send(signal: SIGCONT) }

    func loseEverything() throws { try command("FLUSHALL") }

    func trimLog() throws { try command("XTRIM", "cd:{fleet/0}:log", "MAXLEN", "1") }

    func setFull(_ isFull: Bool) throws { try command("CONFIG", "SET", "maxmemory", isFull ? "1" : "0") }

    /// Carries out a command with redis-cli.
    @discardableResult
    func command(_ words: String...) throws -> String { try command(words: words) }

    /// Carries out a command with redis-cli, over TCP: for a server that has lost its folder.
    @discardableResult
    func tcp(_ words: String...) throws -> String { try Program.run("/usr/bin/redis-cli", ["-p", "\(port)"] + words) }

    /// Begins a command with redis-cli, without waiting for its end.
    func begin(_ words: String...) throws -> Program {
        try Program("/usr/bin/redis-cli", ["-s", directory.path(of: "redis")] + words)
    }

    /// Carries out a command with redis-cli.
    @discardableResult
    func command(words: [String]) throws -> String {
        try Program.run("/usr/bin/redis-cli", ["-s", directory.path(of: "redis")] + words)
    }
}
