import Glibc
import IPC
import TestSupport
import Testing

@Suite("A turn that cannot be stored", .withoutSanitizers)
struct TurnTests {
    private let injection: FaultInjection
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        let directory = try TemporaryDirectory()
        injection = try FaultInjection(in: directory)
        daemon = try DaemonProcess(in: directory, environment: injection.environment())
        caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "old", durationUSec: 3_600_000_000))
    }

    private func failFromNowOn() {
        injection.set(.errno(ENOSPC), at: .from(1))
    }

    /// Lets the daemon receive all calls at once, in one turn.
    private func inOneTurn(_ body: () throws -> Void) rethrows {
        daemon.process.send(signal: SIGSTOP)
        defer { daemon.process.send(signal: SIGCONT) }
        try body()
    }

    @Test("a watch continues if its client has sent another call")
    func watch() throws {
        let follower = try Follower(of: daemon, Watch(tick: .zero))
        try follower.events(through: .synced)
        failFromNowOn()
        try inOneTurn {
            try follower.caller.send(GetStatus())
            try caller.send(Start(key: "new"))
        }
        let error = #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        #expect(error?.name == .storageFailed)
        injection.heal()
        _ = try caller.call(Start(key: "new"))
        #expect(try follower.next().type == .started)
    }

    @Test("if its Start is rolled back, a Wait fails, and the calls behind it are answered")
    func pipeline() throws {
        failFromNowOn()
        try inOneTurn {
            try caller.send(Start(key: "new"))
            try caller.send(Wait(key: "new"))
            try caller.send(Get(key: "old"))
        }
        #expect(throws: CountdownError.self) { try caller.answer(to: Start.self) }
        #expect(throws: CountdownError.noSuchCountdown(key: "new")) { try caller.answer(to: Wait.self) }
        #expect(try caller.answer(to: Get.self).value.countdown.key == "old")
    }
}
