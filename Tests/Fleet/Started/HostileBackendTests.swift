import FakeBackend
import FleetWire
import IPC
import TestSupport
import Testing

@Suite("A daemon with a bridge that lies", .serialized)
struct HostileBackendTests {
    private let fleet: Fleet
    private let caller: Caller

    init() throws {
        fleet = try Fleet(1)
        caller = try fleet.caller()
        _ = try caller.call(Start(key: "live", durationUSec: .seconds(600)))
    }

    private var backend: FakeBackend { fleet.backend }

    /// Lets the bridge lie while a change is tried, and expects that the daemon goes on, and that it recovers.
    private func expectSurvival(_ lie: (inout FakeBackend.Faults) -> Void) throws {
        backend.setFaults(lie)
        do {
            _ = try caller.call(Start(key: "tried"))
        } catch is CountdownError {}
        #expect(try caller.call(Get(key: "live")).countdown.state == .running)
        backend.setFaults { $0 = FakeBackend.Faults() }
        #expect(try caller.repeated(Start(key: "after")).countdown.key == "after")
        #expect(try caller.call(Get(key: "live")).countdown.durationUSec == .seconds(600))
        #expect(fleet.daemons[0].process.isRunning)
    }

    @Test(
        "replies to proposals that are no messages, or not those of the interface",
        arguments: [
            "nonsense", "{}", "{\"parameters\":[]}", "{\"parameters\":{}}", "\0\0", "{\"error\":\"no\"}",
            #"{"parameters":{"answers":[{"outcome":"lost"}]}}"#,
            #"{"parameters":{"answers":[{"outcome":"won"}]}}"#,
            #"{"parameters":{"answers":[{"outcome":"won","version":-1}]}}"#,
            #"{"parameters":{"answers":[{"outcome":"won","version":1e3}]}}"#,
            #"{"parameters":{"answers":[{"outcome":"conflict","version":1,"id":"","record":""}]}}"#,
            #"{"parameters":{"answers":[{"outcome":"won","version":1}]},"continues":true}"#,
            #"{"parameters":{"answers":[],"clock":{"engineLessBootUSec":-1,"errorUSec":0}}}"#,
            #"{"parameters":{"answers":[{"outcome":"unreachable","reason":"\u001b[2Jno"}]}}"#,
        ]
    )
    func replies(raw: String) throws { try expectSurvival { $0.rawReply = raw + "\0" } }

    @Test(
        "updates that are no messages, or not those of the interface",
        arguments: [
            "nonsense", "{}", "", #"{"parameters":{"state":"dead","entries":[]},"continues":true}"#,
            #"{"parameters":{"state":"live","entries":[]}}"#,
            #"{"parameters":{"state":"page","entries":[{"key":"","version":1,"id":"x"}]},"continues":true}"#,
        ]
    )
    func updates(raw: String) throws {
        try expectSurvival { $0.rawUpdate = raw + "\0" }
    }

    @Test("a key that is none is not repeated, because keys are often phone numbers")
    func invalidKey() throws {
        let entry = #"{"key":"138\t","version":1,"id":"x"}"#
        let raw = #"{"parameters":{"state":"changes","entries":[\#(entry)],"version":1},"continues":true}"#
        backend.setFaults { $0.rawUpdate = raw + "\0" }
        backend.closeConnections()
        try fleet.awaitLog(0, "invalid value of 'key'")
        #expect(!fleet.daemons[0].standardError.contains("138"))
    }

    @Test("a reason is escaped once")
    func escapedReason() throws {
        let raw = #"{"parameters":{"state":"lost","entries":[],"reason":"\u001b"},"continues":true}"#
        backend.setFaults { $0.rawUpdate = raw + "\0" }
        backend.closeConnections()
        try fleet.awaitLog(0, #"reached: \u{1b}"#)
    }

    @Test("answers that are missing, too many, or those of other proposals")
    func answers() throws {
        try expectSurvival { $0.answers = { _ in [] } }
        try expectSurvival { $0.answers = { $0 + $0 } }
        try expectSurvival { $0.answers = { $0.map { _ in .won(version: 1) } } }
        try expectSurvival { $0.answers = { $0.map { _ in .won(version: .max) } } }
        try expectSurvival { $0.answers = { $0.map { _ in .noRecord } } }
        let record = RecordText(utf8: [0xFF, 0])
        try expectSurvival {
            $0.answers = { $0.map { _ in .conflict(version: 7, id: "foreign", record: record) } }
        }
        try expectSurvival { $0.answers = { $0.map { _ in .early } } }
        try expectSurvival { $0.answers = { $0.map { _ in .late } } }
    }

    @Test("versions that go backwards or jump, and changes of another key")
    func changes() throws {
        try expectSurvival { $0.update = { Self.changed($0, version: 1) } }
        try expectSurvival { $0.update = { Self.changed($0, version: .max) } }
        try expectSurvival { $0.update = { Self.changed($0, key: "other") } }
    }

    /// A reply whose entries have another version or key.
    private static func changed(_ reply: Follow.Reply, version: Int64? = nil, key: String? = nil) -> Follow.Reply {
        var reply = reply
        for index in reply.entries.indices {
            reply.entries[index].version = version ?? reply.entries[index].version
            reply.entries[index].key = key ?? reply.entries[index].key
        }
        if let version { reply.last?.version = version }
        return reply
    }

    @Test("a page with 20,000 records, and a message without an end")
    func hugeMessages() throws {
        let entries = (0..<20_000).map { number in
            let id = "0123456789abcdef0123456789abcdef.\(number)"
            return Follow.Entry(key: "k\(number)", version: 1, id: id, record: RecordText(utf8: Array("{}".utf8)))
        }
        backend.setFaults {
            $0.update = { reply in
                var reply = reply
                if reply.state == .page { reply.entries += entries }
                return reply
            }
        }
        backend.loseEverything()
        #expect(try caller.repeated(Start(key: "after")).countdown.key == "after")
        backend.setFaults {
            $0.update = nil
            $0.rawUpdate = String(repeating: "x", count: BackendInterface.messageLimit + 1)
        }
        backend.closeConnections()
        try fleet.awaitLog(0, "the bridge broke the protocol")
        #expect(try caller.call(Get(key: "after")).countdown.state == .running)
        backend.setFaults { $0 = FakeBackend.Faults() }
        #expect(try caller.repeated(Start(key: "later")).countdown.key == "later")
    }
}
