import Foundation
import JSONTree
import TestSupport
import Varlink

/// The service's side of certifications.
struct CertificationService {
    /// The next step of each client, by its client_id.
    private var progress: [String: Int] = [:]

    /// Serves clients on a thread, one connection at a time, until the socket is shut down.
    static func serve(on listener: ListeningSocket) {
        nonisolated(unsafe) let listener = listener
        Thread.detachNewThread {
            var service = CertificationService()
            while let connection = try? unsafe listener.accept() { try? service.serve(connection) }
        }
    }

    private mutating func serve(_ connection: RawConnection) throws {
        var session = ServerSession(service: CertificationInterface.service, messageLimit: 1 << 20)
        while let message = try connection.nextMessage() {
            session.receive(wire(message))
            while let step = session.next() {
                switch step {
                case .call(let call): answer(call, in: &session)
                case .answered: break
                case .violation: return
                }
            }
            try connection.send(session.takeUnsent())
        }
    }

    /// Answers a call that is in progress in the session.
    private mutating func answer(_ call: Call, in session: inout ServerSession) {
        do {
            let parameters = try session.parameters(as: JSONValue.self)
            try call.name == "Start"
                ? start(call, parameters, in: &session) : advance(call, parameters, in: &session)
        } catch let error as Refusal {
            session.fail(error)
        } catch let error as InvalidParameter {
            session.fail(error)
        } catch {
            session.fail(Refusal.unknownClient)
        }
    }

    private mutating func start(_ call: Call, _ parameters: JSONValue, in session: inout ServerSession) throws {
        if case .object(let members) = parameters, let name = members.keys.first { throw InvalidParameter(name) }
        let client = (0..<16).map { _ in String(UInt8.random(in: 16...255), radix: 16) }.joined()
        try check(call, parameters, against: Course.steps[0], of: client)
        progress[client] = 1
        session.reply { $0.member("client_id", client) }
    }

    private mutating func advance(_ call: Call, _ parameters: JSONValue, in session: inout ServerSession) throws {
        guard let client = parameters["client_id"]?.string else { throw InvalidParameter("client_id") }
        guard let place = progress.removeValue(forKey: client) else { throw Refusal.unknownClient }
        let step = Course.steps[place]
        try check(call, parameters, against: step, of: client)
        if place + 1 < Course.steps.count { progress[client] = place + 1 }
        guard !step.oneway else { return session.reply() }
        for (number, reply) in step.replies.enumerated() {
            session.reply(continues: number + 1 < step.replies.count) { writer in
                for (name, value) in reply { writer.member(named: name, value) }
            }
        }
    }

    private func check(
        _ call: Call,
        _ parameters: JSONValue,
        against step: Course.Step,
        of client: String
    ) throws {
        guard case .object(var members) = parameters else { return }
        members["client_id"] = nil
        guard call.name == step.method, call.more == step.more, call.oneway == step.oneway,
            JSONValue.accepts(step.parameters, members)
        else { throw Refusal.wrongCall(wants: step.tree(for: client), got: call.tree(parameters)) }
    }
}

/// The errors of the interface.
private enum Refusal: ReplyError {
    case unknownClient
    case wrongCall(wants: JSONValue, got: JSONValue)

    var errorName: String {
        switch self {
        case .unknownClient: "org.varlink.certification.ClientIdError"
        case .wrongCall: "org.varlink.certification.CertificationError"
        }
    }

    func encodeParameters(into writer: inout JSONWriter) {
        guard case .wrongCall(let wants, let got) = self else { return }
        writer.member("wants", wants)
        writer.member("got", got)
    }
}

extension Call {
    fileprivate func tree(_ parameters: JSONValue) -> JSONValue {
        .call(method, parameters, more: more, oneway: oneway)
    }
}

extension Course.Step {
    fileprivate func tree(for client: String) -> JSONValue {
        let known = method == "Start" ? parameters : parameters.merging(["client_id": .string(client)]) { $1 }
        return .call("\(CertificationInterface.name).\(method)", .object(known), more: more, oneway: oneway)
    }
}

extension JSONValue {
    fileprivate static func call(_ method: String, _ parameters: JSONValue, more: Bool, oneway: Bool) -> JSONValue {
        var members: [String: JSONValue] = ["method": .string(method), "parameters": parameters]
        if more { members["more"] = .boolean(true) }
        if oneway { members["oneway"] = .boolean(true) }
        return .object(members)
    }
}
