import Backend
import BackendContract
import RedisSupport
import TestSupport
import Testing

/// An engine that was healthy when it was checked, and then sends what no engine sends.
@Suite("A hostile engine", .serialized)
struct HostileEngineTests {
    /// A bridge that has checked an engine, which answers everything else as the test chooses.
    private func bridge(
        _ answer: @escaping @Sendable ([String]) -> FakeEngine.Reply
    ) throws -> (BridgeProcess, FakeEngine) {
        let engine = try FakeEngine { FakeEngine.healthy($0) ?? answer($0) }
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: engine.port)
        try bridge.program.line(containing: "connected to Redis 7.0.15")
        return (bridge, engine)
    }

    @Test("nonsense does not end the bridge", arguments: 0..<4 as Range<UInt64>)
    func nonsense(seed: UInt64) throws {
        let (bridge, engine) = try bridge { command in
            var generator = SeededGenerator(seed: command.joined().utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
            let nonsense = [
                "*2\r\n$1\r\n0\r\n*0\r\n", "*3\r\n*-1\r\n$-1\r\n:5\r\n", "$-1\r\n", ":9223372036854775807\r\n",
                "*0\r\n",
                "*2\r\n:9223372036854775807\r\n:1\r\n", "*2\r\n:-9223372036854775808\r\n*2\r\n$3\r\nwon\r\n$1\r\n5\r\n",
                "*2\r\n$3\r\n-99\r\n*1\r\n$1\r\nx\r\n", "-ERR no\r\n", "+OK\r\n",
                "*2\r\n$19\r\n9223372036854775807\r\n*2\r\n$3\r\nwon\r\n$20\r\n99999999999999999999\r\n",
                "*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$5\r\na\n1 b \r\n",
                "*3\r\n:1\r\n*1\r\n*2\r\n$21\r\n-9223372036854775808-0\r\n*0\r\n*0\r\n",
            ]
            return .text(nonsense.randomElement(using: &generator) ?? "")
        }
        let client = try bridge.client()
        for after in [nil, 5, Int64.max] as [Int64?] {
            let follower = try bridge.client()
            try follower.follow(after: after, id: after.map { "x.\($0)" })
            _ = try follower.update()
        }
        for number in 0..<8 {
            let answer = try client.propose(Propose.Proposal("a", "x.\(number)"))
            #expect([.unknown, .unreachable, .conflict].contains(answer.outcome))
        }
        #expect(bridge.program.isRunning)
        withExtendedLifetime(engine) {}
    }
}
