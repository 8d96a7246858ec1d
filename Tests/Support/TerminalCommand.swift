import CProcess
import Foundation

/// A countdownctl on a terminal of its own, on which a test types and reads.
public final class TerminalCommand {
    /// The process of countdownctl.
    public let process: ChildProcess
    private let pair: TerminalPair

    /// Starts it as the leader of a session; its environment is `environment` alone. With `ignoresHangUp`, SIGHUP is ignored
    /// at its start, as by nohup(1).
    public init(
        _ arguments: [String],
        environment: [String: String],
        columns: UInt16 = 80,
        ignoresHangUp: Bool = false
    ) throws {
        let pair = try TerminalPair(columns: columns)
        defer { pair.closeTerminal() }
        self.pair = pair
        // In a session with this terminal, because Ctrl-C is a signal only there.
        process = try ChildProcess(
            "/usr/bin/setsid",
            arguments: ["--ctty", "/bin/sh", "-c", "\(ignoresHangUp ? "trap '' HUP; " : "")exec \"$0\" \"$@\""]
                + [try BuiltProduct.path(of: "countdownctl")] + arguments,
            environment: environment,
            descriptors: [pair.terminal, pair.terminal, pair.terminal]
        )
    }

    /// Types characters; `\u{3}` is Ctrl-C.
    public func type(_ text: String) { pair.type(text) }

    /// Closes the terminal, as a window does that is closed.
    public func hangUp() { pair.hangUp() }

    /// Waits for this text, and returns everything shown up to it.
    public func read(through text: String, until deadline: Deadline = Deadline()) throws -> String {
        var shown: [UInt8] = []
        while !String(decoding: shown, as: UTF8.self).contains(text) {
            guard let more = try read(until: deadline) else {
                throw TimedOut(waitingFor: "\"\(text)\" after \"\(String(decoding: shown, as: UTF8.self))\"")
            }
            shown += more
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Everything that is shown from now on until it ends.
    public func finish(until deadline: Deadline = Deadline()) throws -> (shown: String, ending: ChildProcess.Ending) {
        var shown: [UInt8] = []
        while let more = try read(until: deadline) { shown += more }
        return (String(decoding: shown, as: UTF8.self), try process.wait(until: deadline))
    }

    /// - Returns: nil if no process holds the terminal any more.
    private func read(until deadline: Deadline) throws -> [UInt8]? {
        _ = try poll([pair.keyboard], until: deadline, waitingFor: "something to be shown")
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(pair.keyboard, &buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }
}
