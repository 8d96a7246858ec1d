import Glibc
import TestSupport

/// A process; a test reads its output line by line. It is killed if the test releases it before its end.
final class Program {
    private let command: RunningCommand
    /// The lines that the test has read.
    private(set) var lines: [String] = []

    var identifier: pid_t { command.process.identifier }
    var isRunning: Bool { command.process.isRunning }

    /// Starts an executable with an empty standard input.
    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        command = try RunningCommand(arguments, executable: executable, environment: environment, mergingErrors: true)
    }

    /// Sends a signal, unless the process has been reaped.
    func send(signal: Int32) { command.process.send(signal: signal) }

    /// Sends SIGSTOP, and waits until every thread has stopped.
    func stop() throws { try command.process.stop() }

    /// Ends it with SIGKILL and waits for its end.
    func kill() throws {
        send(signal: SIGKILL)
        try command.process.wait()
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code.
    /// - Throws: `ProgramFailure` if a signal has ended it.
    func wait() throws -> Int32 {
        while try line() != nil {}
        guard case .exited(let code) = try command.process.wait() else {
            throw ProgramFailure("it was killed after \(lines)")
        }
        return code
    }

    /// The next line of its output; nil at the end.
    func line() throws -> String? {
        guard let line = try command.line() else { return nil }
        lines.append(line)
        return line
    }

    /// Reads lines until one contains the text.
    ///
    /// - Returns: the line.
    /// - Throws: `ProgramFailure` if no such line comes.
    @discardableResult
    func line(containing text: String) throws -> String {
        while let line = try line() {
            if line.contains(text) { return line }
        }
        throw ProgramFailure("the program has ended without the line '\(text)': \(lines)")
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its output.
    /// - Throws: `ProgramFailure` if its exit code is not 0.
    static func run(_ executable: String, _ arguments: [String]) throws -> String {
        let program = try Program(executable, arguments)
        let code = try program.wait()
        let output = program.lines.joined(separator: "\n")
        guard code == 0 else { throw ProgramFailure("\(executable) \(arguments) ends with \(code): \(output)") }
        return output
    }
}

/// A program failed.
struct ProgramFailure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { description = sentence }
}
