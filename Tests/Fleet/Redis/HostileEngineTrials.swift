import Foundation
import IPC
import TestSupport
import Testing

@Suite("A host whose engine is replaced by a hostile one", .serialized)
struct HostileEngineTrials {
    /// The acts of the hostile engine.
    enum Hostility: String, CaseIterable, CustomTestStringConvertible {
        case endlessReplies = "it answers changes without an end"
        case flood = "it floods the channel"
        case nonsense = "it answers changes with nonsense"
        case shortSessions = "it closes each connection when it is asked for records"
        case brokenLog = "its log has nothing but gaps"
        case wildClock = "its clock goes to and fro by a second"

        var testDescription: String { rawValue }

        private func answer(_ command: [String], call: Int) -> FakeEngine.Reply? {
            let isCheck = FakeEngine.healthy(command) != nil
            switch (self, command.first) {
            case (.endlessReplies, "EVALSHA") where !isCheck: return .endless("*1048576\r\n", ":1\r\n")
            case (.flood, "SSUBSCRIBE"): return .endless("+OK\r\n", "*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$1\r\nx\r\n")
            case (.nonsense, "EVALSHA") where !isCheck: return .text("*1\r\n*0\r\n")
            case (.shortSessions, "HSCAN") where !isCheck: return .close("")
            case (.brokenLog, "XRANGE") where !isCheck: return .text("*1\r\n*2\r\n$3\r\n6-0\r\n*0\r\n")
            case (.wildClock, "EVALSHA") where !isCheck:
                let now = Int(Date().timeIntervalSince1970 * 1_000_000) + call % 2 * 1_000_000
                return .text("*2\r\n:\(now)\r\n*1\r\n$5\r\nearly\r\n")
            default: return nil
            }
        }

        /// The engine, which notes the commands that it gets, and those with hostile answers.
        func engine(_ commands: Received, _ hostile: Received) throws -> FakeEngine {
            try FakeEngine { command in
                commands.add(command)
                if let answer = answer(command, call: hostile.commands.count) {
                    hostile.add(command)
                    return answer
                }
                return FakeEngine.healthy(command) ?? FakeEngine.empty(command) ?? .text(FakeEngine.early)
            }
        }
    }

    @Test(
        "its clients are answered all the time, and it has what the fleet has once the engine is back",
        arguments: Hostility.allCases
    )
    func hostility(_ hostility: Hostility) throws {
        let fleet = try Fleet(hosts: 2)
        let host = fleet.hosts[0]
        try host.start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        let (commands, answers) = (Received(), Received())
        let engine = try hostility.engine(commands, answers)
        try host.bridge.replaceURL("redis://127.0.0.1:\(engine.port)/")
        // Until then, the bridge has changes made by the engine that it had before.
        try waitUntil("the bridge to ask the hostile engine") { !commands.commands.isEmpty }
        var refusals = 0
        try waitUntil("three refusals after a hostile answer") {
            let isHostile = !answers.commands.isEmpty
            do {
                try host.start("refused", .seconds(3_600))
                Issue.record("a hostile engine has made a change")
            } catch CountdownError.storageFailed {
                refusals += isHostile ? 1 : 0
            } catch CountdownError.unreachable {
                refusals += isHostile ? 1 : 0
            }
            // The hostile engine has no records, so the countdown may be cancelled.
            #expect([.running, .cancelled].contains(try host.get("kept").state))
            _ = try host.countdowns()
            return refusals >= 3
        }
        #expect(host.bridge.program.isRunning)
        try host.bridge.replaceURL("redis://127.0.0.1:\(fleet.engine.port)/")
        try fleet.awaitChanges()
        #expect(try fleet.awaitEqual()["kept"] != nil)
    }
}
