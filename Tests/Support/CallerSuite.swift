package import IPC

/// A daemon and a client of it, which are new for each test.
package protocol CallerSuite {
    /// The daemon.
    associatedtype Daemon: Reachable
    /// The daemon.
    var daemon: Daemon { get }
    /// A client of the daemon.
    var caller: Caller { get }
}

extension CallerSuite {
    /// Lets another client queue, and returns once the daemon has queued it.
    package func queue(_ start: Start) throws -> Caller {
        let before = try queued()
        let client = try Caller(of: daemon)
        try client.send(start)
        try awaitQueued(before + 1)
        return client
    }

    /// The number of queued starts.
    package func queued() throws -> Int64 { try caller.call(GetStatus()).queuedStarts ?? 0 }

    /// Waits until this many starts are queued.
    package func awaitQueued(_ count: Int64) throws {
        try waitUntil("\(count) queued starts") { try queued() == count }
    }
}
