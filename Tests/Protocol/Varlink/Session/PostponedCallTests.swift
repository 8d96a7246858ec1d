import Testing
import Varlink

@Suite("A postponed call")
struct PostponedCallTests {
    private static func echo(_ options: String = "") -> String { #"{"method":"org.example.echo.Echo"\#(options)}"# }

    private static func reply(_ number: Int) -> String { #"{"parameters":{"number":\#(number)}}"# }

    private func postpone(_ session: inout ServerSession) throws -> Int {
        guard case .call = session.next() else { throw NoCall() }
        return session.postpone()
    }

    private struct NoCall: Error {}

    @Test("lets the next call be returned, and its reply is sent first whatever the order of the answers")
    func keepsOrder() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo(), Self.echo(), Self.echo()))
        let numbers = [try postpone(&session), try postpone(&session), try postpone(&session)]
        session.reply(toPostponed: numbers[2]) { $0.member("number", 3) }
        session.fail(postponed: numbers[1], ServiceError.permissionDenied)
        let (isHeld, messages) = (session.hasPostponedCalls, session.takeMessages())
        #expect(isHeld && messages == [])
        session.reply(toPostponed: numbers[0]) { $0.member("number", 1) }
        let isHeldStill = session.hasPostponedCalls
        #expect(!isHeldStill)
        #expect(
            session.takeMessages() == [
                Self.reply(1), #"{"error":"org.varlink.service.PermissionDenied"}"#, Self.reply(3),
            ]
        )
    }

    @Test("holds the reply to a later call that is answered at once, and to one that the session answers itself")
    func holdsOthers() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo(), Self.echo(), #"{"method":"org.example.none.Such"}"#))
        let number = try postpone(&session)
        guard case .call = session.next() else { throw NoCall() }
        session.reply { $0.member("number", 2) }
        guard case .answered = session.next() else { throw NoCall() }
        #expect(session.takeMessages() == [])
        session.reply(toPostponed: number) { $0.member("number", 1) }
        let messages = session.takeMessages()
        #expect(messages.prefix(2) == [Self.reply(1), Self.reply(2)])
        #expect(messages.last?.contains("InterfaceNotFound") == true)
    }

    @Test("gets no reply with oneway, and holds the others until it is carried out")
    func oneway() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo(#","oneway":true"#), Self.echo(), Self.echo(#","oneway":true"#)))
        let numbers = [try postpone(&session), try postpone(&session), try postpone(&session)]
        session.reply(toPostponed: numbers[2]) { $0.member("number", 3) }
        session.reply(toPostponed: numbers[1]) { $0.member("number", 2) }
        #expect(session.takeMessages() == [])
        session.reply(toPostponed: numbers[0]) { $0.member("number", 1) }
        #expect(session.takeMessages() == [Self.reply(2)])
    }

    @Test("stays postponed if a later call is put back")
    func putsBack() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo(), Self.echo()))
        let number = try postpone(&session)
        guard case .call = session.next() else { throw NoCall() }
        session.putBack()
        session.reply(toPostponed: number) { $0.member("number", 1) }
        guard case .call = session.next() else { throw NoCall() }
        session.reply { $0.member("number", 2) }
        #expect(session.takeMessages() == [Self.reply(1), Self.reply(2)])
    }
}
