import IPC
import TestSupport
import Testing
import Varlink

/// A call that is well-formed but invalid, and its error.
struct BadCall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String
    let error: String

    private init(_ method: String, _ parameters: String, _ error: String, _ member: String, _ value: String) {
        testDescription = "\(method)(\(parameters.prefix(60)))"
        text = #"{"method":"\#(method)","parameters":{\#(parameters)}}"#
        self.error = #"{"error":"org.varlink.service.\#(error)","parameters":{"\#(member)":"\#(value)"}}"#
    }

    /// A parameter that is missing, unknown, ill-typed or out of range.
    private static func parameter(_ method: String, _ parameters: String, _ name: String) -> BadCall {
        BadCall("io.countdownd.\(method)", parameters, "InvalidParameter", "parameter", name)
    }

    static let names: [BadCall] = [
        BadCall("io.countdownd.Stop", "", "MethodNotFound", "method", "io.countdownd.Stop"),
        BadCall("io.countdownd.start", "", "MethodNotFound", "method", "io.countdownd.start"),
        BadCall("io.countdownd.", "", "MethodNotFound", "method", "io.countdownd."),
        BadCall("io.example.Start", "", "InterfaceNotFound", "interface", "io.example"),
        BadCall("Start", "", "InterfaceNotFound", "interface", ""),
        BadCall("", "", "InterfaceNotFound", "interface", ""),
        BadCall("org.varlink.service.GetInfos", "", "MethodNotFound", "method", "org.varlink.service.GetInfos"),
        BadCall(
            "org.varlink.service.GetInterfaceDescription",
            #""interface":"io.example""#,
            "InterfaceNotFound",
            "interface",
            "io.example"
        ),
        BadCall(
            "org.varlink.service.GetInterfaceDescription",
            "",
            "InvalidParameter",
            "parameter",
            "interface"
        ),
    ]

    private static let longKey = String(repeating: "k", count: 256)

    static let keys: [BadCall] =
        [
            "", longKey, String(repeating: "ü", count: 128), #"\u0000"#, #"a\u0000b"#, #"\n"#, #"\u001f"#, #"\u007f"#,
            "\u{7f}",
            #"\u0080"#, "\u{9f}", "a\u{85}b",
        ].map { parameter("Start", #""key":"\#($0)""#, "key") }
        + ["null", "1", "true", #"["tea"]"#, #"{"key":"tea"}"#].map { parameter("Start", #""key":\#($0)"#, "key") }
        + ["Start", "Get", "Cancel", "Finish", "Pause", "Resume", "Adjust", "Wait"].map { parameter($0, "", "key") }
        + ["Get", "Cancel", "Finish", "Pause", "Resume", "Wait"].map { parameter($0, #""key":"""#, "key") }
        + [
            parameter("List", #""keys":["own",""]"#, "keys"), parameter("List", #""keys":["\#(longKey)"]"#, "keys"),
            parameter("List", #""keys":[null]"#, "keys"), parameter("List", #""keys":"own""#, "keys"),
            parameter("Adjust", #""key":"","byUSec":1"#, "key"),
        ]

    /// Not an integer, or not a valid duration or revision.
    private static let noIntegers = [
        "1.5", "1.0", "1e3", "1E3", "1e-3", #""60""#, "true", "[1]", "{}", "9223372036854775808",
        "-9223372036854775809", "1e400",
        "123456789012345678901234567890",
    ]

    static let lengths: [BadCall] =
        ["0", "-1", "-9223372036854775808", "3155760000000001", "9223372036854775807"]
        .flatMap { length in
            [
                parameter("Start", #""key":"tea","durationUSec":\#(length)"#, "durationUSec"),
                parameter("Start", #""key":"own","durationUSec":\#(length)"#, "durationUSec"),
                parameter("Start", #""key":"own","durationUSec":\#(length),"ifRunning":"extend""#, "durationUSec"),
            ]
        }
        + noIntegers.flatMap { number in
            [
                parameter("Start", #""key":"tea","durationUSec":\#(number)"#, "durationUSec"),
                parameter("Start", #""key":"tea","deadlineUSec":\#(number)"#, "deadlineUSec"),
                parameter("Adjust", #""key":"own","byUSec":\#(number)"#, "byUSec"),
                parameter("Cancel", #""key":"own","ifRevision":\#(number)"#, "ifRevision"),
                parameter("List", #""soonest":\#(number)"#, "soonest"),
            ]
        }
        + [
            parameter("Adjust", #""key":"own","byUSec":3155760000000000"#, "byUSec"),
            parameter("Adjust", #""key":"own","byUSec":9223372036854775807"#, "byUSec"),
            parameter("Adjust", #""key":"own""#, "byUSec"),
            parameter("List", #""soonest":-1"#, "soonest"),
        ]

    static let deadlines: [BadCall] =
        ["0", "-1", "1", "1700000000000000", "9007199254740993", "9223372036854775807"].flatMap { instant in
            [
                parameter("Start", #""key":"tea","deadlineUSec":\#(instant)"#, "deadlineUSec"),
                parameter("Adjust", #""key":"own","deadlineUSec":\#(instant)"#, "deadlineUSec"),
            ]
        }
        + [
            parameter("Start", #""key":"tea","durationUSec":1,"deadlineUSec":4000000000000000"#, "deadlineUSec"),
            parameter("Start", #""key":"tea","ifRunning":"extend","deadlineUSec":4000000000000000"#, "deadlineUSec"),
            parameter("Adjust", #""key":"own","byUSec":1,"deadlineUSec":4000000000000000"#, "deadlineUSec"),
        ]

    static let others: [BadCall] =
        ["Start", "Get", "Cancel", "Finish", "Pause", "Resume", "Wait"].map {
            parameter($0, #""key":"own","colour":"red""#, "colour")
        }
        + [
            parameter("GetStatus", #""key":"own""#, "key"), parameter("List", #""key":"own""#, "key"),
            parameter("Start", #""key":"own","durationUsec":1"#, "durationUsec"),
            parameter("Adjust", #""key":"own","byUSec":1,"by":1"#, "by"),
            parameter("Start", #""key":"tea","ifRunning":"replace""#, "ifRunning"),
            parameter("Start", #""key":"tea","ifRunning":"""#, "ifRunning"),
            parameter("Start", #""key":"tea","ifRunning":1"#, "ifRunning"),
            parameter("Start", #""key":"tea","ifRunning":"Attach""#, "ifRunning"),
            parameter("List", #""states":["running","done"]"#, "states"),
            parameter("List", #""states":"running""#, "states"),
            parameter("List", #""match":["a","[a"]"#, "match"), parameter("List", #""match":["["]"#, "match"),
            parameter("List", #""match":["[]"]"#, "match"), parameter("List", #""match":["[!"]"#, "match"),
            parameter("List", #""match":[""]"#, "match"), parameter("List", #""match":[1]"#, "match"),
            parameter("List", #""match":"*""#, "match"), parameter("List", #""match":["[^]"]"#, "match"),
            parameter("List", #""match":["[[]a["]"#, "match"),
            parameter("Start", #""key":"tea","metadata":["a"]"#, "metadata"),
            parameter("Start", #""key":"tea","metadata":"a""#, "metadata"),
            parameter("Start", #""key":"tea","metadata":{"a":1}"#, "metadata"),
            parameter("Start", #""key":"tea","metadata":{"a":null}"#, "metadata"),
            parameter("Start", #""key":"tea","metadata":{"a":{"b":"c"}}"#, "metadata"),
            parameter("Start", #""key":"tea","label":1"#, "label"),
            parameter("Start", #""key":"tea","label":["a"]"#, "label"),
            parameter("Start", #""key":"tea","forget":"true""#, "forget"),
            parameter("Start", #""key":"tea","forget":1"#, "forget"),
        ]
}

@Suite("Invalid calls")
struct BadCallTests {
    private let daemon: DaemonProcess
    private let bystander: Bystander

    init() throws {
        daemon = try DaemonProcess()
        bystander = try Bystander(of: daemon)
    }

    /// Every call is answered with its error on one connection, which stays open, and other clients notice nothing.
    private func refuse(_ calls: [BadCall]) throws {
        let connection = try daemon.connect()
        for call in calls { #expect(try connection.exchange(call.text) == call.error, "\(call.testDescription)") }
        let status = try connection.exchange(#"{"method":"io.countdownd.GetStatus"}"#)
        #expect(status.hasPrefix(#"{"parameters":{"version""#))
        try bystander.noticesNothing()
    }

    @Test("an unknown method or interface is named")
    func names() throws {
        try refuse(BadCall.names)
    }

    @Test("an invalid key is refused: empty, too long, with control characters, of another type")
    func keys() throws {
        try refuse(BadCall.keys)
    }

    @Test("an invalid duration is refused: zero, negative, too long, with a fraction or an exponent, of another type")
    func lengths() throws {
        try refuse(BadCall.lengths)
    }

    @Test("a deadline that has passed or is too far ahead is refused, and so is a deadline together with a duration")
    func deadlines() throws {
        try refuse(BadCall.deadlines)
    }

    @Test("unknown parameters and values, endless patterns and values of another type are refused by their name")
    func others() throws {
        try refuse(BadCall.others)
    }

    @Test("upgrade is not implemented for any method")
    func upgrade() throws {
        let connection = try daemon.connect()
        let call = #"{"method":"io.countdownd.Cancel","parameters":{"key":"own"},"upgrade":true}"#
        let error = #"{"method":"io.countdownd.Cancel"}}"#
        #expect(
            try connection.exchange(call) == #"{"error":"org.varlink.service.MethodNotImplemented","parameters":"#
                + error
        )
        try bystander.noticesNothing()
    }

    @Test("a null parameter is the same as an absent one if it is optional")
    func null() throws {
        let caller = try Caller(of: daemon)
        let start =
            #"{"method":"io.countdownd.Start","parameters":{"key":"tea","durationUSec":null,"deadlineUSec":null,"#
        _ = try caller.connection.exchange(start + #""ifRunning":null,"label":null,"metadata":null,"forget":null}}"#)
        let tea = try caller.call(Get(key: "tea")).countdown
        #expect(tea.durationUSec == .seconds(60))
        #expect(tea.label == nil && tea.metadata == nil && !tea.forget)
        let list =
            #"{"method":"io.countdownd.List","parameters":{"match":null,"states":null,"keys":null,"soonest":null}}"#
        #expect(try caller.connection.exchange(list).contains(#""key":"tea""#))
        let cancel = #"{"method":"io.countdownd.Cancel","parameters":{"key":"tea","ifRevision":null}}"#
        #expect(try caller.connection.exchange(cancel).contains(#""state":"cancelled""#))
        let watch =
            #"{"method":"io.countdownd.Watch","more":true,"parameters":{"match":null,"tickUSec":null,"since":null,"#
        #expect(
            try caller.connection.exchange(watch + #""heartbeatUSec":null,"keys":null}}"#)
                .hasSuffix(#""type":"synced","revision":\#(tea.revision + 1)}]},"continues":true}"#)
        )
    }

    @Test("if a parameter occurs twice, its last value counts")
    func twice() throws {
        let connection = try daemon.connect()
        let call =
            #"{"method":"io.countdownd.Start","parameters":{"key":"a","durationUSec":1.5,"key":"b","durationUSec":5000000}}"#
        let answer = try connection.exchange(call)
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
