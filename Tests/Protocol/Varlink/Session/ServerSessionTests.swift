import JSONTree
import Testing
import Varlink

@Suite("A server session")
struct ServerSessionTests {
    private static let echo = #"{"method":"org.example.echo.Echo","parameters":{"text":"a"}}"#
    private static let count = #"{"method":"org.example.echo.Count","parameters":{"to":3},"more":true}"#
    private static let oneway = #"{"method":"org.example.echo.Echo","oneway":true}"#

    private func call(_ step: ServerSession.Step?) throws -> Call {
        guard case .call(let call) = step else { throw NoCall() }
        return call
    }

    private struct NoCall: Error {}

    @Test("a call of a listed method is returned with its names, flags and parameters")
    func tellsCall() throws {
        var session = EchoService.session()
        session.receive(wire(Self.count))
        let call = try call(session.next())
        #expect(call.method == "org.example.echo.Count")
        #expect(call.interface == "org.example.echo")
        #expect(call.name == "Count")
        #expect(call.more && !call.oneway && !call.upgrade)
        #expect(try session.parameters(as: JSONValue.self) == .object(["to": .integer(3)]))
        #expect(session.callInProgress?.method == call.method)
    }

    @Test("no call is returned while one is in progress, or before it was received whole")
    func holdsConnection() throws {
        var session = EchoService.session()
        session.receive(wire(Self.count, Self.echo))
        _ = try call(session.next())
        #expect(session.next() == nil)
        session.reply(continues: true) { $0.member("number", 1) }
        #expect(session.next() == nil)
        session.receive(wire(Self.echo))
        #expect(session.next() == nil)
        session.reply { $0.member("number", 2) }
        #expect(session.callInProgress == nil)
        #expect(try call(session.next()).name == "Echo")
    }

    @Test("a refused client gets the same error for every call")
    func denies() {
        var session = ServerSession(
            service: EchoService.description,
            messageLimit: 4096,
            refusal: ServiceError.permissionDenied
        )
        let others = [
            #"{"method":"org.varlink.service.GetInfo"}"#, #"{"method":"org.example.none.Such"}"#,
            #"{"method":"org.example.echo.Echo","upgrade":true}"#,
        ]
        session.receive(wire(Self.echo, Self.oneway, Self.count) + wire(others[0], others[1], others[2]))
        for _ in 0..<6 {
            guard case .answered = session.next() else {
                Issue.record("the session answers by itself")
                return
            }
        }
        #expect(session.next() == nil)
        let denial = #"{"error":"org.varlink.service.PermissionDenied"}"#
        #expect(messages(session.takeUnsent()) == [String](repeating: denial, count: 5))
        session.receive(wire("nonsense"))
        guard case .violation = session.next() else {
            Issue.record("nonsense ends the connection all the same")
            return
        }
    }

