import CProcess
import Glibc
import TestSupport

/// Something did not happen in time, or a helper failed.
struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) { description = sentence }
}

/// A process; a test reads its output line by line. It is killed if the test releases it before its end.
final class Program {
    private let process: ChildProcess
    private let output: Int32
    private var unread: [UInt8] = []
    private(set) var lines: [String] = []

    var identifier: pid_t { process.identifier }
    var isRunning: Bool { process.isRunning }

    init(_ executable: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        var ends: [Int32] = [-1, -1]
        let input = open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard input >= 0, pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemCallFailure("pipe2") }
        defer { for descriptor in [input, ends[1]] { close(descriptor) } }
        output = ends[0]
        process = try ChildProcess(
            executable,
            arguments: arguments,
            environment: environment,
            descriptors: [input, ends[1], ends[1]]
        )
    }

    deinit { close(output) }

    func send(signal: Int32) { process.send(signal: signal) }

    func kill() throws {
        send(signal: SIGKILL)
        try process.wait()
    }

    /// Waits for its end, and returns its exit code.
    func wait() throws -> Int32 {
        while try line() != nil {}
        guard case .exited(let code) = try process.wait() else { throw Failure("it was killed after \(lines)") }
        return code
    }

    /// The next line of its output; nil at the end.
    func line(by deadline: Deadline = Deadline()) throws -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: unread[..<end], as: UTF8.self)
                unread = Array(unread[(end + 1)...])
                lines.append(line)
                return line
            }
            var entry = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, 1_000) >= 0 || errno == EINTR else { throw SystemCallFailure("poll") }
            guard !deadline.hasPassed else { throw Failure("no further line after \(lines)") }
            guard entry.revents != 0 else { continue }
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(output, &buffer, buffer.count)
            guard count > 0 else { return nil }
            unread += buffer.prefix(count)
        }
    }

    /// Reads lines until one contains the text.
    @discardableResult
    func line(containing text: String) throws -> String {
        while let line = try line() {
            if line.contains(text) { return line }
        }
        throw Failure("the program has ended without the line '\(text)': \(lines)")
    }

    /// Runs a program to its end.
    ///
    /// - Returns: its output.
    /// - Throws: `Failure` if its exit code is not 0.
    static func run(_ executable: String, _ arguments: [String]) throws -> String {
        let program = try Program(executable, arguments)
        let code = try program.wait()
        let output = program.lines.joined(separator: "\n")
        guard code == 0 else { throw Failure("\(executable) \(arguments) ends with \(code): \(output)") }
        return output
    }
}
