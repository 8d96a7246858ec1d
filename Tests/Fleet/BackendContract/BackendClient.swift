public import FleetWire
import System
public import Varlink

/// A client of `io.countdownd.Backend` that blocks, for tests. Every wait has a deadline.
public final class BackendClient {
    /// A wait takes this long only if the backend has a fault; in microseconds.
    private static let patience: Int64 = 60_000_000

    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: BackendInterface.messageLimit)
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    /// Connects to a backend's socket.
    public init(_ path: String) throws { socket = try StreamSocket(connectingTo: path, blocking: true) }

    /// Connects to a backend's socket, and follows from a snapshot until it is live.
    public convenience init(following path: String) throws {
        try self.init(path)
        try follow()
        _ = try updates(until: .live)
    }

    /// Sends a call, without waiting for its reply.
    public func send<M: Method>(_ call: M, more: Bool = false) throws {
        session.call(M.fullName, more: more, call)
        while session.unsent > 0 {
            try session.withUnsent { bytes throws(SystemFailure) in try socket.send(bytes) }
        }
    }

    /// The next reply.
    public func reply() throws -> Reply {
        while true {
            if let reply = try session.next() { return reply }
            guard try socket.isReadable(until: .after(microseconds: Self.patience)) else {
                throw ContractFailure("no reply within a minute")
            }
            let count = try socket.receive(into: &buffer)
            guard count > 0 else { throw ContractFailure("the backend has closed the connection") }
            session.receive(buffer.span.extracting(0..<count))
        }
    }

    /// Sends proposals in one call, without waiting for the answers.
    public func sendProposals(_ proposals: [Propose.Proposal], shard: Int64 = 0) throws {
        try send(Propose(shard: shard, proposals: proposals))
    }

    /// The answers to the next call with proposals.
    public func answers() throws -> [Propose.Answer] {
        let reply = try reply()
        if let error = reply.error { throw ContractFailure("Propose is answered with \(error)") }
        return try reply.parameters(as: Propose.Reply.self).answers
    }

    /// Makes proposals in one call.
    public func propose(_ proposals: [Propose.Proposal]) throws -> [Propose.Answer] {
        try sendProposals(proposals)
        return try answers()
    }

    /// Makes one proposal.
    public func propose(_ proposal: Propose.Proposal) throws -> Propose.Answer {
        let answers = try propose([proposal])
        guard answers.count == 1 else { throw ContractFailure("\(answers.count) answers to 1 proposal") }
        return answers[0]
    }

    /// Begins to follow the only shard.
    public func follow(after: Int64? = nil, id: String? = nil, host: String? = nil) throws {
        try send(Follow(after: after.map { Follow.Position(version: $0, id: id) }, host: host), more: true)
    }

    /// The next reply of the follower.
    public func update() throws -> Follow.Reply {
        let reply = try reply()
        if let error = reply.error { throw ContractFailure("Follow is answered with \(error)") }
        guard reply.continues else { throw ContractFailure("Follow has ended") }
        return try reply.parameters()
    }

    /// The replies of the follower up to one in this state.
    public func updates(until state: Follow.State) throws -> [Follow.Reply] {
        var updates: [Follow.Reply] = []
        repeat { updates.append(try update()) } while updates.last?.state != state
        return updates
    }
}

/// An expectation of the contract that does not hold.
public struct ContractFailure: Error, CustomStringConvertible {
    /// The value that was found, and the expected one.
    public let description: String

    /// A failure with a sentence.
    public init(_ sentence: String) { description = sentence }
}

extension Propose.Proposal {
    /// A change at any time, or with `record` nil a confirmation.
    public init(
        _ key: String,
        _ id: String,
        after expected: String? = nil,
        window: ClosedRange<Int64> = 0...(1 << 53),
        due: Int64? = nil,
        record: String? = "{\"kind\":\"started\"}"
    ) {
        self.init(
            key: key,
            expected: expected ?? "",
            notBeforeUSec: window.lowerBound,
            notAfterUSec: window.upperBound,
            dueUSec: due,
            id: id,
            record: record.map { RecordText($0) }
        )
    }
}

extension Propose.Answer {
    /// The version of the record; nil if the answer has none.
    public var version: Int64? {
        switch self {
        case .won(let version), .unacknowledged(let version): version
        case .conflict(let version, _, _): version
        case .noRecord, .early, .late, .unknown, .unreachable: nil
        }
    }

    /// Why it is unknown or unreachable.
    public var reason: String? {
        switch self {
        case .unknown(let reason), .unreachable(let reason): reason
        case .won, .unacknowledged, .conflict, .noRecord, .early, .late: nil
        }
    }

    /// The ID and the record of a conflict.
    public var held: (id: String, record: RecordText)? {
        guard case .conflict(_, let id, let record) = self else { return nil }
        return (id, record)
    }
}

extension RecordText {
    /// A text.
    public init(_ text: String) { self.init(utf8: Array(text.utf8)) }

    /// The record as text.
    public var text: String { String(decoding: utf8, as: UTF8.self) }
}

extension EngineOffset {
    /// The engine's time now.
    public var now: Int64 { BootClock.now + engineLessBootUSec }
}
