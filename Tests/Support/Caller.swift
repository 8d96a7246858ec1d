import IPC
package import Varlink
import VarlinkDefinition

/// A client that makes calls of `io.countdownd`, and checks every answer against the definition.
public final class Caller {
    /// The connection of the calls.
    public let connection: RawConnection
    private var session = ClientSession(messageLimit: 16 << 20)

    /// A client on a connection.
    public init(on connection: RawConnection) {
        self.connection = connection
    }

    /// A client on a new connection to a daemon.
    public convenience init(of daemon: some Reachable) throws {
        self.init(on: try daemon.connect())
    }

    /// The reply to a call, and whether more follow.
    public struct Answer<Value> {
        /// The decoded reply.
        public let value: Value
        /// Whether more replies follow.
        public let continues: Bool
    }

    /// Sends a call without waiting.
    package func send(_ method: some Method, more: Bool = false, oneway: Bool = false) throws {
        session.call(type(of: method).fullName, more: more, oneway: oneway, method)
        try sendCalls()
    }

    /// Sends calls in one write, so that a daemon receives all of them in one turn, without waiting.
    package func send(together first: some Method, _ second: some Method) throws {
        session.call(type(of: first).fullName, first)
        session.call(type(of: second).fullName, second)
        try sendCalls()
    }

    private func sendCalls() throws {
        var bytes: [UInt8] = []
        session.withUnsent { unsent in
            for index in unsent.indices { bytes.append(unsent[index]) }
            return unsent.count
        }
        try connection.send(bytes)
    }

    /// The next reply, to a call of that method. An error is thrown as `CountdownError`, or as `ServiceError`.
    package func answer<M: Method>(
        to method: M.Type,
        until deadline: Deadline = Deadline()
    ) throws -> Answer<M.Reply> {
        let text = try connection.message(until: deadline)
        session.receive(Array(text.utf8) + [0])
        guard let reply = try session.next() else { throw Misfit(message: text, faults: ["no reply"]) }
        if let name = reply.error { throw try error(name, reply, text) }
        try require(text, try Contract.definition.get().check(reply: reply.parameters, of: M.name))
        return Answer(value: try reply.parameters(), continues: reply.continues)
    }

    /// The error in a reply; throws if the definition does not allow it.
    private func error(_ name: String, _ reply: Reply, _ message: String) throws -> any Error {
        if let known = ServiceError(reply) { return known }
        try require(message, try Contract.definition.get().check(error: reply.parameters, named: name))
        guard let name = CountdownError.WireName(rawValue: name) else {
            return Misfit(message: message, faults: ["\(name): unknown"])
        }
        return try reply.readParameters { try CountdownError(name, from: &$0) }
    }

    private func require(_ message: String, _ faults: [String]) throws {
        guard faults.isEmpty else { throw Misfit(message: message, faults: faults) }
    }

    /// Makes a call that has one reply.
    package func call<M: Method>(_ method: M, until deadline: Deadline = Deadline()) throws -> M.Reply {
        try send(method)
        return try answer(to: M.self, until: deadline).value
    }

    /// Makes a call that may have any number of replies, and collects them.
    package func call<M: Method>(all method: M, until deadline: Deadline = Deadline()) throws -> [M.Reply] {
        try send(method, more: true)
        var replies: [M.Reply] = []
        while true {
            let answer = try answer(to: M.self, until: deadline)
            replies.append(answer.value)
            if !answer.continues { return replies }
        }
    }

    /// A message that contradicts the definition.
    public struct Misfit: Error, CustomStringConvertible {
        let message: String
        let faults: [String]

        /// The contradictions and the message.
        public var description: String { "\(faults.joined(separator: "; ")): \(message)" }
    }
}

/// The definition that every message of the daemon is checked against.
private enum Contract {
    static let definition = Result { try Definition(parsing: Interface.definition) }
}
