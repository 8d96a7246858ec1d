import TestSupport
import Testing
import Varlink

@Suite("Violations of the protocol")
struct ViolationTests {
    private func violation(_ message: String, limit: Int = 4096) -> ProtocolViolation? {
        violation(wire(message), limit: limit)
    }

    private func violation(_ bytes: [UInt8], limit: Int = 4096) -> ProtocolViolation? {
        var session = EchoService.session(messageLimit: limit)
        session.receive(bytes)
        let violation = EchoService.serve(&session)
        #expect(session.unsent == 0)
        return violation
    }

    @Test(
        "a message that is not JSON",
        arguments: ["", "x", "{", #"{"method":"a.B",}"#, #"{"method":"a.B"}}"#, "{'method':'a.B'}"]
    )
    func invalidJSON(message: String) {
        guard case .invalidJSON = violation(message) else {
            Issue.record("not told")
            return
        }
    }

    @Test("a message that is not an object", arguments: ["[]", "1", "null", #""org.example.echo.Echo""#])
    func notAnObject(message: String) {
        #expect(violation(message) == .invalidJSON(JSONError(offset: 0, reason: .notAnObject)))
    }

    @Test("broken UTF-8, even in an ignored field")
    func brokenUTF8() {
        let bytes = Array(#"{"method":"org.example.echo.Echo","org.example":""#.utf8) + [0xFF] + wire(#""}"#)
        #expect(violation(bytes) == .invalidJSON(JSONError(offset: 49, reason: .invalidUTF8)))
    }

    @Test("a lone surrogate, even in an ignored field")
    func loneSurrogate() {
        let message = #"{"method":"org.example.echo.Echo","parameters":{"text":"\ud83d"}}"#
        #expect(violation(message) == .invalidJSON(JSONError(offset: 56, reason: .loneSurrogate)))
    }

    @Test("nesting deeper than 64, even in an ignored field")
    func nesting() {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        let message = #"{"method":"org.example.echo.Echo","org.example":\#(deep)}"#
        #expect(violation(message) == .invalidJSON(JSONError(offset: 48 + 63, reason: .tooDeep(limit: 64))))
    }

    @Test(
        "a call without a method",
        arguments: ["{}", #"{"method":null}"#, #"{"parameters":{}}"#, #"{"org.example":1}"#]
    )
    func missingMethod(message: String) {
        #expect(violation(message) == .missingMethod)
    }

    @Test("a method that is not a string", arguments: ["1", "{}", "[]", "true"])
    func invalidMethod(value: String) {
        #expect(violation(#"{"method":\#(value)}"#) == .invalidField("method"))
    }

    @Test("parameters that are not an object", arguments: ["1", "[]", #""x""#, "true"])
    func invalidParameters(value: String) {
        #expect(violation(#"{"method":"org.example.echo.Echo","parameters":\#(value)}"#) == .invalidField("parameters"))
    }

    @Test(
        "a flag that is not a boolean",
        arguments: ["oneway", "more", "upgrade"],
        ["1", "0", #""true""#, "{}", "[]"]
    )
    func invalidFlags(flag: String, value: String) {
        #expect(violation(#"{"method":"org.example.echo.Echo","\#(flag)":\#(value)}"#) == .invalidField(flag))
    }

    @Test("two flags at once", arguments: [("oneway", "more"), ("more", "upgrade"), ("upgrade", "oneway")])
    func conflictingFlags(one: String, other: String) {
        let message = #"{"method":"org.example.echo.Echo","\#(one)":true,"\#(other)":true}"#
        #expect(violation(message) == .conflictingFlags)
    }

    @Test("all three flags at once")
    func allFlags() {
        let message = #"{"method":"org.example.echo.Echo","oneway":true,"more":true,"upgrade":true}"#
        #expect(violation(message) == .conflictingFlags)
    }

    @Test(
        "an unknown header field without a dot",
        arguments: ["x", "Method", "X-trace", "parameter", ""]
    )
    func unknownField(name: String) {
        #expect(violation(#"{"method":"org.example.echo.Echo","\#(name)":1}"#) == .unknownField(name))
    }

    @Test("a reply sent to a service")
    func strayReply() {
        #expect(violation(#"{"parameters":{},"continues":true}"#) == .unknownField("continues"))
        #expect(violation(#"{"error":"org.example.echo.Refused"}"#) == .unknownField("error"))
    }

    @Test("a message over the limit, with or without its NUL", arguments: [true, false])
    func tooLong(ends: Bool) {
        let bytes = [UInt8](repeating: 0x20, count: 101) + (ends ? [0] : [])
        #expect(violation(bytes, limit: 100) == .messageTooLong(limit: 100))
    }

    @Test("nothing follows a violation")
    func endsTheSession() {
        var session = EchoService.session()
        session.receive(wire("{}", #"{"method":"org.example.echo.Echo"}"#))
        guard case .violation(.missingMethod) = session.next() else {
            Issue.record("no violation")
            return
        }
        #expect(session.next() == nil)
        session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
        #expect(session.next() == nil)
    }

    @Test(
        "random bytes and mutilated calls end in a violation or an answer, never in a trap",
        arguments: 0..<50 as Range<UInt64>
    )
    func survivesNonsense(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let transcript = Transcript.all[Int(seed) % Transcript.all.count]
        for _ in 0..<40 {
            var input = transcript.input
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: 0..<input.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: input[place] = .random(in: 0...255, using: &random)
                case 1: input.remove(at: place)
                default: input.insert(Array(#"{}[]":,\u0"#.utf8).randomElement(using: &random) ?? 0, at: place)
                }
            }
            let (replies, _) = transcript.answers(to: [input])
            #expect(replies.allSatisfy { syntaxError($0.utf8) == nil })
        }
    }
}
