import Testing
import Varlink

@Suite("A call that begins as the one before it")
struct OpeningTests {
    private static let usual = #"{"method":"org.example.echo.Echo","parameters":{"text":"a"}}"#

    /// What a session answers to a message, and whether it ends the connection.
    private struct Outcome: Equatable {
        let answers: [String]
        let violation: ProtocolViolation?

        init(of message: [UInt8], in session: inout ServerSession) {
            session.receive(message + [0])
            violation = EchoService.serve(&session)
            answers = session.takeMessages()
        }
    }

    /// Tells whether a message comes to the same on a new connection and behind a usual call.
    private func expectSame(_ message: [UInt8], _ location: SourceLocation = #_sourceLocation) {
        var fresh = EchoService.session()
        var used = EchoService.session()
        #expect(Outcome(of: Array(Self.usual.utf8), in: &used).answers == [#"{"parameters":{"text":"a"}}"#])
        let (expected, outcome) = (Outcome(of: message, in: &fresh), Outcome(of: message, in: &used))
        #expect(outcome == expected, "\(String(decoding: message, as: UTF8.self))", sourceLocation: location)
    }

    @Test(
        "it is read to its end all the same",
        arguments: [
            #""b"}}"#, #""\n\u00e9"}}"#, #" "b" } } "#, #"null}}"#, #"7}}"#, #"["b"]}}"#, #"{"text":"b"}}}"#,
            #""b","text":"c"}}"#, #""b","other":1}}"#, #""b"},"more":true}"#, #""b"},"oneway":true}"#,
            #""b"},"upgrade":true}"#, #""b"},"parameters":{"text":"c"}}"#, #""b"},"parameters":null}"#,
            #""b"},"method":"org.example.echo.Count"}"#, #""b"},"method":"org.example.none.Such"}"#,
            #""b"},"method":1}"#, #""b"},"org.example.vendor":1}"#, #""b"},"unknown":1}"#,
            #""b"},"more":true,"oneway":true}"#, #""b"}"#, #""b"}}}"#, #""b"}} x"#, #""b"},}"#, #""b",}}"#, #""b"#,
            "",
            #"}}"#, #" "#, "\"\u{7F}\"}}", #""\ud800"}}"#, #""b"}]"#,
        ]
    )
    func isReadToItsEnd(rest: String) {
        expectSame(Array((#"{"method":"org.example.echo.Echo","parameters":{"text":"# + rest).utf8))
    }

    @Test(
        "one that begins otherwise is read anew",
        arguments: [
            #"{"method":"org.example.echo.Count","parameters":{"to":2},"more":true}"#,
            #"{"method":"org.example.echo.Echo","parameters":{}}"#, #"{"method":"org.example.echo.Echo"}"#,
            #"{"method":"org.example.echo.Echo","parameters":{"texts":"a"}}"#,
            #"{"parameters":{"text":"a"},"method":"org.example.echo.Echo"}"#,
            #"{"method":"org.varlink.service.GetInfo","parameters":{}}"#, #" {"method":"org.example.echo.Echo"}"#,
            "{}", "",
        ]
    )
    func beginsOtherwise(message: String) {
        expectSame(Array(message.utf8))
    }

    @Test(
        "wherever a byte of it is another, is missing or is one too many, it comes to the same as on a new connection"
    )
    func mutations() {
        let usual = Array(Self.usual.utf8)
        for place in usual.indices {
            for byte in Array("\u{1}\" \\,:[]{}antu0\u{80}".utf8) + [0x80, 0xFF] {
                var other = usual
                other[place] = byte
                expectSame(other)
                other.insert(usual[place], at: place)
                expectSame(other)
            }
            expectSame(Array(usual[..<place]))
            expectSame(Array(usual[..<place] + usual[(place + 1)...]))
        }
    }

    @Test("where calls of two methods take turns, each is answered as it is")
    func takesTurns() {
        var session = EchoService.session()
        for number in 1...3 {
            let echo = #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(number)"}}"#
            let count = #"{"method":"org.example.echo.Count","parameters":{"to":1}}"#
            session.receive(wire(echo, echo, count, count))
            #expect(EchoService.serve(&session) == nil)
            let text = #"{"parameters":{"text":"\#(number)"}}"#
            let refused = #"{"error":"org.varlink.service.ExpectedMore"}"#
            #expect(session.takeMessages() == [text, text, refused, refused])
        }
    }

    private static func echo(_ text: String) -> String {
        #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(text)"}}"#
    }

    /// A session that has answered a usual call, and was sent these.
    private func session(sent messages: [String]) -> ServerSession {
        var session = EchoService.session()
        session.receive(wire(Self.usual))
        #expect(EchoService.serve(&session) == nil)
        _ = session.takeMessages()
        session.receive(messages.flatMap { wire($0) })
        return session
    }

    @Test("calls that repeat it are answered at once, as many as are asked for, up to the first that is another one")
    func answersRepetitions() {
        for (message, count) in [
            (Self.echo("c"), 4), (Self.echo("\\n"), 2), (Self.echo("é"), 2), (Self.echo(""), 4),
            (Self.echo("refuse"), 2),
            (#"{"method":"org.example.echo.Echo","parameters":{"texts":"c"}}"#, 2),
            (#"{"method":"org.example.echo.Echo","parameters":{"text":"c"},"more":true}"#, 2),
        ] {
            var session = session(sent: [Self.echo("a"), Self.echo("b"), message, Self.echo("d")])
            #expect(EchoService.answerRepetitions(in: &session, atMost: 1) == 1)
            #expect(EchoService.answerRepetitions(in: &session, atMost: 8) == count - 1, "\(message)")
            let replies = ["a", "b"].map { #"{"parameters":{"text":"\#($0)"}}"# }
            #expect(session.takeMessages().prefix(2) == replies[...])
        }
    }

    @Test("none is answered at once while too much is to be sent, or one is in progress")
    func leavesCallsAlone() {
        var session = session(sent: [String](repeating: Self.echo("a"), count: 4))
        #expect(EchoService.answerRepetitions(in: &session, whileUnsent: -1) == 0)
        #expect(EchoService.answerRepetitions(in: &session, whileUnsent: 0) == 1)
        #expect(session.next() != nil)
        session.expectRepetitions(by: "text")
        #expect(EchoService.answerRepetitions(in: &session) == 0)
        session.reply()
        #expect(EchoService.answerRepetitions(in: &session) == 2)
    }

    @Test(
        "what stands behind its string has to be the same, and may not be another one of that name",
        arguments: [
            (#""other":1"#, #""other":1"#, "text", 1), (#""other":1"#, #""other":2"#, "text", 0),
            (#""other":1"#, #""other":1 "#, "text", 0), (#""text":"b""#, #""text":"b""#, "text", 0),
            (#""t\u0065xt":"b""#, #""t\u0065xt":"b""#, "text", 0), (#""other":1"#, #""other":1"#, "texts", 0),
        ]
    )
    func comparesTheRest(first: String, second: String, parameter: String, count: Int) {
        func call(_ text: String, _ rest: String) -> String {
            #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(text)",\#(rest)}}"#
        }
        var session = EchoService.session()
        session.receive(wire(call("a", first), call("b", second), Self.usual, call("c", first)))
        #expect(session.next() != nil)
        session.expectRepetitions(by: parameter == "text" ? "text" : "texts")
        session.reply()
        #expect(EchoService.answerRepetitions(in: &session) == count)
        // Two calls that nobody said so of.
        while session.next() != nil {
            session.reply()
            #expect(EchoService.answerRepetitions(in: &session) == 0)
        }
        #expect(session.pendingInput == 0)
    }
}
