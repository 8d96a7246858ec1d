import CountdownCore
import Testing
import Varlink

@testable import countdownd

@Suite("The calls of a connection that wait for the engine")
struct SharedCallsTests {
    private static let ping = #"{"method":"io.systemd.service.Ping"}"# + "\0"
    private static let silentPing = #"{"method":"io.systemd.service.Ping","oneway":true}"# + "\0"

    private struct NoCall: Error {}

    private func session(with calls: String...) -> ServerSession {
        var session = ServerSession(service: Translation.service, messageLimit: 1_000)
        session.receive(Array(calls.joined().utf8))
        return session
    }

    /// Shares the next calls under their numbers.
    private func share(_ numbers: Int..., calls: inout SharedCalls, in session: inout ServerSession) throws {
        for number in numbers {
            guard case .call(let call) = session.next() else { throw NoCall() }
            let request = Request.cancel(try Key("tea"))
            calls.add(.init(number: number, call: call, request: request, isStartAll: false), in: &session)
        }
    }

    private func answer(_ number: Int, calls: inout SharedCalls, in session: inout ServerSession) {
        calls.answer(number, in: &session) { call, session in session.reply { $0.member("number", call.number) } }
    }

    private func reply(_ number: Int) -> String { #"{"parameters":{"number":\#(number)}}"# + "\0" }

    private func takeUnsent(of session: inout ServerSession) -> String {
        var taken: [UInt8] = []
        session.withUnsent { bytes in
            for index in bytes.indices { taken.append(bytes[index]) }
            return bytes.count
        }
        return String(decoding: taken, as: UTF8.self)
    }

    @Test("are answered in their order, whatever the order of the results")
    func keepsOrder() throws {
        var session = self.session(with: Self.ping, Self.ping, Self.ping)
        var calls = SharedCalls()
        try share(1, 2, 3, calls: &calls, in: &session)
        #expect(calls.waiting.map(\.number) == [1, 2, 3])
        answer(3, calls: &calls, in: &session)
        answer(2, calls: &calls, in: &session)
        #expect(session.unsent == 0)
        #expect(calls.waiting.map(\.number) == [1])
        answer(1, calls: &calls, in: &session)
        #expect(calls.isEmpty)
        #expect(takeUnsent(of: &session) == reply(1) + reply(2) + reply(3))
    }

    @Test("hold the replies to later calls that are answered at once")
    func holdsOthers() throws {
        let unknown = #"{"method":"org.example.none.Such"}"# + "\0"
        var session = self.session(with: Self.ping, unknown, Self.ping)
        var calls = SharedCalls()
        try share(1, calls: &calls, in: &session)
        guard case .answered = session.next() else { throw NoCall() }
        calls.hold(behind: 0, in: &session)
        try share(2, calls: &calls, in: &session)
        #expect(session.unsent == 0)
        answer(1, calls: &calls, in: &session)
        let sent = takeUnsent(of: &session)
        #expect(sent.hasPrefix(reply(1)) && sent.contains("InterfaceNotFound") && !calls.isEmpty)
        answer(2, calls: &calls, in: &session)
        #expect(takeUnsent(of: &session) == reply(2))
    }

    @Test("get no reply with oneway, and hold the others until they are carried out")
    func oneway() throws {
        var session = self.session(with: Self.silentPing, Self.ping, Self.silentPing)
        var calls = SharedCalls()
        try share(1, 2, 3, calls: &calls, in: &session)
        answer(3, calls: &calls, in: &session)
        answer(2, calls: &calls, in: &session)
        #expect(session.unsent == 0)
        answer(1, calls: &calls, in: &session)
        #expect(calls.isEmpty)
        #expect(takeUnsent(of: &session) == reply(2))
    }

    @Test("stay if a later call is put back, which is answered once they are")
    func putsBack() throws {
        var session = self.session(with: Self.ping, Self.ping)
        var calls = SharedCalls()
        try share(1, calls: &calls, in: &session)
        guard case .call = session.next() else { throw NoCall() }
        session.putBack()
        answer(1, calls: &calls, in: &session)
        guard case .call = session.next() else { throw NoCall() }
        session.reply { $0.member("number", 2) }
        #expect(takeUnsent(of: &session) == reply(1) + reply(2))
    }
}
