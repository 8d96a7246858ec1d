import TestSupport
import Testing
import Varlink

@Suite("Violations of the protocol")
struct ViolationTests {
    private func violation(_ bytes: [UInt8], limit: Int = 4096) -> ProtocolViolation? {
        var session = EchoService.session(messageLimit: limit)
        session.receive(bytes)
        let violation = EchoService.serve(&session)
        #expect(session.unsent == 0)
        return violation
    }

    /// Messages, and what they violate; fields that are ignored count, too.
    static var messages: [(String, ProtocolViolation)] {
        let deep = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        var messages: [(String, ProtocolViolation)] = [
            ("", json(0, .unexpectedEnd)), ("x", json(0, .unexpectedByte(0x78))), ("{", json(1, .unexpectedEnd)),
            (#"{"method":"a.B",}"#, json(16, .unexpectedByte(0x7D))), (#"{"method":"a.B"}}"#, json(16, .trailingBytes)),
            ("{'method':'a.B'}", json(1, .unexpectedByte(0x27))),
            (echo(#""org.example":"\ud83d""#), json(49, .loneSurrogate)),
            (echo(#""org.example":"# + deep), json(48 + 63, .tooDeep(limit: 64))),
            (echo(#""oneway":true,"more":true,"upgrade":true"#), .conflictingFlags),
            // Replies.
            (#"{"parameters":{},"continues":true}"#, .unknownField("continues")),
            (#"{"error":"org.example.echo.Refused"}"#, .unknownField("error")),
        ]
        messages += ["[]", "1", "null", #""org.example.echo.Echo""#].map { ($0, json(0, .notAnObject)) }
        for message in ["{}", #"{"method":null}"#, #"{"parameters":{}}"#, #"{"org.example":1}"#] {
            messages.append((message, .missingMethod))
        }
        messages += ["1", "{}", "[]", "true"].map { (#"{"method":\#($0)}"#, .invalidField("method")) }
        messages += ["1", "[]", #""x""#, "true"].map { (echo(#""parameters":\#($0)"#), .invalidField("parameters")) }
        for flag in ["oneway", "more", "upgrade"] {
            messages += ["1", "0", #""true""#, "{}", "[]"].map { (echo(#""\#(flag)":\#($0)"#), .invalidField(flag)) }
        }
        for (one, other) in [("oneway", "more"), ("more", "upgrade"), ("upgrade", "oneway")] {
            messages.append((echo(#""\#(one)":true,"\#(other)":true"#), .conflictingFlags))
        }
        messages += ["x", "Method", "X-trace", "parameter", ""].map { (echo(#""\#($0)":1"#), .unknownField($0)) }
        return messages
    }

    private static func echo(_ members: String) -> String { #"{"method":"org.example.echo.Echo",\#(members)}"# }

    private static func json(_ offset: Int, _ reason: JSONError.Reason) -> ProtocolViolation {
        .invalidJSON(JSONError(offset: offset, reason: reason))
    }

    @Test("a message that is no call of this protocol is named", arguments: messages)
    func message(message: String, expected: ProtocolViolation) {
        #expect(violation(wire(message)) == expected)
    }

    @Test("broken UTF-8, even in an ignored field")
    func brokenUTF8() {
        let bytes = Array(#"{"method":"org.example.echo.Echo","org.example":""#.utf8) + [0xFF] + wire(#""}"#)
        #expect(violation(bytes) == .invalidJSON(JSONError(offset: 49, reason: .invalidUTF8)))
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
