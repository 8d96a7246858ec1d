import Glibc
import IPC
import TestSupport
import Testing

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
}