    @Test("a call with more may end in an error, after replies and without any")
    func streamEndsInError() throws {
        var session = EchoService.session()
        session.receive(wire(Self.count, Self.count))
        _ = try call(session.next())
        session.reply(continues: true)
        session.fail(EchoService.Refused(reason: "enough"))
        _ = try call(session.next())
        session.fail(ServiceError.permissionDenied)
        #expect(
            session.takeMessages() == [
                #"{"continues":true}"#, #"{"error":"org.example.echo.Refused","parameters":{"reason":"enough"}}"#,
                #"{"error":"org.varlink.service.PermissionDenied"}"#,
            ]
        )
    }

    @Test("a call with oneway is in progress until it is answered, and nothing is sent")
    func oneway() throws {
        var session = EchoService.session()
        session.receive(wire(Self.oneway, Self.oneway, Self.oneway, Self.oneway, Self.echo))
        #expect(try call(session.next()).oneway)
        #expect(session.next() == nil)
        session.reply { $0.member("text", "unheard") }
        _ = try call(session.next())
        session.fail(InvalidParameter("text"))
        _ = try call(session.next())
        session.reply(Number(number: 1))
        _ = try call(session.next())
        session.reply()
        #expect(session.unsent == 0)
        #expect(try call(session.next()).name == "Echo")
    }

    @Test("the session answers one call per step itself, so that the caller limits the output")
    func answersOneCallAStep() throws {
        var session = EchoService.session()
        let calls = [
            #"{"method":"org.varlink.service.GetInfo"}"#, #"{"method":"org.example.echo.Nothing"}"#,
            #"{"method":"org.example.echo.Echo","upgrade":true}"#,
            #"{"method":"org.example.echo.Nothing","oneway":true}"#,
        ]
        session.receive(calls.flatMap { wire($0) })
        for place in calls.indices {
            guard case .answered = session.next() else { throw NoCall() }
            #expect(session.takeMessages().count == (place < 3 ? 1 : 0))
        }
        #expect(session.next() == nil)
    }

    @Test("each form of reply is written")
    func formsOfReply() throws {
        var session = EchoService.session()
        session.receive(wire(Self.count))
        _ = try call(session.next())
        session.reply(continues: true) { $0.member("number", 1) }
        session.reply(Number(number: 2), continues: true)
        session.reply(continues: true) { $0.member("number", 3) }
        session.reply(continues: true)
        session.reply(continues: true) { _ in }
        session.reply(Number(number: 4))
        #expect(
            session.takeMessages() == [
                #"{"parameters":{"number":1},"continues":true}"#, #"{"parameters":{"number":2},"continues":true}"#,
                #"{"parameters":{"number":3},"continues":true}"#, #"{"continues":true}"#, #"{"continues":true}"#,
                #"{"parameters":{"number":4}}"#,
            ]
        )
    }

    @Test("input that was not returned in calls is counted")
    func countsPendingInput() throws {
        var session = EchoService.session()
        session.receive(Array("12345".utf8))
        #expect(session.next() == nil)
        #expect(session.pendingInput == 5)
        session = EchoService.session()
        session.receive(wire(Self.count, Self.echo))
        #expect(session.pendingInput == Self.count.utf8.count + Self.echo.utf8.count + 2)
        _ = try call(session.next())
        #expect(session.pendingInput == Self.echo.utf8.count + 1)
    }

    @Test("parameters can be read until bytes are received or sent; later reads are a programming error")
    func readsParametersInTime() async throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo, Self.count))
        _ = session.next()
        for _ in 1...2 { #expect(try session.parameters(as: JSONValue.self) == .object(["text": .string("a")])) }
        session.reply()
        #expect(try session.parameters(as: JSONValue.self) == .object(["text": .string("a")]))
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(Self.echo))
            _ = session.next()
            session.receive(wire(Self.count))
            _ = try session.parameters(as: JSONValue.self)
        }
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(Self.echo))
            _ = session.next()
            session.withUnsent { $0.count }
            _ = try session.parameters(as: JSONValue.self)
        }
    }

    @Test("partial sends keep the order, also with replies in between")
    func sendsInParts() throws {
        var session = EchoService.session()
        var sent: [UInt8] = []
        for round in 0..<200 {
            session.receive(wire(#"{"method":"org.example.echo.Echo","parameters":{"text":"\#(round)"}}"#))
            #expect(EchoService.serve(&session) == nil)
            sent += session.takeUnsent(upTo: 17)
        }
        sent += session.takeUnsent()
        #expect(messages(sent) == (0..<200).map { #"{"parameters":{"text":"\#($0)"}}"# })
        #expect(session.unsent == 0)
    }

    @Test("a failed send removes nothing and is rethrown")
    func failsToSend() throws {
        struct Broken: Error {}
        var session = EchoService.session()
        session.receive(wire(Self.echo))
        #expect(EchoService.serve(&session) == nil)
        let unsent = session.unsent
        #expect(throws: Broken.self) { try session.withUnsent { _ throws(Broken) in throw Broken() } }
        #expect(session.unsent == unsent)
    }

    @Test("continues without more and a reply without a call are programming errors")
    func ownFaults() async {
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
            _ = session.next()
            session.reply(continues: true)
        }
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.reply()
        }
    }
}

private struct Number: JSONEncodable {
    let number: Int64
    func encode(into writer: inout JSONWriter) { writer.member("number", number) }
}
