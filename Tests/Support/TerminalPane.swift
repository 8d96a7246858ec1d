import CProcess
import Foundation

/// A real terminal, tmux's, in which a program runs. A test types and reads the screen. It never sleeps, because tmux
/// reports whenever something was drawn.
public final class TerminalPane {
    private let directory: TemporaryDirectory
    private let tmux: ChildProcess
    private let commands: Int32
    private let replies: Int32
    private var unread: [UInt8] = []

    /// Runs a line of sh(1), in which `countdownctl` is ours. The environment is `environment` and a `PATH`.
    ///
    /// The terminal stays after the line has ended, with `[exit CODE]` below its output.
    public init(
        _ line: String,
        environment: [String: String] = [:],
        columns: Int = 80,
        rows: Int = 12,
        terminal: String = "tmux-256color"
    ) throws {
        directory = try TemporaryDirectory()
        let built = URL(fileURLWithPath: try BuiltProduct.path(of: "countdownctl")).deletingLastPathComponent().path
        let variables = ["PATH": "\(built):/usr/bin:/bin", "TZ": "UTC0", "LANG": "C.UTF-8", "TERM": terminal]
            .merging(environment) { _, given in given }
            .merging(Sanitizers.options) { given, _ in given }
        let assignments = variables.map { "\($0.key)='\($0.value)'" }.sorted().joined(separator: " ")
        // Ctrl-C is for the program and also for this shell, which must survive to report the program's end.
        let script = """
            trap : INT QUIT
            \(line)
            printf '[exit %s]\\n' $?
            exec cat > /dev/null
            """
        let path = try directory.write(script, to: "line")

        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        guard pipe2(&input, O_CLOEXEC) == 0, pipe2(&output, O_CLOEXEC) == 0 else { throw SystemCallFailure("pipe") }
        defer { for descriptor in [input[0], output[1]] { close(descriptor) } }
        commands = input[1]
        replies = output[0]
        tmux = try ChildProcess(
            "/usr/bin/env",
            arguments: [
                "tmux", "-S", directory.path(of: "tmux"), "-f", "/dev/null", "-C", "new-session",
                "-x", "\(columns)", "-y", "\(rows)", "exec env -i \(assignments) sh '\(path)'",
            ],
            environment: ["PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm"],
            descriptors: [input[0], output[1], output[1]]
        )
        // The reply to new-session itself.
        _ = try nextReply(until: Deadline())
        _ = try ask("set -g status off")
        _ = try ask("set -g focus-events on")
        try resize(columns: columns, rows: rows)
    }

    deinit {
        _ = try? ask("kill-server")
        close(commands)
        close(replies)
    }

    /// Types text: `\r` is Enter, `\u{3}` Ctrl-C, `\u{1B}[D` the left arrow.
    public func type(_ text: String) throws {
        let bytes = text.utf8.map { String($0, radix: 16) }.joined(separator: " ")
        _ = try ask("send-keys -H \(bytes)")
    }

    /// Pastes text as a terminal does.
    public func paste(_ text: String) throws {
        let path = try directory.write(text, to: "paste")
        _ = try ask("load-buffer '\(path)'")
        _ = try ask("paste-buffer -p")
    }

    /// Clicks with the first mouse button, which the program must have asked for; counted from 0.
    public func click(row: Int, column: Int) throws {
        try type("\u{1B}[<0;\(column + 1);\(row + 1)M\u{1B}[<0;\(column + 1);\(row + 1)m")
    }

    /// Resizes the terminal.
    public func resize(columns: Int, rows: Int) throws {
        _ = try ask("refresh-client -C \(columns)x\(rows)")
    }

    /// A variable of tmux, by its name in tmux(1): `#{cursor_flag}`.
    public func state(_ format: String) throws -> String {
        try ask("display-message -p '\(format)'").joined(separator: "\n")
    }

    /// The screen, without spaces at the end of lines and without empty lines at the end.
    public func picture() throws -> String {
        var lines = try ask("capture-pane -p").map { line in
            String(line.reversed().drop { $0 == " " }.reversed())
        }
        while lines.last?.isEmpty == true { lines.removeLast() }
        return lines.joined(separator: "\n")
    }

    /// The screen with the sequences that color it.
    public func colours() throws -> String { try ask("capture-pane -p -e").joined(separator: "\n") }

    /// Waits until the screen satisfies the condition, and returns it.
    @discardableResult
    public func wait(
        for what: String,
        until deadline: Deadline = Deadline(),
        _ isSo: (String) throws -> Bool
    ) throws -> String {
        while true {
            let picture = try picture()
            if try isSo(picture) { return picture }
            do {
                try awaitNotification(until: deadline)
            } catch is TimedOut {
                let lines = picture.split(separator: "\n").joined(separator: " | ")
                throw TimedOut(waitingFor: "\(what); the screen shows: \(lines)")
            }
        }
    }

    /// Waits until the screen has a text, and returns the screen.
    @discardableResult
    public func wait(for text: String, until deadline: Deadline = Deadline()) throws -> String {
        try wait(for: "\"\(text)\"", until: deadline) { $0.contains(text) }
    }

    /// Types text, waits until the screen has another text, and returns the screen.
    @discardableResult
    public func type(_ text: String, until shown: String) throws -> String {
        try type(text)
        return try wait(for: shown)
    }
}

extension TerminalPane {
    /// Gives tmux a command and returns the answer.
    private func ask(_ command: String, until deadline: Deadline = Deadline()) throws -> [String] {
        let bytes = Array("\(command)\n".utf8)
        guard write(commands, bytes, bytes.count) == bytes.count else { throw SystemCallFailure("write to tmux") }
        return try nextReply(until: deadline)
    }

    /// The lines between `%begin` and `%end`. Notifications of tmux in between are skipped, because every wait looks at
    /// the screen again.
    private func nextReply(until deadline: Deadline) throws -> [String] {
        var lines: [String]?
        while true {
            let line = try nextLine(until: deadline)
            if lines == nil {
                if line.hasPrefix("%begin ") { lines = [] }
            } else if line.hasPrefix("%end ") {
                return lines ?? []
            } else if line.hasPrefix("%error ") {
                throw Refused(answer: (lines ?? []).joined(separator: "\n"))
            } else {
                lines?.append(line)
            }
        }
    }

    /// Waits until tmux reports that something was drawn.
    private func awaitNotification(until deadline: Deadline) throws {
        while !(try nextLine(until: deadline)).hasPrefix("%output") {}
    }

    private func nextLine(until deadline: Deadline) throws -> String {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            _ = try poll([replies], until: deadline, waitingFor: "tmux")
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(replies, &buffer, buffer.count)
            guard count > 0 else { throw Refused(answer: "tmux ended: \(String(decoding: unread, as: UTF8.self))") }
            unread += buffer[..<count]
        }
    }

    /// tmux refused a command.
    public struct Refused: Error {
        /// The answer of tmux.
        public let answer: String
    }
}
