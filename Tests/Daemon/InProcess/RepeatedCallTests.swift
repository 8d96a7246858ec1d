import TestSupport
import Testing

@Suite("A call that repeats the last one with another key")
struct RepeatedCallTests {
    private static func call(_ method: String, _ key: String, _ rest: String = "") -> String {
        #"{"method":"io.countdownd.\#(method)","parameters":{"key":"\#(key)"\#(rest)}}"#
    }

    private static func start(_ key: String, _ rest: String = #","durationUSec":60000000"#) -> String {
        call("Start", key, rest)
    }

    private static let calls = [
        start("a"), start("b"), start("a"), start("c", #","durationUSec":90000000"#), start("d"), start("e"),
        start("f", #","durationUSec":60000000,"label":"l","metadata":{"a":"b"}"#),
        start("g", #","durationUSec":60000000,"label":"l","metadata":{"a":"b"}"#), start("h"),
        start("i", #","durationUSec":60000000,"key":"j""#), start("k", #","durationUSec":60000000,"key":"j""#),
        start("l", #","durationUSec":60000000,"k\u0065y":"m""#),
        start("n", #","durationUSec":60000000,"k\u0065y":"m""#),
        start("o", #","durationUSec":-1"#), start("p", #","durationUSec":-1"#), start("q"), start(""), start("r"),
        start(#"\n"#), start("s"), start("ü"), start("t"), start("a", #","ifRunning":"fail""#),
        start("b", #","ifRunning":"fail""#), start("u", #","ifRunning":"fail""#),
        start("a", #","ifRunning":"restart""#),
        start("b", #","ifRunning":"restart""#), start("v", #","durationUSec":1,"deadlineUSec":1"#),
        start("w", #","durationUSec":1,"deadlineUSec":1"#), call("Get", "a"), call("Get", "b"), call("Get", "none"),
        call("Get", "c"), call("Get", #"\u0061"#), call("Get", "d"), call("Get", "d", #","key":"a""#), call("Get", "d"),
        call("Get", "d", #","other":1"#), call("Get", "b", #","other":1"#), call("Get", "e"), call("Cancel", "a"),
        call("Cancel", "b"), call("Get", "b"), call("Get", "a"), start("x"), start("y"), call("Get", "y"),
        #"{"method":"io.countdownd.Start","parameters":{"durationUSec":60000000,"key":"z"}}"#, start("aa"),
        #"{"method":"io.countdownd.Start","parameters":{"key":"bb","durationUSec":1},"oneway":true}"#, start("cc"),
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"none"}}"#, start("dd"),
    ]

    /// A reply without what depends on the moment.
    private static func timeless(_ reply: String) -> String {
        reply.replacing(/"(revision|(remaining|started|deadline|ended|retryAfter)USec)":\d+/) { "\"\($0.output.1)\":0" }
    }

    private static func isAnswered(_ call: String) -> Bool { !call.contains("oneway") }

    @Test("is answered as on a new connection, whether the calls arrive together or one by one")
    func answersTheSame() throws {
        let (apart, inTurn, together) = (try SmallDaemon(), try SmallDaemon(), try SmallDaemon())
        let one = try inTurn.connect()
        let all = try together.connect()
        try all.send(Array((Self.calls.joined(separator: "\0") + "\0").utf8))
        for call in Self.calls {
            let own = try apart.connect()
            try own.send(message: call)
            try one.send(message: call)
            guard Self.isAnswered(call) else { continue }
            let expected = Self.timeless(try own.message())
            #expect(Self.timeless(try one.message()) == expected, "\(call)")
            #expect(Self.timeless(try all.message()) == expected, "\(call)")
        }
    }
}
