import IPC
import TestSupport
import Testing
import Varlink

/// A call that is well-formed but invalid, and its error.
struct BadCall: Sendable {
    let text: String
    let error: String

    private init(_ method: String, _ parameters: String, _ error: String, _ member: String, _ value: String) {
        let more = method.hasSuffix(".Watch") ? #","more":true"# : ""
        text = #"{"method":"\#(method)","parameters":{\#(parameters)}\#(more)}"#
        self.error = #"{"error":"org.varlink.service.\#(error)","parameters":{"\#(member)":"\#(value)"}}"#
    }

    private static func unknown(method: String) -> BadCall { BadCall(method, "", "MethodNotFound", "method", method) }

    private static func unknown(interface: String, of method: String, _ parameters: String = "") -> BadCall {
        BadCall(method, parameters, "InterfaceNotFound", "interface", interface)
    }

    private static let description = "org.varlink.service.GetInterfaceDescription"

    static let names: [BadCall] = [
        unknown(method: "io.countdownd.Stop"), unknown(method: "io.countdownd.start"),
        unknown(method: "io.countdownd."), unknown(method: "org.varlink.service.GetInfos"),
        unknown(interface: "io.example", of: "io.example.Start"), unknown(interface: "", of: "Start"),
        unknown(interface: "", of: ""),
        unknown(interface: "io.example", of: description, #""interface":"io.example""#),
        BadCall(description, "", "InvalidParameter", "parameter", "interface"),
    ]

    /// Reads a table: each line has the parameter that is missing, unknown, ill-typed or out of range, the method, and the
    /// parameters. A list such as `<a|b>` makes a call of each.
    private static func calls(_ table: String) -> [BadCall] {
        table.split(separator: "\n").flatMap { expand(String($0)) }.map { line in
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            let method = words[1].contains(".") ? words[1] : "io.countdownd.\(words[1])"
            return BadCall(method, words.dropFirst(2).joined(), "InvalidParameter", "parameter", words[0])
        }
    }

    private static func expand(_ line: String) -> [String] {
        guard let list = line.firstMatch(of: #/<([^>]*)>/#) else { return [line] }
        return list.1.split(separator: "|", omittingEmptySubsequences: false).flatMap { choice in
            expand(line.replacing(list.0, with: choice, maxReplacements: 1))
        }
    }

    private static let longKey = String(repeating: "k", count: 256)

    static let keys = calls(
        #"""
        key Start "key":<""|"\#(longKey)"|"a\u0000b"|"\n"|"\#u{7f}"|"\u0080"|"a\#u{85}b"|null|1|true|["tea"]|{"key":"tea"}>
        key <Start|Get|Cancel|Finish|Pause|Resume|Adjust|Wait>
        key <Get|Cancel|Finish|Pause|Resume|Wait> "key":""
        key Adjust "key":"","byUSec":1
        keys <List|Watch> "keys":<["own",""]|["\#(longKey)"]|[null]|"own">
        """#
    )

    /// Values that are not an integer of 64 bits.
    private static let noInteger = #"<1.5|1.0|1e3|"60"|true|[1]|{}|9223372036854775808|1e400>"#

    static let numbers = calls(
        #"""
        durationUSec Start "key":"<tea|own>","durationUSec":<0|-1|3155760000000001|9223372036854775807>
        durationUSec Start "key":"tea","durationUSec":\#(noInteger)
        deadlineUSec Start "key":"tea","deadlineUSec":\#(noInteger)
        byUSec Adjust "key":"own","byUSec":\#(noInteger)
        byUSec Adjust "key":"own","byUSec":<3155760000000000|9223372036854775807>
        byUSec Adjust "key":"own"
        ifRevision Cancel "key":"own","ifRevision":\#(noInteger)
        soonest List "soonest":\#(noInteger)
        soonest List "soonest":-1
        tickUSec Watch "tickUSec":<9999|-1>
        since Watch "since":-1
        heartbeatUSec Watch "heartbeatUSec":999999
        level io.systemd.service.SetLogLevel <|"level":8|"level":-1|"level":"debug"|"level":4294967299>
        """#
    )

    private static let far = #""deadlineUSec":4000000000000000"#

    static let deadlines = calls(
        #"""
        deadlineUSec Start "key":"tea","deadlineUSec":<0|-1|1|1700000000000000|9007199254740993|9223372036854775807>
        deadlineUSec Adjust "key":"own","deadlineUSec":<0|-1|1|1700000000000000|9007199254740993|9223372036854775807>
        deadlineUSec Start "key":"tea",\#(far),<"durationUSec":1|"ifRunning":"extend"|"ifRunning":"wait">
        deadlineUSec Start "key":"tea",\#(far),"ifRunning":"extend","upToUSec":60000000
        deadlineUSec Adjust "key":"own",\#(far),"byUSec":1
        """#
    )

    /// Parameters of a start that need another one, or are too small beside it.
    static let combinations = calls(
        #"""
        upToUSec Start "key":"tea","upToUSec":60000000<|,"ifRunning":"fail"|,"ifRunning":"restart">
        upToUSec Start "key":"tea","ifRunning":"extend","upToUSec":<0|59999999>
        upToUSec Start "key":"tea","ifRunning":"wait","upToUSec":-1
        maxDurationUSec Start "key":"tea","ifRunning":"later","durationUSec":9,"maxDurationUSec":8
        maxDurationUSec Start "key":"tea","ifRunning":"later","maxDurationUSec":600000000,\#(far)
        maxDurationUSec Start "key":"tea","ifRunning":"extend","maxDurationUSec":600000000
        queueUpTo Start "key":"tea","queueUpTo":<0,"ifRunning":"wait"|1>
        """#
    )

    private static let tooMany = (0..<17).map { #"{"key":"\#($0)"}"# }.joined(separator: ",")

    /// Several cooldowns of which one is wrong.
    static let cooldowns = calls(
        #"""
        cooldowns StartAll "cooldowns":<[{"key":"a"},{"key":"a"}]|[\#(tooMany)]|[{"key":"a"},7]|[{"key":"a"},null]|7|null>
        upToUSec StartAll "cooldowns":[{"key":"a"},{"key":"b","durationUSec":9,"upToUSec":8}]
        durationUSec StartAll "cooldowns":[{"key":"a"},{"key":"b","durationUSec":0}]
        key StartAll "cooldowns":[{"key":"a"},{<"key":""|"durationUSec":1>}]
        ifRunning StartAll "cooldowns":[{"key":"a"},{"key":"b","ifRunning":"attach"}]
        """#
    )

    static let others = calls(
        #"""
        colour <Start|Get|Cancel|Finish|Pause|Resume|Wait> "key":"own","colour":"red"
        key <GetStatus|List> "key":"own"
        durationUsec Start "key":"own","durationUsec":1
        by Adjust "key":"own","byUSec":1,"by":1
        ifRunning Start "key":"tea","ifRunning":<"replace"|""|1|"Attach">
        states List "states":<["running","done"]|"running">
        match <List|Watch> "match":<["a","[a"]|["["]|["[!"]|["[^]"]|["[[]a["]|[""]|[1]|"*">
        metadata Start "key":"tea","metadata":<["a"]|"a"|{"a":1}|{"a":null}|{"a":{"b":"c"}}>
        label Start "key":"tea","label":<1|["a"]>
        forget Start "key":"tea","forget":<"true"|1>
        """#
    )

    /// What JSON allows and the daemon does not read.
    static let unreadable = calls(
        #"""
        key <Start|Get|Cancel|Finish|Pause|Resume|Adjust|Wait> "key":"code \ud83d"
        label Start "key":"tea","label":<"\udf89"|\#(deep)>
        metadata Start "key":"tea","metadata":<{"\ud83d":"a"}|{"a":"\ud83d"}|{"a":\#(deep)}>
        match <List|Watch> "match":<["\ud83d"]|\#(deep)>
        cooldowns StartAll "cooldowns":[{"key":"a"},{"key":"\ud83d"}]
        """#
    )

    private static let deep = String(repeating: "[", count: 63) + String(repeating: "]", count: 63)
}

@Suite("Invalid calls")
struct BadCallTests {
    private let daemon: SmallDaemon
    private let bystander: Bystander

    init() throws {
        daemon = try SmallDaemon()
        bystander = try Bystander(of: daemon)
    }

    struct Kind: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let calls: [BadCall]
    }

    static let kinds = [
        Kind(testDescription: "an unknown method or interface", calls: BadCall.names),
        Kind(testDescription: "a key that is empty, too long, ill-typed or with controls", calls: BadCall.keys),
        Kind(testDescription: "a number that is out of range, fractional or ill-typed", calls: BadCall.numbers),
        Kind(testDescription: "a deadline that has passed, is too far or one too many", calls: BadCall.deadlines),
        Kind(testDescription: "parameters that do not go together", calls: BadCall.combinations),
        Kind(testDescription: "cooldowns of which one is wrong", calls: BadCall.cooldowns),
        Kind(testDescription: "unknown and ill-typed parameters and endless patterns", calls: BadCall.others),
        Kind(testDescription: "half a surrogate pair, or too much nesting", calls: BadCall.unreadable),
    ]

    @Test(
        "each is answered with an error that names the culprit, on a connection that stays open, and nothing changes",
        arguments: kinds
    )
    func refused(_ kind: Kind) throws {
        let connection = try daemon.connect()
        for call in kind.calls { #expect(try connection.exchange(call.text) == call.error, "\(call.text)") }
        let status = try connection.exchange(#"{"method":"io.countdownd.GetStatus"}"#)
        #expect(status.hasPrefix(#"{"parameters":{"version""#))
        try bystander.noticesNothing()
    }

    @Test("upgrade is not implemented for any method")
    func upgrade() throws {
        let call = #"{"method":"io.countdownd.Cancel","parameters":{"key":"own"},"upgrade":true}"#
        let parameters = #"{"method":"io.countdownd.Cancel"}"#
        let error = #"{"error":"org.varlink.service.MethodNotImplemented","parameters":\#(parameters)}"#
        #expect(try daemon.connect().exchange(call) == error)
        try bystander.noticesNothing()
    }

    @Test("a null parameter is the same as an absent one if it is optional")
    func null() throws {
        let caller = try Caller(of: daemon)
        func exchange(_ method: String, _ parameters: String, _ rest: String = "") throws -> String {
            let call = #"{"method":"io.countdownd.\#(method)","parameters":{\#(parameters)}\#(rest)}"#
            return try caller.connection.exchange(call)
        }
        let texts = #""ifRunning":null,"label":null,"metadata":null,"forget":null"#
        _ = try exchange("Start", #""key":"tea","durationUSec":null,"deadlineUSec":null,"# + texts)
        let tea = try caller.call(Get(key: "tea")).countdown
        #expect(tea.durationUSec == .seconds(60))
        #expect(tea.label == nil && tea.metadata == nil && !tea.forget)
        let list = try exchange("List", #""match":null,"states":null,"keys":null,"soonest":null"#)
        #expect(list.contains(#""key":"tea""#))
        #expect(try exchange("Cancel", #""key":"tea","ifRevision":null"#).contains(#""state":"cancelled""#))
        let watch = #""match":null,"keys":null,"tickUSec":null,"since":null,"heartbeatUSec":null"#
        let synced = #""type":"synced","revision":\#(tea.revision + 1)}]},"continues":true}"#
        #expect(try exchange("Watch", watch, #","more":true"#).hasSuffix(synced))
    }

    @Test("if a parameter occurs twice, its last value counts")
    func twice() throws {
        let parameters = #""key":"a","durationUSec":1.5,"key":"b","durationUSec":5000000"#
        let answer = try daemon.connect().exchange(#"{"method":"io.countdownd.Start","parameters":{\#(parameters)}}"#)
        #expect(answer.contains(#""key":"b""#) && answer.contains(#""durationUSec":5000000"#))
    }

    @Test("the longest allowed key, label and duration are accepted unchanged")
    func greatest() throws {
        let caller = try Caller(of: daemon)
        for key in [String(repeating: "k", count: 255), String(repeating: "日", count: 85), "\u{301}", "\u{200B}", "👩‍👩‍👧"] {
            let countdown = try caller.call(Start(key: key, durationUSec: 3_155_760_000_000_000)).countdown
            #expect(Array(countdown.key.utf8) == Array(key.utf8))
            #expect(countdown.remainingUSec == 3_155_760_000_000_000)
            _ = try caller.call(Cancel(key: key))
        }
        _ = try caller.call(Start(key: "short", durationUSec: 1))
        daemon.time.pass(1)
        #expect(try caller.call(Wait(key: "short")).countdown.durationUSec == 1)
    }

    @Test("keys are compared by their bytes, not by their looks")
    func bytes() throws {
        let caller = try Caller(of: daemon)
        #expect(try caller.call(Start(key: "\u{E9}")).outcome == .started)
        #expect(try caller.call(Start(key: "e\u{301}")).outcome == .started)
        #expect(try caller.call(List(keys: ["e\u{301}"])).countdowns.count == 1)
    }
}
