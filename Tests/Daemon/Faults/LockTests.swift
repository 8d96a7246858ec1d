import IPC
import TestSupport
import Testing

@testable import countdownd

@Suite("A lock on the store that another program holds", .withoutSanitizers)
struct LockTests {
    private let injection: FaultInjection
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        let directory = try TemporaryDirectory()
        injection = try FaultInjection(in: directory)
        daemon = try DaemonProcess(in: directory, environment: injection.environment())
        caller = try Caller(of: daemon)
    }

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

    @Test("the first turn waits for it for some time, and later turns do not wait while it is held")
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
