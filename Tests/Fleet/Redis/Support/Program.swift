import CProcess
import Foundation
import TestSupport

/// A process; a test reads its output line by line. It is killed if the test releases it before its end.
final class Program {
    private let process: ChildProcess
    private let output: CollectedOutput
    /// The lines that the test has read.
    private(set) var lines: [String] = []

    /// The process identifier.
    var identifier: pid_t { process.identifier }
    /// Whether the process has not ended.
    var isRunning: Bool { process.isRunning }

    /// Starts an executable with an empty standard input.
    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [-1, -1]
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0, pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemCallFailure("pipe2") }
        defer { for descriptor in [input, ends[1]] { close(descriptor) } }
        output = CollectedOutput(of: ends[0])
        process = try ChildProcess(
            executable,
            arguments: arguments,
            environment: environment,
            descriptors: [input, ends[1], ends[1]]
        )
    }

    /// Sends a signal, unless the process has been reaped.
    func send(signal: Int32) { process.send(signal: signal) }

    /// Sends SIGSTOP, and waits until every thread has stopped.
    func stop() throws { try process.stop() }

    /// Ends it with SIGKILL and waits for its end.
    func kill() throws {
        send(signal: SIGKILL)
        try process.wait()
    }

    /// Waits for its end.
    ///
    /// - Returns: its exit code.
    /// - Throws: `ProgramFailure` if a signal has ended it.
    func wait() throws -> Int32 {
        while try line() != nil {}
        guard case .exited(let code) = try process.wait() else { throw ProgramFailure("it was killed after \(lines)") }
        return code
    }

    /// The next line of its output; nil at the end.
    func line(by deadline: Deadline = Deadline()) throws -> String? {
        guard let line = try output.line(at: lines.count, by: deadline) else { return nil }
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

/// Something did not happen in time, or a program failed.
struct ProgramFailure: Error, CustomStringConvertible {
    /// A sentence.
    let description: String

    init(_ sentence: String) { description = sentence }
}

/// The lines that come out of a pipe. A thread reads them, so that a program never waits for the test.
private final class CollectedOutput: @unchecked Sendable {
    private let condition = NSCondition()
    private var lines: [String] = []
    private var isComplete = false

    /// Reads a descriptor to its end and closes it.
    init(of descriptor: Int32) { Thread.detachNewThread { self.read(descriptor) } }

    private func read(_ descriptor: Int32) {
        let stream = fdopen(descriptor, "r")
        defer { fclose(stream) }
        var text: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(text) }
        while getline(&text, &capacity, stream) > 0, let text {
            let line = String(cString: text)
            add(line.hasSuffix("\n") ? String(line.dropLast()) : line)
        }
        add(nil)
    }

    /// Adds a line, or nil for the end.
    private func add(_ line: String?) {
        condition.lock()
        defer { condition.unlock() }
        if let line { lines.append(line) } else { isComplete = true }
        condition.broadcast()
    }

    /// Waits for a line; nil if the output has ended before it.
    func line(at index: Int, by deadline: Deadline) throws -> String? {
        condition.lock()
        defer { condition.unlock() }
        while index >= lines.count {
            guard !isComplete else { return nil }
            guard !deadline.hasPassed else { throw ProgramFailure("no further line after \(lines)") }
            _ = condition.wait(until: Date(timeIntervalSinceNow: 1))
        }
        return lines[index]
    }
}
