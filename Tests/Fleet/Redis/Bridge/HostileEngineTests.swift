import BackendContract
import FleetWire
import Foundation
import TestSupport
import Testing

/// An engine that was healthy when it was checked, and then sends messages that no engine should send.
@Suite("A hostile engine", .serialized)
struct HostileEngineTests {
    /// A bridge that has checked an engine, which answers as the test chooses, or as a healthy one.
    private func bridge(
        _ answer: @escaping @Sendable ([String]) -> FakeEngine.Reply?
    ) throws -> (BridgeProcess, FakeEngine) {
        let engine = try FakeEngine { answer($0) ?? FakeEngine.healthy($0) ?? FakeEngine.empty($0) ?? .text("") }
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: engine.port)
        try bridge.program.line(containing: "connected to Redis 7.0.15")
        return (bridge, engine)
    }

    /// The greatest memory that the bridge has used, in MiB.
    private func peakMemory(_ bridge: BridgeProcess) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(bridge.program.identifier)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first) / 1_024
    }

    /// Ends the bridge, and returns its lines that contain the text.
    private func lines(_ bridge: BridgeProcess, containing text: String) throws -> [String] {
        bridge.program.send(signal: SIGTERM)
        #expect(try bridge.program.wait() == 0)
        return bridge.program.lines.filter { $0.contains(text) }
    }

    @Test("nonsense does not end the bridge", arguments: 0..<4 as Range<UInt64>)
    func nonsense(seed: UInt64) throws {
        let (bridge, engine) = try bridge { command in
            guard FakeEngine.healthy(command) == nil else { return nil }
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

    @Test(
        "an endless, an enormous and a broken reply to a change are named, and memory stays bounded",
        arguments: [
            (FakeEngine.Reply.endless("+", "x"), "sent a reply of more than 65536 bytes"),
            (.text("$9999999999\r\n"), "sent a reply of more than 8388608 bytes"),
            (.text("*1000000000\r\n"), "sent a reply of more than 1048576 elements"),
            (
                .endless("*100000\r\n", "$-1\r\n:1\r\n+\r\n*0\r\n"),
                "answers EVALSHA with something else than the script's reply"
            ),
            (.endless("", "*2\r\n"), "sent a reply of more than 8 arrays in each other"),
            (.endless("*1048576\r\n", "$100\r\n%\r\n"), "sent a reply of more than 134217728 bytes"),
            (.text("$-7\r\n"), "sent what is not RESP2: a length or a line end is invalid"),
            (.text("$1\r\nabc"), "sent what is not RESP2: a length or a line end is invalid"),
            (.endless("", "\u{0}"), "is no Redis or Valkey: it sent the byte 0"),
            (.close("*2\r\n$10\r\n1700000000\r\n*1\r\n"), "has closed the connection"),
            (.text(":1\r\n:2\r\n"), "answers EVALSHA with something else than the script's reply"),
            (.text("*2\r\n$10\r\n1700000000\r\n*2\r\n$3\r\nwon\r\n$1\r\nx\r\n"), "answers EVALSHA with something else"),
            (.text("*1\r\n$10\r\n1700000000\r\n"), "answers EVALSHA with something else than the script's reply"),
            (.text(""), "no answer from % within 2 s"),
        ]
    )
    func brokenReply(reply: FakeEngine.Reply, sentence: String) throws {
        var reply = reply
        if case .endless(let text, let rest) = reply {
            reply = .endless(text, rest.replacing("%", with: String(repeating: "x", count: 100)))
        }
        let (bridge, engine) = try bridge { [reply] in $0.first == "EVALSHA" && !$0[1].isEmpty ? reply : nil }
        let answer = try bridge.client().propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unknown)
        let expected = sentence.replacing("%", with: "127.0.0.1:\(engine.port)")
        #expect(answer.reason?.contains(expected) == true, "\(answer)")
        try bridge.program.line(containing: expected)
        // It is connected to again, and local clients are answered.
        #expect(try bridge.client().propose([]).isEmpty)
        #expect(try peakMemory(bridge) < 600)
    }

    @Test("a reply that no command has asked for is named")
    func unaskedReply() throws {
        let (bridge, engine) = try bridge { command in
            command.first == "EVALSHA" && !command[1].isEmpty ? .text(FakeEngine.early + ":1\r\n") : nil
        }
        #expect(try bridge.client().propose(Propose.Proposal("a", "x.1")).outcome == .early)
        try bridge.program.line(containing: "error: 127.0.0.1:\(engine.port) sent a reply that belongs to no command")
    }

    @Test(
        "a flood of messages is logged once at most, changes are answered meanwhile, and memory stays bounded",
        arguments: [
            ("nonsense", 1), ("", 1), ("a\n99 y.1 {}", 1), ("a\n1 y.1 {}", 1), ("a\n-1 y.1 {}", 1), ("\n", 4_000_000),
            ("a\n1 y.1 {}\n", 100_000),
        ]
    )
    func flood(text: String, count: Int) throws {
        let message = String(repeating: text, count: count)
        let flood = "*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$\(message.utf8.count)\r\n\(message)\r\n"
        let (bridge, engine) = try bridge { command in
            switch command.first {
            case "SSUBSCRIBE": .endless("+OK\r\n", flood)
            case "EVALSHA" where !command[1].isEmpty: .text(FakeEngine.early)
            default: nil
            }
        }
        let follower = try bridge.follower()
        let client = try bridge.client()
        for number in 0..<100 {
            #expect(try client.propose(Propose.Proposal("a", "x.\(number)")).outcome == .early)
        }
        #expect(try peakMemory(bridge) < 600)
        #expect(try lines(bridge, containing: "127.0.0.1:\(engine.port) is no change").count <= 1)
        withExtendedLifetime(follower) {}
    }

    @Test(
        "a snapshot and a log that are none, and those without an end, are named",
        arguments: [
            ("EVAL", "*2\r\n$-1\r\n*0\r\n", "answers EVAL with something else than the script's reply"),
            ("EVAL", "*2\r\n:5\r\n:5\r\n", "answers EVAL with something else than the script's reply"),
            ("HSCAN", "*2\r\n$1\r\nx\r\n*0\r\n", "answers HSCAN with something else than its reply"),
            ("HSCAN", "*2\r\n$1\r\n7\r\n*0\r\n", "answers HSCAN with something else than its reply"),
            ("HSCAN", "*2\r\n$1\r\n0\r\n$-1\r\n", "answers HSCAN with something else than its reply"),
            ("XRANGE", ":5\r\n", "answers XRANGE with something else than its reply"),
            ("XRANGE", "many", "answers XRANGE with something else than its reply"),
            ("XRANGE", "*1\r\n*2\r\n$3\r\n6-0\r\n*0\r\n", "the log has a gap after version 5: every record is read"),
        ]
    )
    func brokenSnapshot(command: String, reply: String, sentence: String) throws {
        let (bridge, engine) = try bridge { words in
            guard words.first == command, FakeEngine.healthy(words) == nil else { return nil }
            return .text(reply.replacing("many", with: "*1001\r\n" + String(repeating: ":1\r\n", count: 1_001)))
        }
        let follower = try bridge.client()
        try follower.follow()
        try bridge.program.line(containing: sentence)
        #expect(bridge.program.isRunning)
        withExtendedLifetime((engine, follower)) {}
    }

    @Test("a change that is made while the log is searched for a message that was no change is no gap")
    func changeDuringSearch() throws {
        let (followers, positions) = (Received(), Received())
        let (bridge, engine) = try bridge { command in
            let message = "*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$11\r\na\n99 y.1 {}\r\n"
            let change = "*1\r\n*2\r\n$3\r\n6-0\r\n*2\r\n$1\r\na\r\n$8\r\n6 y.1 {}\r\n"
            switch (command.first, command.count > 2 ? command[2] : nil) {
            case ("SSUBSCRIBE", _): return .later("+OK\r\n", message) { !followers.commands.isEmpty }
            // The script that looks up a position has three keys.
            case ("EVAL", "3"):
                positions.add(command)
                return .text("*4\r\n:6\r\n$-1\r\n\(change)\(change)")
            case ("XRANGE", "(5-0") where !positions.commands.isEmpty: return .text(change)
            default: return nil
            }
        }
        let follower = try bridge.client()
        try follower.follow()
        _ = try follower.updates(until: .live)
        followers.add(["live"])
        var updates: [Follow.Reply] = []
        repeat { updates.append(try follower.update()) } while updates.last?.last?.version != 6
        #expect(updates.flatMap(\.entries).map(\.id) == ["y.1"])
        #expect(!updates.contains { $0.state == .diverged })
        withExtendedLifetime(engine) {}
    }

    @Test("an engine that breaks each session soon is tried again, and logged once")
    func flapping() throws {
        let sessions = Received()
        let (bridge, engine) = try bridge { command in
            if command.first == "INFO" { sessions.add(command) }
            return command.first == "HSCAN" && FakeEngine.healthy(command) == nil ? .text("-ERR broken\r\n") : nil
        }
        let follower = try bridge.client()
        try follower.follow()
        try waitUntil("seven sessions") { sessions.commands.count >= 7 }
        let lines = try lines(bridge, containing: "127.0.0.1:\(engine.port)")
        #expect(lines.count { $0.contains("connected to") } == 1)
        #expect(lines.count { $0.contains("answers HSCAN with an error: ERR broken") } == 1)
        #expect(lines.count == 2)
        withExtendedLifetime(follower) {}
    }

    @Test("an engine that refuses every second change, for another reason each, does not fill the log")
    func alternation() throws {
        let calls = Received()
        let (bridge, engine) = try bridge { command in
            guard command.first == "EVALSHA", !command[1].isEmpty else { return nil }
            calls.add(command)
            let call = calls.commands.count
            return call % 2 == 0 ? .text("-ERR reason \(call)\r\n") : .text(FakeEngine.won)
        }
        let client = try bridge.client()
        for number in 1...200 {
            let outcome = try client.propose(Propose.Proposal("a", "x.\(number)")).outcome
            #expect(outcome == (number % 2 == 0 ? .unknown : .won))
        }
        #expect(try lines(bridge, containing: "countdownd-redis: ").count <= 20)
        withExtendedLifetime(engine) {}
    }

    @Test("the engine's words are repeated in part only")
    func longWords() throws {
        // One character of many bytes.
        let words = "e" + String(repeating: "\u{301}", count: 20_000)
        let (bridge, engine) = try bridge { command in
            command.first == "EVALSHA" && !command[1].isEmpty ? .text("-ERR \(words)\r\n") : nil
        }
        let answer = try bridge.client().propose(Propose.Proposal("a", "x.1"))
        #expect((1...500).contains(answer.reason?.utf8.count ?? 0))
        let other = try FakeEngine { FakeEngine.healthy($0, version: "6.0" + words) ?? .text("") }
        let second = try BridgeProcess("redis://127.0.0.1:{port}", port: other.port)
        #expect((try second.program.line()?.utf8.count ?? 0) < 1_000)
        withExtendedLifetime((engine, other)) {}
    }
}
