import System
import Varlink

/// Serves the kettle to one client on a blocking socket, until the client disconnects.
struct KettleService {
    private static let description = ServiceDescription(
        vendor: "Example",
        product: "kettle",
        version: "1",
        url: "",
        interfaces: [Kettle.description]
    )
    private var pot = Kettle.Pot(state: .off, degrees: 20)

    mutating func serve(_ socket: borrowing StreamSocket) throws {
        var session = ServerSession(service: Self.description, messageLimit: 65_536)
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while case let count = try socket.receive(into: &bytes), count > 0 {
            session.receive(Array(bytes[..<count]))
            while let step = session.next() {
                if case .call(let call) = step { answer(call, in: &session) }
                if case .violation = step { return }
            }
            while session.unsent > 0 { try session.withUnsent { try socket.send($0) } }
        }
    }

    private mutating func answer(_ call: Call, in session: inout ServerSession) {
        do throws(InvalidParameter) {
            switch call.name {
            case Kettle.Heat.name:
                let heat = try session.parameters(as: Kettle.Heat.self)
                guard heat.degrees <= 100 else { return session.fail(Kettle.Failure.tooHot(most: 100)) }
                pot = Kettle.Pot(state: .heating, degrees: heat.degrees, note: heat.note)
            default:
                _ = try session.parameters(as: Kettle.SwitchOff.self)
                pot.state = .off
            }
            session.reply(Kettle.Heat.Reply(pot: pot))
        } catch {
            session.fail(error)
        }
    }
}

/// Calls the kettle, and waits for each reply.
struct KettleClient: ~Copyable {
    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: 65_536)

    init(connectingTo path: String) throws { socket = try StreamSocket(connectingTo: path, blocking: true) }

    mutating func call<M: Method>(_ method: M) throws -> M.Reply {
        session.call(M.fullName, method)
        while session.unsent > 0 { try session.withUnsent { try socket.send($0) } }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        while true {
            if let reply = try session.next() {
                if let error = try Kettle.Failure(reply) { throw error }
                if let error = ServiceError(reply) { throw error }
                return try reply.parameters()
            }
            let count = try socket.receive(into: &bytes)
            guard count > 0 else { throw SystemFailure("recv", code: 104) }
            session.receive(Array(bytes[..<count]))
        }
    }
}
