import Testing
import Varlink

@Suite("An array reply")
struct ArrayReplyTests {
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

    @Test("appended elements form one reply")
    func appending() {
        var session = session()
        session.appendElements("events", elements(1, 2))
        session.appendElements("events", elements(3))
        #expect(session.openArrayBytes == 4)
        session.endArray()
        session.endArray()
        #expect(session.openArrayBytes == 0)
        #expect(session.takeMessages() == [#"{"parameters":{"events":[1,2,3]},"continues":true}"#])
    }

    @Test("another reply ends the array first")
    func another() {
        var session = session()
        session.appendElements("events", elements(1))
        session.reply { $0.member("number", 2) }
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"events":[1]},"continues":true}"#, #"{"parameters":{"number":2}}"#,
            ]
        )
    }

    @Test("an array continues after a partial send, and is gone after unsent bytes are dropped")
    func sentInPart() {
        var session = session()
        session.appendElements("events", elements(1))
        let begun = session.takeUnsent()
        session.appendElements("events", elements(2))
        session.endArray()
        #expect(messages(begun + session.takeUnsent()) == [#"{"parameters":{"events":[1,2]},"continues":true}"#])
        session.appendElements("events", elements(3))
        session.dropUnsent()
        #expect(session.openArrayBytes == 0)
        session.reply { $0.member("number", 4) }
        #expect(session.takeMessages() == [#"{"parameters":{"number":4}}"#])
    }
}
