import Testing
import Varlink

@Suite("Rolling back to a savepoint")
struct SavepointTests {
    private static func echo(_ text: String) -> String {
        #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(text)"}}"#
    }

    private static let count = #"{"method":"org.example.echo.Count","parameters":{"to":3},"more":true}"#

    @Test("replies since the savepoint are gone, and the calls come again in order")
    func tellsCallsAgain() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), #"{"method":"org.varlink.service.Nothing"}"#, Self.echo("b")))
        let savepoint = session.savepoint()
        #expect(EchoService.serve(&session) == nil)
        let answers = session.unsent
        session.rollback(to: savepoint)
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

    @Test("replies before the savepoint stay, whether or not a part was sent")
    func keepsEarlierAnswers() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("early")))
        #expect(EchoService.serve(&session) == nil)
        session.withUnsent { _ in 3 }
        session.receive(wire(Self.echo("late")))
        let savepoint = session.savepoint()
        #expect(EchoService.serve(&session) == nil)
        session.rollback(to: savepoint)
        #expect(String(decoding: session.takeUnsent(), as: UTF8.self) == #"arameters":{"text":"early"}}"# + "\0")
    }

    @Test("a call that was in progress at the savepoint is in progress again")
    func keepsCallInProgress() {
        var session = EchoService.session()
        session.receive(wire(Self.count))
        _ = session.next()
        session.reply(continues: true) { $0.member("number", 1) }
        let savepoint = session.savepoint()
        session.reply(continues: true) { $0.member("number", 2) }
        session.reply { $0.member("number", 3) }
        #expect(session.callInProgress == nil)
        session.rollback(to: savepoint)
        #expect(session.callInProgress?.method == "org.example.echo.Count")
        session.fail(EchoService.Refused(reason: "not stored"))
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"number":1},"continues":true}"#,
                #"{"error":"org.example.echo.Refused","parameters":{"reason":"not stored"}}"#,
            ]
        )
    }

    @Test("a violation since the savepoint is reported again")
    func tellsViolationAgain() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), "{}"))
        let savepoint = session.savepoint()
        #expect(EchoService.serve(&session) == .missingMethod)
        session.rollback(to: savepoint)
        #expect(EchoService.serve(&session) == .missingMethod)
        #expect(session.takeMessages() == [#"{"parameters":{"text":"a"}}"#])
    }

    @Test("a savepoint can be used more than once")
    func isReusable() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a")))
        let savepoint = session.savepoint()
        for _ in 0..<3 {
            session.rollback(to: savepoint)
            #expect(EchoService.serve(&session) == nil)
        }
        #expect(session.takeMessages() == [#"{"parameters":{"text":"a"}}"#])
    }

    @Test("a rollback after bytes were received or sent is a programming error")
    func ownFaults() async {
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            let savepoint = session.savepoint()
            session.receive([0x20])
            session.rollback(to: savepoint)
        }
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
            let savepoint = session.savepoint()
            _ = EchoService.serve(&session)
            session.withUnsent { $0.count }
            session.rollback(to: savepoint)
        }
    }
}
