import CountdownCore
import Foundation
import IPC
import System
import TestSupport

@testable import countdownd

/// A daemon inside this process, with limits that a test chooses, on a time that the test moves. It runs as long as the process.
struct SmallDaemon: Reachable {
    private let directory: TemporaryDirectory
    /// Its time.
    let time: DrivenTime
    /// The path of its socket.
    var socketPath: String { directory.path(of: "socket") }

    /// Starts it.
    ///
    /// - Parameters:
    ///   - directory: for its socket and state.
    ///   - time: its time.
    ///   - log: its log.
    ///   - options: its options.
    ///   - change: changes the limits.
    /// - Throws: if it cannot be started.
    init(
        in directory: TemporaryDirectory? = nil,
        time: DrivenTime = DrivenTime(),
        log: Log = Log(level: .error, journalStream: nil),
        options: Options = Options(),
        _ change: (inout Limits) -> Void = { _ in }
    ) throws {
        // Its descriptors stay open as long as the process.
        try raiseDescriptorLimit(to: 16_384)
        let directory = try directory ?? TemporaryDirectory()
        let path = directory.path(of: "socket")
        (self.directory, self.time) = (directory, time)
        var options = options
        change(&options.limits)
        let location = StoreLocation(
            directory: directory.path(of: "state"),
            durability: .process,
            limits: options.limits,
            log: log
        )
        let daemon = try Daemon(
            options: options,
            log: log,
            serviceManager: ServiceManager(),
            signals: SignalDescriptor([]),
            storage: RetryingStore(location: location, log: log),
            time: time.source,
            listen: { try Listener(at: path) }
        )
        // The daemon notices if its directory is removed, so the directory lives as long as the daemon.
        Thread.detachNewThread { withExtendedLifetime(directory) { () -> Void in daemon.run() } }
    }

    func connect() throws -> RawConnection { try RawConnection(to: socketPath) }

    /// Connects as another user, which needs root and `letAllIn`.
    func connect(as user: UInt32?) throws -> RawConnection { try RawConnection(to: socketPath, as: user) }

    /// Lets all users connect.
    func letAllIn() throws {
        try letAll(into: directory, connectTo: socketPath)
    }

    func caller() throws -> Caller {
        Caller(on: try connect())
    }

    func follower(_ watch: IPC.Watch = IPC.Watch()) throws -> Follower {
        try Follower(on: connect(), watch)
    }
}

/// A daemon in this process and a client of it, new for each test.
class SmallDaemonSuite: CallerSuite {
    let daemon: SmallDaemon
    let caller: Caller
    var time: DrivenTime { daemon.time }

    init() throws {
        daemon = try SmallDaemon()
        caller = try Caller(of: daemon)
    }
}
