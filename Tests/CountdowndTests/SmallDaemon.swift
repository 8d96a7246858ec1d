import CountdownCore
import IPC
import TestSupport

@testable import countdownd

/// A daemon inside this process, with limits that a test can reach. It runs as long as the process does.
struct SmallDaemon {
    private let directory: TemporaryDirectory
    private var path: String { directory.path(of: "socket") }

    /// Starts it.
    ///
    /// - Parameter limits: changes the limits.
    /// - Throws: where it cannot be started.
    init(_ limits: (inout Policy) -> Void) throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "socket")
        self.directory = directory
        var policy = Policy()
        limits(&policy)
        let log = Log(level: .error, journalStream: nil)
        let opening = StoreOpening(
            directory: directory.path(of: "state"),
            durability: .process,
            policy: policy,
            log: log
        )
        let daemon = try Daemon(
            policy: policy,
            options: Options(),
            log: log,
            supervisor: Supervisor(),
            storage: Storage(opening: opening, log: log),
            listen: { try Listener(path: path) }
        )
        daemon.start()
    }

    func connect() throws -> RawConnection {
        try RawConnection(to: path)
    }

    func caller() throws -> Caller {
        Caller(on: try connect())
    }

    func follower(_ watch: IPC.Watch = IPC.Watch()) throws -> Follower {
        try Follower(on: connect(), watch)
    }
}
