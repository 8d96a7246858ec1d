import Testing
import Varlink

@Suite("Going back to a mark")
struct MarkTests {
    private static func echo(_ text: String) -> String {
        #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(text)"}}"#
    }

    private static let count = #"{"method":"org.example.echo.Count","parameters":{"to":3},"more":true}"#

    @Test("answers since the mark are gone, and the calls come once more, in order")
    func tellsCallsAgain() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), #"{"method":"org.varlink.service.Nothing"}"#, Self.echo("b")))
        let mark = session.mark()
        #expect(EchoService.serve(&session) == nil)
        let answers = session.unsent
        session.rewind(to: mark)
        #expect(session.unsent == 0)
        #expect(EchoService.serve(&session) == nil)
        #expect(session.unsent == answers)
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"text":"a"}}"#,
                #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.varlink.service.Nothing"}}"#,
                #"{"parameters":{"text":"b"}}"#,
            ]
        )
    }

    @Test("answers before the mark stay, sent in part or not")
    func keepsEarlierAnswers() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("early")))
        #expect(EchoService.serve(&session) == nil)
        session.withUnsent { _ in 3 }
        session.receive(wire(Self.echo("late")))
        let mark = session.mark()
        #expect(EchoService.serve(&session) == nil)
        session.rewind(to: mark)
        #expect(String(decoding: session.takeUnsent(), as: UTF8.self) == #"arameters":{"text":"early"}}"# + "\0")
    }

    @Test("a call that was in progress at the mark is so again")
    func keepsCallInProgress() {
        var session = EchoService.session()
        session.receive(wire(Self.count))
        _ = session.next()
        session.reply(continues: true) { $0.member("number", 1) }
        let mark = session.mark()
        session.reply(continues: true) { $0.member("number", 2) }
        session.reply { $0.member("number", 3) }
        #expect(session.callInProgress == nil)
        session.rewind(to: mark)
        #expect(session.callInProgress?.method == "org.example.echo.Count")
        session.fail(EchoService.Refused(reason: "not stored"))
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"number":1},"continues":true}"#,
                #"{"error":"org.example.echo.Refused","parameters":{"reason":"not stored"}}"#,
            ]
        )
    }

    @Test("a violation since the mark is told once more")
    func tellsViolationAgain() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), "{}"))
        let mark = session.mark()
        #expect(EchoService.serve(&session) == .missingMethod)
        session.rewind(to: mark)
        #expect(EchoService.serve(&session) == .missingMethod)
        #expect(session.takeMessages() == [#"{"parameters":{"text":"a"}}"#])
    }

    @Test("a mark can be gone back to more than once")
    func isReusable() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a")))
        let mark = session.mark()
        for _ in 0..<3 {
            session.rewind(to: mark)
            #expect(EchoService.serve(&session) == nil)
        }
        #expect(session.takeMessages() == [#"{"parameters":{"text":"a"}}"#])
    }

    @Test("there is no way back over bytes that came or went since")
    func ownFaults() async {
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            let mark = session.mark()
            session.receive([0x20])
            session.rewind(to: mark)
        }
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
            let mark = session.mark()
            _ = EchoService.serve(&session)
            session.withUnsent { $0.count }
            session.rewind(to: mark)
        }
    }
}
