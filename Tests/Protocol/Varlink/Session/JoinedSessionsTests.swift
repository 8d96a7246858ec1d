import TestSupport
import Testing
import Varlink

@Suite("A client and a service joined in memory")
struct JoinedSessionsTests {
    /// A call and what has to come back of it.
    private enum Request {
        case echo(String)
        case silentEcho
        case count(Int64)
        case refused

        static func random(using random: inout SeededGenerator) -> Request {
            switch Int.random(in: 0..<4, using: &random) {
            case 0: .echo(String(repeating: "é\"x", count: .random(in: 0...40, using: &random)))
            case 1: .silentEcho
            case 2: .count(.random(in: 1...9, using: &random))
            default: .refused
            }
        }

        func send(in client: inout ClientSession) {
            switch self {
            case .echo(let text): client.call("org.example.echo.Echo") { $0.member("text", text) }
            case .silentEcho: client.call("org.example.echo.Echo", oneway: true) { $0.member("text", "unheard") }
            case .count(let last): client.call("org.example.echo.Count", more: true) { $0.member("to", last) }
            case .refused: client.call("org.example.echo.Echo") { $0.member("text", "refuse") }
            }
        }

        var expected: [String] {
            switch self {
            case .echo(let text): [text]
            case .silentEcho: []
            case .count(let last): (1...last).map(String.init)
            case .refused: ["org.example.echo.Refused"]
            }
        }
    }

    @Test("each call gets its replies, however they are split and pipelined", arguments: 0..<40 as Range<UInt64>)
    func answersEachCall(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var client = ClientSession(messageLimit: 4096)
        var server = EchoService.session()
        var requests = (0..<60).map { _ in Request.random(using: &random) }
        let expected = requests.flatMap(\.expected)
        var heard: [String] = []
        while !requests.isEmpty || client.unanswered > 0 || client.unsent > 0 {
            if !requests.isEmpty, Bool.random(using: &random) { requests.removeFirst().send(in: &client) }
            server.receive(client.takeUnsent(upTo: .random(in: 0...120, using: &random)))
            if Bool.random(using: &random) { #expect(EchoService.serve(&server) == nil) }
            client.receive(server.takeUnsent(upTo: .random(in: 0...120, using: &random)))
            while let reply = try client.next() { heard.append(try text(of: reply)) }
        }
        #expect(heard == expected)
    }

    private func text(of reply: Reply) throws -> String {
        if let error = reply.error { return error }
        if let number = try reply.parameter("number", as: Int64.self) { return String(number) }
        return try #require(try reply.parameter("text", as: String.self))
    }
}
