import Foundation

/// A user at the command line.
public struct Typist {
    /// The path of the daemon's socket.
    public let socket: String
    /// Further variables in the environment of the commands.
    public var environment: [String: String] = [:]

    /// At the socket with this path.
    public init(at socket: String) { self.socket = socket }

    /// At the socket of a daemon.
    public init(_ daemon: DaemonProcess) { self.init(at: daemon.socketPath) }

    /// Runs a command line, split at its spaces, to its end.
    public func type(_ line: String) throws -> CommandRun { try type(words: words(line)) }

    /// Types the words of a command line, and waits for its end.
    public func type(words: [String]) throws -> CommandRun { try CommandRun(words, environment: allVariables) }

    /// Starts a command that does not end by itself.
    public func begin(_ line: String) throws -> RunningCommand { try begin(words: words(line)) }

    /// Starts a command that does not end by itself, with these words.
    public func begin(words: [String]) throws -> RunningCommand {
        try RunningCommand(words, environment: allVariables)
    }

    /// Types a line for a shell, in which `countdownctl` is ours, and waits for its end.
    public func type(shell line: String) throws -> CommandRun {
        let countdownctl = try BuiltProduct.path(of: "countdownctl")
        return try RunningCommand(
            ["-c", "countdownctl() { '\(countdownctl)' \"$@\"; }; \(line)"],
            executable: "/bin/sh",
            environment: allVariables
        ).finish()
    }

    /// Waits until this many clients watch.
    public func awaitWatchers(_ count: Int, until deadline: ContinuousClock.Instant = .now + .seconds(30)) throws {
        while ContinuousClock.now < deadline {
            if try type("status --json").standardOutput.contains("\"watchers\":\(count),") { return }
        }
        throw NoWatcher()
    }

    /// No client began to watch.
    public struct NoWatcher: Error {}

    private var allVariables: [String: String] {
        ["COUNTDOWND_SOCKET": socket, "TZ": "UTC0"].merging(environment) { _, own in own }
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}

extension CommandRun {
    /// The lines of its standard output, with TIME for each time of day.
    public var data: [String] { lines(of: standardOutput) }

    /// The first line of its standard error; empty if there is none.
    public var message: String { messages.first ?? "" }

    /// The lines of its standard error, with TIME for each time of day.
    public var messages: [String] { lines(of: standardError) }
}

/// The lines of a text, with TIME for each time of day; tomorrow's as well, as a test may run at midnight.
public func lines(of text: String) -> [String] {
    text.replacing(#/(tomorrow )?[0-9]{2}:[0-9]{2}:[0-9]{2}/#, with: "TIME")
        .split(separator: "\n").map(String.init)
}

/// The value of a member in JSON text that a command printed.
public func member(_ name: String, of json: String) throws -> String? {
    let object = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    return object?[name].map { "\($0)" }
}
