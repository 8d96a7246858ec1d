import Foundation
import TestSupport

/// A real countdown-notify with a service manager of its own.
final class NotifyProcess {
    let process: ChildProcess
    private let notifications: NotificationSocket
    private let log: String

    /// Starts it and waits until it is ready.
    ///
    /// - Parameters:
    ///   - arguments: arguments after the state directory.
    ///   - socket: the path of the daemon's socket.
    ///   - address: the address of the session bus.
    ///   - directory: the directory that contains the state directory.
    ///   - awaited: the beginning of the status to wait for.
    ///   - environment: more variables.
    ///   - executable: the program; nil for the one that was built.
    /// - Throws: an error if the process ends before.
    init(
        _ arguments: [String] = [],
        of socket: String,
        on address: String,
        in directory: TemporaryDirectory,
        until awaited: String = "everything is shown",
        environment: [String: String] = [:],
        executable: String? = nil
    ) throws {
        let notify = directory.path(of: "notify.\(UUID().uuidString.prefix(8))")
        notifications = try NotificationSocket(path: notify)
        log = directory.path(of: "notify.log")
        let errors = unsafe open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        let nothing = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
        guard errors >= 0, nothing >= 0 else { throw SystemCallFailure("open") }
        defer { for descriptor in [errors, nothing] { close(descriptor) } }
        process = try ChildProcess(
            executable ?? BuiltProduct.path(of: "countdown-notify"),
            arguments: ["--state-directory", directory.path(of: "state")] + arguments,
            environment: [
                "COUNTDOWND_SOCKET": socket, "DBUS_SESSION_BUS_ADDRESS": address, "NOTIFY_SOCKET": notify, "TZ": "UTC0",
                // No player of sounds, unless a test puts one there.
                "PATH": directory.path(of: "programs"),
            ].merging(environment) { _, given in given },
            descriptors: [nothing, nothing, errors]
        )
        try notifications.await("READY=1", from: process)
        try awaitStatus(awaited)
    }

    /// Waits for a status with this beginning.
    func awaitStatus(_ beginning: String) throws {
        try notifications.await("STATUS=\(beginning)", from: process)
    }

    /// The standard error of this process and of earlier ones in the directory.
    var standardError: String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }

    /// Ends it with SIGTERM and waits for that.
    @discardableResult
    func terminate() throws -> ChildProcess.Ending {
        process.send(signal: SIGTERM)
        return try process.wait()
    }

    /// Ends it with SIGKILL and waits for that.
    func kill() throws {
        process.send(signal: SIGKILL)
        try process.wait()
    }
}
