import JSONTree
import TestSupport
import Testing
import Varlink

/// The client's side of a certification, on a connection to a service.
struct CertificationClient: ~Copyable {
    /// Why the service is not certified.
    enum Failure: Error {
        case error(String, in: String, JSONValue)
        case unexpected(JSONValue, in: String)
        case notListed
    }

    private let connection: RawConnection
    private var session = ClientSession(messageLimit: 1 << 20)

    init(on connection: RawConnection) { self.connection = connection }

    /// Calls each method with the reply to the call before, and checks all replies.
    mutating func run() throws {
        try findInterface()
        var client: JSONValue?
        var last: [String: JSONValue] = [:]
        for step in Course.steps {
            var parameters = last.filter { step.parameters.keys.contains($0.key) }
            parameters["client_id"] = client
            let replies = try call(step, parameters)
            client = client ?? replies[0]["client_id"]
            last = step.more ? ["last_more_replies": .array(replies.compactMap { $0["string"] })] : replies.first ?? [:]
        }
    }

    private mutating func findInterface() throws {
        session.call("org.varlink.service.GetInfo")
        let reply = try nextReply(in: "GetInfo")
        guard try reply.parameter("interfaces", as: [String].self)?.contains(CertificationInterface.name) == true else {
            throw Failure.notListed
        }
    }

    private mutating func call(
        _ step: Course.Step,
        _ parameters: [String: JSONValue]
    ) throws -> [[String: JSONValue]] {
        session.call("\(CertificationInterface.name).\(step.method)", more: step.more, oneway: step.oneway) { writer in
            for (name, value) in parameters { writer.member(named: name, value) }
        }
        var replies: [[String: JSONValue]] = []
        for (number, expected) in step.replies.enumerated() {
            let reply = try nextReply(in: step.method)
            let isLast = number + 1 == step.replies.count
            let parameters = try reply.parameters(as: JSONValue.self)
            guard case .object(let members) = parameters, reply.continues != isLast,
                expected.allSatisfy({ name, value in members[name].map(value.accepts) ?? false })
            else { throw Failure.unexpected(parameters, in: step.method) }
            replies.append(members)
        }
        return replies
    }

    private mutating func nextReply(in method: String) throws -> Reply {
        try connection.send(session.takeUnsent())
        session.receive(wire(try connection.message()))
        let reply = try #require(try session.next())
        guard let error = reply.error else { return reply }
        throw Failure.error(error, in: method, try reply.parameters())
    }
}
