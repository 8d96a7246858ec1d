import IPC
import TestSupport
import Testing

/// A started daemon and a client of it, new for each test.
class DaemonSuite {
    let daemon: DaemonProcess
    let caller: Caller

    init() throws {
        daemon = try DaemonProcess()
        caller = try Caller(of: daemon)
    }

    // MARK: Queued starts

    /// Lets a client queue, and returns once the daemon has queued it.
    func queue(_ start: Start) throws -> Caller {
        let before = try queued()
        let client = try Caller(of: daemon)
        try client.send(start)
        try awaitQueued(before + 1)
        return client
    }

    func queued() throws -> Int64 {
        try #require(try caller.call(GetStatus()).queuedStarts)
    }

    func awaitQueued(_ count: Int64) throws {
        try waitUntil("\(count) queued starts") { try queued() == count }
    }
}
