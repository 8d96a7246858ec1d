import Foundation
import TestSupport

/// A redis-server. Its data outlive its process: with `appendfsync everysec`, which is the default, changes of the last two
/// seconds can be lost if the process is killed, because it puts off writing while the disk is slow.
final class RedisServer: RedisProcess {
    /// Starts a server with further options of redis-server, and waits until it accepts commands. With TLS among them,
    /// `{port}` stands for the port, and `--port 0` has to be given. With settings it has a file, into which it writes whether
    /// it is a replica.
    init(
        _ options: [String] = [],
        settings: [String]? = nil,
        environment: [String: String] = [:]
    ) throws {
        let directory = try TemporaryDirectory()
        let port = Int(try LoopbackPort.free())
        let socket = directory.path(of: "redis")
        let own = [
            "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes", "--dir", directory.path, "--unixsocket", socket,
            "--daemonize", "no",
        ]
        let listening = options.contains("--tls-port") ? [] : ["--port", "\(port)"]
        let others = options.map { $0 == "{port}" ? "\(port)" : $0 }
        let file = try settings.map { lines in
            [try directory.write(lines.map { $0 + "\n" }.joined(), to: "redis.conf")]
        }
        super.init(
            (file ?? []) + own + listening + others,
            address: ["-s", socket],
            in: directory,
            port: port,
            environment: environment
        )
        try restart()
    }

    /// Starts it, and waits until it accepts commands.
    func restart() throws {
        try start()
        try awaitReadiness()
    }

    /// Waits until it has loaded its data.
    func awaitReadiness() throws { try awaitLog("Ready to accept connections") }

    /// Lets it fail to save, so that it refuses changes: there is a folder in the place of its file.
    func failToSave() throws {
        try FileManager.default.createDirectory(atPath: dump, withIntermediateDirectories: false)
        try command("CONFIG", "SET", "save", "3600 1000000")
        try save()
    }

    /// Ends `failToSave`.
    func saveAgain() throws {
        try FileManager.default.removeItem(atPath: dump)
        try save()
    }

    private var dump: String { directory.path(of: "dump.rdb") }

    private func save() throws {
        try command("BGSAVE")
        try waitUntil("the end of saving") {
            try command("INFO", "persistence").contains("rdb_bgsave_in_progress:0")
        }
    }
}
