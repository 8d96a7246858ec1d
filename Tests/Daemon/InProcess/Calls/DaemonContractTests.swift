import IPC
import JSONTree
import TestSupport
import Testing
import Varlink

/// `Caller` and `Follower` check every message of every test against the definition; these tests show that no method
/// and no error of the definition is left out.
@Suite("The interface of the running daemon")
final class DaemonContractTests: SmallDaemonSuite {
    /// Calls with all parameters, one of each method, in an order in which each succeeds.
    private static let calls: [any Method] = [
        Start(
            key: "tea",
            durationUSec: .seconds(60),
            ifRunning: .fail,
            label: "Tea",
            metadata: ["a": "b"],
            forget: false
        ),
        Get(key: "tea"),
        List(match: ["t*"], states: Countdown.State.allCases, keys: ["tea"], soonest: 10),
        Pause(key: "tea"),
        Resume(key: "tea"),
        Adjust(key: "tea", byUSec: .seconds(1)),
        Finish(key: "tea"),
        Wait(key: "tea"),
        StartAll(cooldowns: [
            Cooldown("tea", for: .seconds(60), label: "Tea", metadata: ["a": "b"], forget: false),
            Cooldown("cup", upTo: .seconds(120)),
        ]),
        StartAll(cooldowns: [Cooldown("tea")], dryRun: true),
        Cancel(key: "tea"),
        GetStatus(),
    ]

    private func answer<M: Method>(_ method: M) throws {
        _ = try caller.call(method)
    }

    @Test("the reply to every method follows the definition")
    func methods() throws {
        for method in Self.calls { try answer(method) }
        try Follower(of: daemon, Watch(match: ["t*"], tick: .zero, heartbeat: .seconds(1), keys: ["tea"]))
            .events(through: .synced)
        let called = Set(Self.calls.map { type(of: $0).name } + [Watch.name])
        #expect(called == Set(Interface.methods.map { $0.name }))
    }

