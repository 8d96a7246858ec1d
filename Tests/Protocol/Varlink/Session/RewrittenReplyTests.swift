import Testing
import Varlink

@Suite("Writing replies again")
struct RewrittenReplyTests {
    private static func echo(_ text: String) -> String {
        #"{"method":"org.example.echo.Echo","parameters":{"text":"\#(text)"}}"#
    }

    private static func reply(_ text: String) -> String { #"{"parameters":{"text":"\#(text)"}}"# }

    @Test("keeps what was in the output before, of which a part may be sent, and can leave out some of the replies")
    func appends() {
        var session = EchoService.session()
        session.receive(wire(Self.echo("early")))
        #expect(EchoService.serve(&session) == nil)
        session.withUnsent { _ in 3 }
        let start = session.outputLength
        session.receive(wire(Self.echo("a"), #"{"method":"org.varlink.service.Nothing"}"#, Self.echo("b")))
        #expect(EchoService.serve(&session) == nil)
        let output = session.takeOutput(behind: start)
        let (first, last) = (Self.reply("a").utf8.count + 1, Self.reply("b").utf8.count + 1)
        session.append(output.prefix(first))
        session.append(output.suffix(last))
        let rest = Self.reply("early").dropFirst(3) + "\0" + Self.reply("a") + "\0" + Self.reply("b") + "\0"
        #expect(String(decoding: session.takeUnsent(), as: UTF8.self) == rest)
    }

    @Test("a call that was answered can be in progress again, and be answered in another way")
    func resumes() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), Self.echo("b")))
        guard case .call(let call) = session.next() else { throw NoCall() }
        session.reply { $0.member("text", "a") }
        _ = session.takeOutput(behind: 0)
        session.resume(call)
        #expect(session.next() == nil)
        session.fail(EchoService.Refused(reason: "not stored"))
        #expect(EchoService.serve(&session) == nil)
        #expect(
            session.takeMessages() == [
                #"{"error":"org.example.echo.Refused","parameters":{"reason":"not stored"}}"#, Self.reply("b"),
            ]
        )
    }

    @Test("a call that is put back is returned again, and those after it")
    func putsBack() throws {
        var session = EchoService.session()
        session.receive(wire(Self.echo("a"), Self.echo("b")))
        for _ in 0..<3 {
            guard case .call = session.next() else { throw NoCall() }
            session.putBack()
        }
        #expect(EchoService.serve(&session) == nil)
        #expect(session.takeMessages() == [Self.reply("a"), Self.reply("b")])
    }

    @Test("to put a call back after its reply, or after bytes were received, is a programming error")
    func ownFaults() async {
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
            _ = EchoService.serve(&session)
            session.putBack()
        }
        await #expect(processExitsWith: .failure) {
            var session = EchoService.session()
            session.receive(wire(#"{"method":"org.example.echo.Echo"}"#))
            _ = session.next()
            session.receive([0x20])
            session.putBack()
        }
    }

    private struct NoCall: Error {}
}
