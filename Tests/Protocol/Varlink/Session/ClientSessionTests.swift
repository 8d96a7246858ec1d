import Testing
import Varlink

@Suite("A client session")
struct ClientSessionTests {
    private func violation(_ messages: String..., after calls: (inout ClientSession) -> Void) -> ProtocolViolation? {
        var client = ClientSession(messageLimit: 200)
        calls(&client)
        for message in messages { client.receive(wire(message)) }
        do throws(ProtocolViolation) {
            while try client.next() != nil {}
            return nil
        } catch {
            return error
        }
    }

    @Test("a call contains its method, its parameters if it has any, and only flags that are set")
    func writesCalls() {
        var client = ClientSession(messageLimit: 4096)
        client.call("org.example.echo.Echo")
        client.call("org.example.echo.Echo") { $0.member("text", "a") }
        client.call("org.example.echo.Count", more: true) { $0.member("to", 2) }
        client.call("org.example.echo.Echo", oneway: true)
        client.call("org.example.echo.Echo", Text(text: "b"))
        #expect(
            client.takeMessages() == [
                #"{"method":"org.example.echo.Echo"}"#,
                #"{"method":"org.example.echo.Echo","parameters":{"text":"a"}}"#,
                #"{"method":"org.example.echo.Count","parameters":{"to":2},"more":true}"#,
                #"{"method":"org.example.echo.Echo","oneway":true}"#,
                #"{"method":"org.example.echo.Echo","parameters":{"text":"b"}}"#,
            ]
        )
    }

    @Test("replies belong to the calls in their order, also with streams and oneway calls")
    func matchesReplies() throws {
        var client = ClientSession(messageLimit: 4096)
        let first = client.call("org.example.echo.Echo")
        client.call("org.example.echo.Echo", oneway: true)
        let stream = client.call("org.example.echo.Count", more: true)
        let last = client.call("org.example.echo.Echo")
        #expect(client.unanswered == 3)
        client.receive(wire("{}", #"{"continues":true}"#, #"{"continues":true,"parameters":{"number":2}}"#, "{}", "{}"))
        var replies: [Reply] = []
        while let reply = try client.next() { replies.append(reply) }
        #expect(replies.map(\.call) == [first, stream, stream, stream, last])
        #expect(replies.map(\.continues) == [false, true, true, false, false])
        #expect(try replies[2].parameter("number", as: Int64.self) == 2)
        #expect(client.unanswered == 0)
    }

    @Test("an error has its name and its parameters, and ends a stream")
    func errors() throws {
        var client = ClientSession(messageLimit: 4096)
        client.call("org.example.echo.Count", more: true)
        client.call("org.example.echo.Echo")
        client.receive(wire(#"{"error":"org.example.echo.Refused","parameters":{"reason":"no"}}"#, #"{"error":null}"#))
        let reply = try #require(try client.next())
        #expect(reply.error == "org.example.echo.Refused")
        #expect(try reply.parameter("reason", as: String.self) == "no")
        #expect(try #require(try client.next()).error == nil)
    }

    @Test(
        "absent, null and empty parameters are the same",
        arguments: ["{}", #"{"parameters":null}"#, #"{"parameters":{}}"#]
    )
    func emptyParameters(message: String) throws {
        var client = ClientSession(messageLimit: 4096)
        client.call("org.example.echo.Echo")
        client.receive(wire(message))
        #expect(try #require(try client.next()).parameters == Array("{}".utf8))
    }

    @Test("a reply that no call waits for violates the protocol")
    func unexpectedReply() {
        #expect(violation("{}") { _ in } == .unexpectedReply)
        #expect(violation("{}", "{}") { $0.call("a.b.C") } == .unexpectedReply)
        #expect(violation("{}") { $0.call("a.b.C", oneway: true) } == .unexpectedReply)
    }

    @Test("continues violates the protocol if the call had no more, and in an error")
    func unexpectedContinues() {
        #expect(violation(#"{"continues":true}"#) { $0.call("a.b.C") } == .unexpectedContinues)
        #expect(
            violation(#"{"continues":true,"error":"a.b.D"}"#) { $0.call("a.b.C", more: true) } == .unexpectedContinues
        )
        #expect(violation(#"{"continues":false,"error":"a.b.D"}"#) { $0.call("a.b.C", more: true) } == nil)
    }

    @Test("a malformed reply violates the protocol")
    func malformed() {
        func violation(_ message: String) -> ProtocolViolation? { self.violation(message) { $0.call("a.b.C") } }
        #expect(violation("[]") == .invalidJSON(JSONError(offset: 0, reason: .notAnObject)))
        #expect(violation("{") == .invalidJSON(JSONError(offset: 1, reason: .unexpectedEnd)))
        #expect(violation(#"{"parameters":1}"#) == .invalidField("parameters"))
        #expect(violation(#"{"continues":1}"#) == .invalidField("continues"))
        #expect(violation(#"{"error":1}"#) == .invalidField("error"))
        #expect(violation(#"{"method":"a.b.C"}"#) == .unknownField("method"))
        #expect(violation(String(repeating: " ", count: 201)) == .messageTooLong(limit: 200))
        #expect(violation(#"{"org.example":{"trace":1}}"#) == nil)
    }

    @Test("the errors of org.varlink.service are recognized, as they were sent")
    func recognizesServiceErrors() throws {
        let errors: [ServiceError] = [
            .interfaceNotFound("a.b"), .methodNotFound("a.b.C"), .methodNotImplemented("a.b.C"), .invalidParameter("p"),
            .permissionDenied, .expectedMore,
        ]
        for error in errors {
            var server = EchoService.session()
            var client = ClientSession(messageLimit: 4096)
            client.call("org.example.echo.Echo")
            server.receive(client.takeUnsent())
            _ = server.next()
            server.fail(error)
            client.receive(server.takeUnsent())
            #expect(try ServiceError(#require(try client.next())) == error)
        }
    }

    @Test("an error of another interface, or without its parameter, is not an error of org.varlink.service")
    func otherErrors() throws {
        var client = ClientSession(messageLimit: 4096)
        let errors = [
            "org.example.echo.Refused", "org.varlink.service.InvalidParameter", "org.varlink.service.ExpectedUpgrade",
        ]
        for error in errors {
            client.call("org.example.echo.Echo")
            client.receive(wire(#"{"error":"\#(error)"}"#))
            #expect(try ServiceError(#require(try client.next())) == nil)
        }
    }
}

private struct Text: JSONEncodable {
    let text: String
    func encode(into writer: inout JSONWriter) { writer.member("text", text) }
}
