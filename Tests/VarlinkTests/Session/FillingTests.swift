import Testing
import Varlink

@Suite("A reply that is filled with elements")
struct FillingTests {
    private static let count = #"{"method":"org.example.echo.Count","parameters":{"to":3},"more":true}"#

    private func session() -> ServerSession {
        var session = EchoService.session()
        session.receive(wire(Self.count))
        _ = session.next()
        return session
    }

    private func elements(_ numbers: Int...) -> JSONWriter {
        var writer = JSONWriter()
        for number in numbers { writer.element(number) }
        return writer
    }

    @Test("elements that are put in one after the other are told in one reply")
    func filling() {
        var session = session()
        session.fill("events", with: elements(1, 2))
        session.fill("events", with: elements(3))
        #expect(session.filled == 4)
        session.closeFilled()
        session.closeFilled()
        #expect(session.filled == 0)
        #expect(session.takeMessages() == [#"{"parameters":{"events":[1,2,3]},"continues":true}"#])
    }

    @Test("another reply closes it first")
    func another() {
        var session = session()
        session.fill("events", with: elements(1))
        session.reply { $0.member("number", 2) }
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"events":[1]},"continues":true}"#, #"{"parameters":{"number":2}}"#,
            ]
        )
    }

    @Test("what was sent of it goes on behind that, and what is dropped is not gone on with")
    func sentInPart() {
        var session = session()
        session.fill("events", with: elements(1))
        let begun = session.takeUnsent()
        session.fill("events", with: elements(2))
        session.closeFilled()
        #expect(messages(begun + session.takeUnsent()) == [#"{"parameters":{"events":[1,2]},"continues":true}"#])
        session.fill("events", with: elements(3))
        session.dropUnsent()
        #expect(session.filled == 0)
        session.reply { $0.member("number", 4) }
        #expect(session.takeMessages() == [#"{"parameters":{"number":4}}"#])
    }
}
