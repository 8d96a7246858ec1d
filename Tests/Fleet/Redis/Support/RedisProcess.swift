import Foundation
import Glibc
import TestSupport

/// A process of Redis on loopback that a test started. Its folder and its port outlive the process.
class RedisProcess {
    let directory: TemporaryDirectory
    /// Its port, for plain text or for TLS.
    let port: Int
    private let arguments: [String]
    private let address: [String]
    private let environment: [String: String]
    /// Whether it is there and answers, unless a command makes it wait.
    private(set) var isAnswering = false
    private var program: Program?

    /// The server program, which is also Sentinel if its arguments are a file and `--sentinel`: redis-server, or the one that
    /// `COUNTDOWND_REDIS_SERVER` names, for example Valkey's.
    private static let executable =
        ProcessInfo.processInfo.environment["COUNTDOWND_REDIS_SERVER"] ?? "/usr/bin/redis-server"

    /// Prepares a process without starting it.
    ///
    /// - Parameters:
    ///   - arguments: the arguments of each start.
    ///   - address: the arguments with which redis-cli connects to it.
    ///   - directory: its working folder.
    ///   - port: the port that the arguments name.
    ///   - environment: variables that are added.
    init(
        _ arguments: [String],
        address: [String],
        in directory: TemporaryDirectory,
        port: Int,
        environment: [String: String] = [:]
    ) {
        (self.arguments, self.address, self.directory, self.port) = (arguments, address, directory, port)
        self.environment = environment
    }

    /// Starts it, with further options, and does not wait for it.
    func start(_ options: [String] = []) throws {
        program = try Program(Self.executable, arguments + options, environment: environment)
        isAnswering = true
    }

    /// Waits until a line of its log contains the text; the lines before it are not looked at again.
    func awaitLog(_ text: String) throws { try program?.line(containing: text) }

    func send(signal: Int32) { program?.send(signal: signal) }

    /// Ends it with SIGKILL, and waits for its end.
    func kill() throws {
        isAnswering = false
        try program?.kill()
        program = nil
    }

    /// Stops it: connections stay, and get no answers.
    func freeze() throws {
        isAnswering = false
        try program?.stop()
    }

    /// Stops it for a time.
    func freeze(for time: Duration) throws {
        try freeze()
        guard let process = program?.identifier else { return }
        Thread.detachNewThread {
            letPass(time)
            Glibc.kill(process, SIGCONT)
        }
        isAnswering = true
    }

    /// Ends `freeze`.
    func thaw() {
        send(signal: SIGCONT)
        isAnswering = true
    }

    // MARK: Commands

    func begin(_ words: [String]) throws -> RunningCommand {
        try RunningCommand(["-e"] + address + words, executable: "/usr/bin/redis-cli")
    }

    @discardableResult
    func command(_ words: String...) throws -> String { try command(words) }

    /// Carries out a command with redis-cli.
    ///
    /// - Returns: its output, without the last newline.
    /// - Throws: `RefusedCommand` if the answer is an error, or no answer comes.
    @discardableResult
    func command(_ words: [String]) throws -> String {
        let run = try begin(words).finish()
        guard run.exitCode == 0 else {
            throw RefusedCommand(words: words, output: run.standardOutput + run.standardError)
        }
        return run.standardOutput.trimmingCharacters(in: .newlines)
    }

    /// A command was answered with an error, or not at all.
    struct RefusedCommand: Error, CustomStringConvertible {
        let words: [String]
        let output: String

        var description: String { "redis-cli \(words.joined(separator: " ")): \(output)" }
    }
}
