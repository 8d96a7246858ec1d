import CProcess
import Foundation

/// A countdownctl that runs while the test reads its output.
public final class RunningCommand {
    /// The process of the command.
    public let process: ChildProcess
    private let directory: TemporaryDirectory
    private let output: Int32
    /// The writing end of its standard input, if that is a pipe.
    private var input: Int32?
    private var unread: [UInt8] = []
    private var read: [UInt8] = []

    /// Starts countdownctl, or another executable, with `input` as its whole standard input. If `input` is nil,
    /// standard input stays open and empty until this object is released. The environment is `environment` and a
    /// `PATH`, nothing else.
    public init(
        _ arguments: [String],
        executable: String? = nil,
        environment: [String: String] = [:],
        input: String? = ""
    ) throws {
        directory = try TemporaryDirectory()
        var inputs: [Int32] = [-1, -1]
        if let input {
            inputs[0] = open(try directory.write(input, to: "input"), O_RDONLY | O_CLOEXEC)
        } else if pipe2(&inputs, O_CLOEXEC) != 0 {
            throw SystemCallFailure("pipe")
        }
        self.input = input == nil ? inputs[1] : nil
        let errors = open(directory.path(of: "errors"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        var ends: [Int32] = [-1, -1]
        guard inputs[0] >= 0, errors >= 0, pipe2(&ends, O_CLOEXEC) == 0 else { throw SystemCallFailure("open") }
        defer { for descriptor in [inputs[0], errors, ends[1]] { close(descriptor) } }
        output = ends[0]
        process = try ChildProcess(
            executable ?? BuiltProduct.path(of: "countdownctl"),
            arguments: arguments,
            environment: ["PATH": "/usr/bin:/bin"].merging(environment) { _, given in given },
            descriptors: [inputs[0], ends[1], errors]
        )
    }

    deinit {
        close(output)
        endInput()
    }

    /// Types text into its standard input, which must be a pipe.
    public func type(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard let input, write(input, bytes, bytes.count) == bytes.count else { throw SystemCallFailure("write") }
    }

    /// Closes its standard input, which must be a pipe.
    public func endInput() {
        if let input { close(input) }
        input = nil
    }

    /// The next line of its standard output, without its newline; nil at the end of the output.
    public func line(until deadline: Deadline = Deadline()) throws -> String? {
        var atEnd = false
        while true {
            let newline = unread.firstIndex(of: UInt8(ascii: "\n"))
            if let end = newline ?? (atEnd && !unread.isEmpty ? unread.endIndex : nil) {
                let line = unread[..<end]
                unread = Array(unread[end...].dropFirst())
                return String(decoding: line, as: UTF8.self)
            }
            if atEnd { return nil }
            atEnd = try !receive(until: deadline)
        }
    }

    /// Its standard error so far.
    public func standardError() throws -> String {
        try String(contentsOfFile: directory.path(of: "errors"), encoding: .utf8)
    }

    /// Sends the signal of Ctrl-C.
    public func interrupt() {
        process.send(signal: SIGINT)
    }

    /// Sends the signal of Ctrl-C and waits for its end.
    public func stop() throws -> CommandRun {
        interrupt()
        return try finish()
    }

    /// Waits for its end and returns everything that it printed.
    public func finish(until deadline: Deadline = Deadline()) throws -> CommandRun {
        while try receive(until: deadline) {}
        return CommandRun(
            standardOutput: String(decoding: read, as: UTF8.self),
            standardError: try standardError(),
            ending: try process.wait(until: deadline)
        )
    }

    /// - Returns: false at the end of its output.
    private func receive(until deadline: Deadline) throws -> Bool {
        _ = try poll(
            [output],
            until: deadline,
            waitingFor: "output, after \"\(String(decoding: read, as: UTF8.self))\""
        )
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(output, &buffer, buffer.count)
        guard count >= 0 else { throw SystemCallFailure("read") }
        unread += buffer[..<count]
        read += buffer[..<count]
        return count > 0
    }
}
