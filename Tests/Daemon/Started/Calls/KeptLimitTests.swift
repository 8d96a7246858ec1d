import IPC
import TestSupport
import Testing

/// `SharedLimitTests` have what needs no process.
@Suite("A limit for all programs of a machine, over a kill")
final class KeptLimitTests: DaemonSuite {
    private func rate(_ key: String, _ count: Int64, per period: Int64) -> Cooldown {
        Cooldown(key, for: .microseconds(period / count), upTo: .microseconds(period), forget: true)
    }

    @Test("2,000 calls at once on a limit of 100 per hour: exactly 100 are accepted, also across a kill")
    func exactly() throws {
        let call = StartAll(cooldowns: [
            rate("api", 100, per: .seconds(3_600)), rate("api/1d", 1_000, per: .seconds(86_400)),
        ])
        let callers = try (0..<50).map { _ in try Caller(of: daemon) }
        for caller in callers {
            for _ in 0..<40 { try caller.send(call) }
        }
        var accepted = 0
        for caller in callers {
            for _ in 0..<40 where try caller.answer(to: StartAll.self).value.accepted { accepted += 1 }
        }
        #expect(accepted == 100)
        try daemon.kill()
        let second = try DaemonProcess(in: daemon.directory)
        let reply = try Caller(of: second).call(StartAll(cooldowns: call.cooldowns, dryRun: true))
        #expect(!reply.accepted)
        #expect(reply.rooms.map(\.left) == [0, 900])
    }
}
