import Foundation
import Glibc
import TestSupport

/// A redis-server on loopback. Its data outlive its process: with `appendfsync everysec`, changes of the last two seconds can
/// be lost if the process is killed, because it puts off writing while the disk is slow.
final class Engine {
    let directory: TemporaryDirectory
    let port: UInt16
    private var process: ChildProcess?

    /// Starts a server and waits until it answers.
    init() throws {
        directory = try TemporaryDirectory()
        port = try LoopbackPort.free()
        try start()
        try awaitAnswer()
    }

    /// Starts the server, with further options of redis-server, and does not wait for it.
    func start(_ options: [String] = []) throws {
        process = try ChildProcess(
            "/usr/bin/redis-server",
            arguments: [
                "--bind", "127.0.0.1", "--port", "\(port)", "--unixsocket", socket, "--dir", directory.path, "--save",
                "",
                "--appendonly", "yes", "--appendfsync", "always", "--enable-debug-command", "local",
                "--busy-reply-threshold", "100",
            ] + options,
            log: directory.path(of: "log")
        )
    }

    private var socket: String { directory.path(of: "redis") }

    /// Waits until the server has loaded its data.
    func awaitAnswer() throws {
        try waitUntil("an answer of redis-server") { (try? command("PING")) == "PONG" }
    }

    /// Sends the server a signal.
    func send(signal: Int32) { process?.send(signal: signal) }

    func kill() throws {
        send(signal: SIGKILL)
        try process?.wait()
        process = nil
    }

    /// Starts a command with redis-cli.
    func begin(_ words: [String]) throws -> RunningCommand {
        try RunningCommand(["-e", "-s", socket] + words, executable: "/usr/bin/redis-cli")
    }

    /// Carries out a command with redis-cli.
    ///
    /// - Returns: its output, without the last newline.
    @discardableResult
    func command(_ words: String...) throws -> String {
        let run = try begin(words).finish()
        guard run.exitCode == 0 else { throw Unsuccessful(output: run.standardOutput + run.standardError) }
        return run.standardOutput.trimmingCharacters(in: .newlines)
    }

    /// The records that it holds, by key.
    func records() throws -> [String: EngineRecord] {
        let text = try command("--json", "HGETALL", "cd:{fleet/0}:now")
        let members = try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        return try members.mapValues { try EngineRecord($0) }
    }

    /// The records in its log, with their keys, oldest first.
    func log() throws -> [(key: String, record: EngineRecord)] {
        let text = try command("--json", "XRANGE", "cd:{fleet/0}:log", "-", "+")
        let entries = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[Any]] ?? []
        return try entries.map { entry in
            guard let fields = entry.last as? [String], fields.count == 4, fields[0] == "key", fields[2] == "record"
            else {
                throw Unsuccessful(output: "\(entry)")
            }
            return (fields[1], try EngineRecord(fields[3]))
        }
    }

    /// redis-cli has failed, or its output is not the expected one.
    struct Unsuccessful: Error, CustomStringConvertible {
        let output: String

        var description: String { "redis-cli: \(output)" }
    }
}

/// A countdown as the engine holds it.
struct EngineRecord: Decodable {
    let kind: String
    let state: String
    let duration: Int64
    let start: Int64
    let deadline: Int64?
    let label: String?

    /// Reads what is held under a key: a version, an ID and JSON.
    init(_ held: String) throws {
        let parts = held.split(separator: " ", maxSplits: 2)
        guard parts.count == 3 else { throw Engine.Unsuccessful(output: held) }
        self = try JSONDecoder().decode(EngineRecord.self, from: Data(parts[2].utf8))
    }
}

extension ChildProcess {
    /// Starts an executable that appends its output to a file.
    convenience init(_ executable: String, arguments: [String], log: String) throws {
        let log = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        guard log >= 0, nothing >= 0 else { throw SystemCallFailure("open") }
        defer { for descriptor in [log, nothing] { close(descriptor) } }
        try self.init(executable, arguments: arguments, environment: [:], descriptors: [nothing, log, log])
    }
}