    @Test("every error of the definition occurs, except StorageFailed and Unreachable, with the current countdown")
    func errors() throws {
        let old = try caller.call(Start(key: "tea", ifRunning: .fail)).countdown
        let tea = try caller.call(Pause(key: "tea", ifRevision: old.revision)).countdown
        let calls: [(any Method, CountdownError)] = [
            (Get(key: "egg"), .noSuchCountdown(key: "egg")), (Wait(key: "egg"), .noSuchCountdown(key: "egg")),
            (Adjust(key: "egg", byUSec: 1), .noSuchCountdown(key: "egg")),
            (Start(key: "tea", ifRunning: .fail), .alreadyRunning(tea, retryAfter: nil)),
            (Cancel(key: "tea", ifRevision: old.revision), .revisionMismatch(tea)),
            (Finish(key: "tea", ifRevision: old.revision), .revisionMismatch(tea)),
            (Pause(key: "tea", ifRevision: old.revision), .revisionMismatch(tea)),
            (Resume(key: "tea", ifRevision: old.revision), .revisionMismatch(tea)),
            (Adjust(key: "tea", byUSec: 1, ifRevision: old.revision), .revisionMismatch(tea)),
            (Pause(key: "tea"), .wrongState(tea)),
            (Adjust(key: "tea", deadlineUSec: tea.startedUSec + .seconds(60)), .wrongState(tea)),
            (List(soonest: 1_001), .limitReached(limit: "soonest", maximum: 1_000)),
        ]
        for (call, error) in calls { #expect(try refusal(of: call) == error) }
        #expect(throws: CountdownError.self) { try caller.call(all: Watch(since: 0)) }
        let names = Set(calls.map(\.1.name) + [.historyTrimmed])
        #expect(names == Set(CountdownError.WireName.allCases).subtracting([.storageFailed, .unreachable]))
        #expect(try caller.call(Cancel(key: "tea", ifRevision: tea.revision)).countdown.state == .cancelled)
    }

    private func refusal<M: Method>(of method: M) throws -> CountdownError? {
        do {
            _ = try caller.call(method)
            return nil
        } catch let error as CountdownError {
            return error
        }
    }

    @Test("a parameter that is too long, or one too many, is refused with a limit of GetStatus")
    func limits() throws {
        let limits = try caller.call(GetStatus()).limits
        let many = TextMap((0..<33).map { (key: "\($0)", value: "") })
        let calls: [(any Method, String)] = [
            (Start(key: "tea", label: String(repeating: "x", count: 1_025)), "labelBytes"),
            (Start(key: "tea", metadata: many), "metadataPairs"),
            (Start(key: "tea", metadata: ["a": String(repeating: "ü", count: 2_048)]), "metadataBytes"),
            (List(match: [String](repeating: "a", count: 65)), "patterns"),
            (List(match: [String(repeating: "a", count: 256)]), "patternBytes"),
            (List(soonest: 10_001), "soonest"),
        ]
        for (call, limit) in calls {
            let maximum = try #require(limits[limit])
            #expect(try refusal(of: call) == .limitReached(limit: limit, maximum: maximum))
        }
        let patterns = [String](repeating: String(repeating: "a", count: 255), count: 64)
        _ = try caller.call(List(match: patterns, soonest: limits["soonest"]))
        let whole = Start(
            key: "tea",
            label: String(repeating: "x", count: 1_024),
            metadata: ["a": String(repeating: "x", count: 4_095)]
        )
        #expect(try caller.call(whole).countdown.metadata == whole.metadata)
        #expect(try caller.call(Get(key: "tea")).countdown.label == whole.label)
    }

    @Test("no reply has 128 KiB, though texts grow sixfold by escapes, and none has null")
    func longestReply() throws {
        let keys = (10..<74).map { "\($0)" + String(repeating: "\"", count: 253) }
        let watcher = try daemon.connect()
        try watcher.send(message: #"{"method":"io.countdownd.Watch","parameters":{"tickUSec":0},"more":true}"#)
        _ = try watcher.message()
        for key in keys {
            let metadata: TextMap<String> = ["a": String(repeating: "\u{1}", count: 4_095)]
            let start = Start(key: key, label: String(repeating: "\u{2}", count: 1_024), metadata: metadata)
            try caller.send(start, oneway: true)
        }
        #expect(try caller.call(GetStatus()).running == 64)
        let again = try daemon.connect()
        try again.send(message: #"{"method":"io.countdownd.Watch","parameters":{"tickUSec":0},"more":true}"#)
        let lister = try daemon.connect()
        try lister.send(message: #"{"method":"io.countdownd.List","more":true}"#)
        for (connection, perCountdown) in [(watcher, 2), (again, 2), (lister, 1)] {
            var (found, longest) = (0, 0)
            while found < keys.count * perCountdown {
                let reply = try connection.message()
                #expect(!reply.contains("null"))
                found += reply.matches(of: #/"key":"/#).count
                longest = max(longest, reply.utf8.count)
            }
            // A turn takes one such start of a connection, so the first watcher gets one countdown at a time.
            #expect((32_000..<131_072).contains(longest))
        }
    }

    @Test("the service describes itself with the definition that the tests use")
    func describesItself() throws {
        let connection = try daemon.connect()
        let text = try connection.exchange(#"{"method":"org.varlink.service.GetInfo"}"#)
        let info = try #require(try JSONValue(parsing: text)["parameters"])
        let interfaces = ["org.varlink.service", "io.countdownd", "io.systemd.service"]
        #expect(info["interfaces"]?.elements == interfaces.map { .string($0) })
        #expect(info["version"]?.string == Version.current)
        for name in ["vendor", "product", "url"] { #expect(info[name]?.string != nil) }
        let call =
            #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"io.countdownd"}}"#
        let answer = try JSONValue(parsing: try connection.exchange(call))
        #expect(answer["parameters"]?["description"]?.string == Interface.definition)
    }
}
