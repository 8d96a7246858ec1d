import Foundation

/// A real countdownd with a socket, a state directory and a service manager of its own.
public final class DaemonProcess: Reachable {
    /// The directory of the socket, the state and the log.
    public let directory: TemporaryDirectory
    /// The socket of its service manager.
    public let notifications: NotificationSocket
    /// The process of countdownd.
    public let process: ChildProcess

    /// Starts the daemon and waits until it is ready.
    ///
    /// The socket and the state are in `directory`; if an earlier daemon used the directory, its state is found again.
    /// The environment is `environment` and `NOTIFY_SOCKET`, nothing else. The sockets are passed as a service manager
    /// would.
    public convenience init(
        in directory: TemporaryDirectory? = nil,
        arguments: [String] = [],
        environment: [String: String] = [:],
        listening sockets: [Int32] = []
    ) throws {
        try self.init(
            starting: [],
            in: directory ?? TemporaryDirectory(),
            arguments: arguments,
            environment: environment,
            listening: sockets
        )
        try awaitReadiness()
    }

    /// Starts the daemon without waiting.
    ///
    /// - Parameters:
    ///   - launcher: a command that becomes the daemon, which is its last arguments; empty for none.
    ///   - directory: the directory of the socket and the state.
    ///   - arguments: further arguments.
    ///   - environment: further variables.
    ///   - sockets: listening sockets, passed as a service manager would.
    /// - Throws: why it cannot be started.
    public init(
        starting launcher: [String],
        in directory: TemporaryDirectory,
        arguments: [String] = [],
        environment: [String: String] = [:],
        listening sockets: [Int32] = []
    ) throws {
        self.directory = directory
        let notify = directory.path(of: "notify")
        unlink(notify)
        notifications = try NotificationSocket(path: notify)
        let command = ["--socket", directory.path(of: "socket"), "--state-directory", directory.path(of: "state")]
        process = try start(
            launcher,
            command + arguments,
            environment: environment.merging(["NOTIFY_SOCKET": notify]) { given, _ in given },
            sockets: sockets,
            log: directory.path(of: "log")
        )
    }

    /// Waits until the daemon is ready.
    public func awaitReadiness() throws {
        do {
            try notifications.await("READY=1", from: process)
        } catch {
            throw NotReady(reason: error, log: standardError)
        }
    }

    /// The path of the daemon's socket.
    public var socketPath: String { directory.path(of: "socket") }
    /// The path of the state directory.
    public var stateDirectory: String { directory.path(of: "state") }

    /// Everything that daemons in this directory have written to standard error.
    public var standardError: String {
        (try? String(contentsOfFile: directory.path(of: "log"), encoding: .utf8)) ?? ""
    }

    /// A new connection to the daemon.
    public func connect() throws -> RawConnection {
        try RawConnection(to: socketPath)
    }

    /// The next notification with this prefix, such as `STATUS=`.
    @discardableResult
    public func notification(_ prefix: String, until deadline: Deadline = Deadline()) throws -> String {
        try notifications.await(prefix, from: process, until: deadline)
    }

    /// Waits for a status that meets a condition.
    public func awaitStatus(until deadline: Deadline = Deadline(), _ condition: (String) -> Bool) throws {
        while try !condition(notification("STATUS=", until: deadline)) {}
    }

    /// Ends the daemon with SIGTERM and waits for its end.
    @discardableResult
    public func terminate() throws -> ChildProcess.Ending {
        process.send(signal: SIGTERM)
        return try process.wait()
    }

    /// Ends the daemon with SIGKILL and waits for its end.
    @discardableResult
    public func kill() throws -> ChildProcess.Ending {
        process.send(signal: SIGKILL)
        return try process.wait()
    }

    /// The daemon ended or hung before it was ready.
    public struct NotReady: Error, CustomStringConvertible {
        /// The error of the wait.
        public let reason: any Error
        /// The daemon's standard error.
        public let log: String

        /// The error and the daemon's log.
        public var description: String { "countdownd: \(reason)\n\(log)" }
    }
}

private func start(
    _ launcher: [String],
    _ arguments: [String],
    environment: [String: String],
    sockets: [Int32],
    log: String
) throws -> ChildProcess {
    let log = open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    guard log >= 0, nothing >= 0 else { throw SystemCallFailure("open") }
    defer { for descriptor in [log, nothing] { close(descriptor) } }
    let command = try launcher + [BuiltProduct.path(of: "countdownd")] + arguments
    guard !sockets.isEmpty else {
        return try ChildProcess(
            command[0],
            arguments: Array(command.dropFirst()),
            environment: environment,
            descriptors: [nothing, nothing, log]
        )
    }
    // LISTEN_PID names the process that takes the sockets. Before it is started, only the process itself knows its
    // number.
    return try ChildProcess(
        "/bin/sh",
        arguments: ["-c", #"export LISTEN_PID=$$; exec "$0" "$@""#] + command,
        environment: environment.merging(["LISTEN_FDS": "\(sockets.count)"]) { given, _ in given },
        descriptors: [nothing, nothing, log] + sockets
    )
}
