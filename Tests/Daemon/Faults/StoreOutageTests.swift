import Glibc
import IPC
import TestSupport
import Testing

@testable import countdownd

@Suite("A store whose calls fail for some time", .withoutSanitizers)
struct StoreOutageTests {
    private let injection: FaultInjection
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        let directory = try TemporaryDirectory()
        injection = try FaultInjection(in: directory)
        daemon = try DaemonProcess(in: directory, environment: injection.environment())
        caller = try Caller(of: daemon)
    }

    @Test("a retry without changes finds out whether the store works")
    func tries() throws {
        injection.set(.errno(EIO), at: .from(1))
        #expect(throws: CountdownError.self) { try caller.call(Start(key: "tea")) }
        try daemon.awaitStatus { $0.contains("cannot be stored") }
        let follower = try Follower(of: daemon, Watch(tick: .zero, heartbeat: .microseconds(1_000_000)))
        let failed = injection.failed
        // The daemon retries although no client asks for a change.
        while injection.failed < failed + 4, !isSaidToWork { try follower.events(through: .heartbeat) }
        #expect(!isSaidToWork)
        injection.heal()
        try daemon.awaitStatus { !$0.contains("cannot be stored") }
        #expect(isSaidToWork)
    }

    private var isSaidToWork: Bool { daemon.standardError.contains("stored again") }

    /// How often the daemon asks for a lock until it answers.
    private func locksAsked(for key: String, _ isMeant: (CountdownError?) -> Bool) throws -> Int {
        injection.startOver()
        injection.set(.errno(0), at: .none, of: .all)
        do {
            _ = try caller.call(Start(key: key))
            #expect(isMeant(nil))
        } catch let error as CountdownError {
            #expect(isMeant(error))
        }
        return injection.trace.filter { $0 == "l" }.count
    }

    @Test("if another program holds the lock, the first turn waits for some time, and later turns do not wait")
    func held() throws {
        let usual = try locksAsked(for: "a") { $0 == nil }
        let other = try Database(path: "\(daemon.stateDirectory)/countdowns.db", busyMilliseconds: 0)
        try other.execute("BEGIN IMMEDIATE")
        let first = try locksAsked(for: "b") { $0 == .storageFailed(reason: "database is locked") }
        let second = try locksAsked(for: "b") { $0 == .storageFailed(reason: "database is locked") }
        #expect(first > 3 * usual)
        #expect(second <= usual)
        try other.execute("ROLLBACK")
        #expect(try locksAsked(for: "b") { $0 == nil } < first)
        try other.execute("BEGIN IMMEDIATE")
        #expect(try locksAsked(for: "c") { $0?.name == .storageFailed } > 3 * usual)
    }
}
