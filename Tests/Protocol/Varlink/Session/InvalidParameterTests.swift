import Testing
import Varlink

/// Texts that RFC 8259 allows and Varlink does not.
@Suite("JSON with half a surrogate pair or nested too deeply")
struct InvalidParameterTests {
    static let faults =
        #"\ud83d a\udf89 \uDF89\uD83D \ud83d\n\udf89 \ud83d\ud83d\udf89"#.split(separator: " ").map { #""\#($0)""# }
        + [#"{"\ud83d":1}"#] + [63, 64, 300].map { nested("[", "", "]", $0) }
        + [63, 100].map { nested(#"{"a":[0,"#, "1", #"],"b":""}"#, $0) }

    private static func nested(_ open: String, _ inner: String, _ close: String, _ depth: Int) -> String {
        String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
    }

    private static func answers(to messages: String...) -> (replies: [String], violation: ProtocolViolation?) {
        var session = EchoService.session(messageLimit: 1 << 20)
        session.receive(messages.flatMap { wire($0) })
        let violation = EchoService.serve(&session)
        return (session.takeMessages(), violation)
    }

    private static func refusal(of parameter: String) -> String {
        #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
    }

    private static let next = #"{"method":"org.example.echo.Echo","parameters":{"text":"next"}}"#
    private static let answered = #"{"parameters":{"text":"next"}}"#

    @Test("inside of the parameters it is an invalid one, and later calls are answered", arguments: faults)
    func insideParameters(fault: String) {
        let echo = #""method":"org.example.echo.Echo""#
        let calls = [
            (#"{\#(echo),"parameters":{"text":\#(fault)}}"#, "text"),
            (#"{"parameters":{"text":\#(fault)},\#(echo)}"#, "text"),
            (#"{\#(echo),"parameters":{"a":"x","t\u0065xt":[1,\#(fault)],"z":\#(fault)},"more":true}"#, "text"),
            (#"{"a.b":[],\#(echo),"parameters":1,"parameters":{"text":"\ud83c\udf89","b":\#(fault)}}"#, "b"),
            (#"{"method":"org.varlink.service.GetInfo","parameters":{"interface":\#(fault)}}"#, "interface"),
        ]
        for (call, parameter) in calls {
            let (replies, violation) = Self.answers(to: call, Self.next)
            #expect(violation == nil, "\(call)")
            #expect(replies == [Self.refusal(of: parameter), Self.answered], "\(call)")
        }
    }

    @Test("a name of a parameter that is none cannot be named")
    func nameOfParameter() {
        let call = #"{"method":"org.example.echo.Echo","parameters":{"\ud83d":1,"text":"\udf89"}}"#
        #expect(Self.answers(to: call, Self.next).replies == [Self.refusal(of: "parameters"), Self.answered])
    }

    @Test("a call with oneway has no reply, and an unknown method and upgrade have their own", arguments: faults)
    func otherAnswers(fault: String) {
        let parameters = #""parameters":{"text":\#(fault)}"#
        let (replies, violation) = Self.answers(
            to: #"{"method":"org.example.echo.Echo",\#(parameters),"oneway":true}"#,
            #"{"method":"org.example.echo.Nothing",\#(parameters)}"#,
            #"{"method":"org.example.echo.Echo",\#(parameters),"upgrade":true}"#,
            Self.next
        )
        #expect(violation == nil)
        let names = replies.dropLast().map { $0.split(separator: #"""#)[3] }
        #expect(names == ["org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented"])
        #expect(replies.last == Self.answered)
    }

    @Test("elsewhere, or in a message that is no call besides, it ends the connection", arguments: faults)
    func elsewhere(fault: String) {
        let echo = #""method":"org.example.echo.Echo""#
        let text = #""parameters":{"text":\#(fault)}"#
        let messages = [
            #"{\#(echo),"com.example.trace":[\#(fault)],\#(text)}"#,
            #"{\#(echo),"com.example.trace":{"parameters":\#(fault)}}"#,
            #"{"method":\#(fault),\#(text)}"#, #"{\#(text)}"#, #"{\#(echo),\#(text),"more":\#(fault)}"#,
            #"{\#(echo),\#(text),"oneway":1}"#, #"{\#(echo),\#(text),"oneway":true,"more":true}"#,
            #"{\#(echo),\#(text),"id":1}"#, #"{\#(echo),\#(text),"\ud83d":1}"#, #"{\#(echo),"parameters":[\#(fault)]}"#,
            #"{\#(echo),\#(text),"parameters":{}}"#, #"{\#(echo),\#(text)"#, #"{\#(echo),\#(text)}}"#,
            #"{\#(echo),"parameters":{"text":\#(fault),"a":01}}"#, #"{\#(echo),"parameters":{"text":\#(fault)"a":1}}"#,
            #"{\#(echo),"parameters":{"text":\#(fault),"a":"\x"}}"#, #"{\#(echo),"parameters":{"text":[\#(fault)}}"#,
        ]
        for message in messages {
            let (replies, violation) = Self.answers(to: message, Self.next)
            #expect(violation != nil && replies == [], "\(message)")
        }
        for byte: UInt8 in [0x0A, 0x80, 0xFF] {
            var session = EchoService.session(messageLimit: 1 << 20)
            let end = [0x22, byte] + wire(#""}}"#)
            session.receive(Array(#"{\#(echo),"parameters":{"text":\#(fault),"a":"#.utf8) + end + wire(Self.next))
            #expect(EchoService.serve(&session) != nil && session.unsent == 0)
        }
    }

    @Test("nesting as deep as a message can be takes no more of the stack")
    func endlessNesting() {
        for (open, inner, close) in [("[", "", "]"), (#"{"a":"#, "1", "}")] {
            func call(_ close: String) -> [UInt8] {
                let text = Self.nested(open, inner, close, 200_000)
                return wire(#"{"method":"org.example.echo.Echo","parameters":{"text":\#(text)}}"#)
            }
            var session = EchoService.session(messageLimit: 4 << 20)
            session.receive(call(close) + call(""))
            #expect(EchoService.serve(&session) != nil)
            #expect(session.takeMessages() == [Self.refusal(of: "text")])
        }
    }
}
