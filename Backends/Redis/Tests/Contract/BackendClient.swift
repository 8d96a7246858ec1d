import System
public import Varlink

/// A client of `io.countdownd.Backend` that blocks, for tests. Every wait has a deadline.
public final class BackendClient {
    /// A wait takes this long only if the backend has a fault; in microseconds.
    private static let patience: Int64 = 60_000_000

    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: 64 << 20)
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)

    /// Connects to a backend's socket.
    public init(_ path: String) throws { socket = try StreamSocket(connectingTo: path, blocking: true) }

    /// Sends a call, without waiting for its reply.
    public func send(_ method: String, more: Bool = false, _ parameters: (inout JSONWriter) -> Void = { _ in }) throws {
        session.call("io.countdownd.Backend.\(method)", more: more, parameters)
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
    public func sendProposals(_ proposals: [ContractProposal], shard: Int64 = 0) throws {
        try send("Propose") { writer in
            writer.member("shard", shard)
            writer.member("proposals", proposals)
        }
    }

    /// The answers to the next call with proposals.
    public func answers() throws -> [ContractAnswer] {
        let reply = try reply()
        if let error = reply.error { throw ContractFailure("Propose is answered with \(error)") }
        guard let answers: [ContractAnswer] = try reply.parameter("answers") else {
            throw ContractFailure("no answers")
        }
        return answers
    }

    /// Makes proposals in one call.
    public func propose(_ proposals: [ContractProposal]) throws -> [ContractAnswer] {
        try sendProposals(proposals)
        return try answers()
    }

    /// Makes one proposal.
    public func propose(_ proposal: ContractProposal) throws -> ContractAnswer {
        let answers = try propose([proposal])
        guard answers.count == 1 else { throw ContractFailure("\(answers.count) answers to 1 proposal") }
        return answers[0]
    }

    /// Begins to follow the only shard.
    public func follow(after: Int64? = nil, id: String? = nil) throws {
        try send("Follow", more: true) { writer in
            writer.member("shard", 0)
            writer.memberIfPresent("after", after)
            writer.memberIfPresent("id", id)
        }
    }

    /// The next reply of the follower.
    public func update() throws -> ContractUpdate {
        let reply = try reply()
        if let error = reply.error { throw ContractFailure("Follow is answered with \(error)") }
        guard reply.continues else { throw ContractFailure("Follow has ended") }
        return try reply.parameters()
    }

    /// The replies of the follower up to one in this state.
    public func updates(until state: String) throws -> [ContractUpdate] {
        var updates: [ContractUpdate] = []
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

/// A proposal of a test.
public struct ContractProposal: JSONEncodable, Sendable {
    /// The key.
    public var key: String
    /// The id of this change.
    public var id: String
    /// The id that the key is expected to have.
    public var expected = ""
    /// The window in engine time.
    public var window: ClosedRange<Int64> = 0...(1 << 53)
    /// When the record may be removed.
    public var due: Int64?
    /// The record; nil to confirm.
    public var record: String?

    /// A change, or with `record` nil a confirmation.
    public init(
        _ key: String,
        _ id: String,
        after expected: String = "",
        window: ClosedRange<Int64> = 0...(1 << 53),
        due: Int64? = nil,
        record: String? = "{\"kind\":\"started\"}"
    ) {
        self.key = key
        self.id = id
        self.expected = expected
        self.window = window
        self.due = due
        self.record = record
    }

    /// Writes the members of the proposal.
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.member("expected", expected)
        writer.member("notBeforeUSec", window.lowerBound)
        writer.member("notAfterUSec", window.upperBound)
        writer.memberIfPresent("dueUSec", due)
        writer.member("id", id)
        writer.memberIfPresent("record", record)
    }
}

/// An answer to a proposal.
public struct ContractAnswer: JSONDecodable, Sendable, Equatable {
    /// The outcome on the wire.
    public var outcome: String
    /// The version of the record.
    public var version: Int64?
    /// The id of the record, with `conflict`.
    public var id: String?
    /// The record, with `conflict`.
    public var record: String?
    /// Why it is unknown or unreachable.
    public var reason: String?

    /// Reads the members; every one that the definition lacks is an error.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var outcome = JSONMember<String>("outcome")
        var version = JSONMember<Int64>("version")
        var id = JSONMember<String>("id")
        var record = JSONMember<String>("record")
        var reason = JSONMember<String>("reason")
        try reader.members {
            outcome.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) || reason.read(&$0)
        }
        self.outcome = try outcome.required
        self.version = try version.optional
        self.id = try id.optional
        self.record = try record.optional
        self.reason = try reason.optional
    }
}

/// A record in a reply of `Follow`.
public struct ContractEntry: JSONDecodable, Sendable, Equatable {
    /// The key.
    public var key: String
    /// The version of the record.
    public var version: Int64
    /// The id of the change that made it.
    public var id: String
    /// The record.
    public var record: String?

    /// Reads the members.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var key = JSONMember<String>("key")
        var version = JSONMember<Int64>("version")
        var id = JSONMember<String>("id")
        var record = JSONMember<String>("record")
        try reader.members { key.read(&$0) || version.read(&$0) || id.read(&$0) || record.read(&$0) }
        self.key = try key.required
        self.version = try version.required
        self.id = try id.required
        self.record = try record.optional
    }
}

/// The engine's clock in a reply.
public struct ContractClock: JSONDecodable, Sendable, Equatable {
    /// How far the engine's clock is ahead of the boot clock, in microseconds.
    public var offset: Int64
    /// The greatest error of the offset.
    public var error: Int64

    /// The engine's time now.
    public var now: Int64 { BootClock.now + offset }

    /// Reads the members.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var offset = JSONMember<Int64>("engineLessBootUSec")
        var error = JSONMember<Int64>("errorUSec")
        try reader.members { offset.read(&$0) || error.read(&$0) }
        self.offset = try offset.required
        self.error = try error.required
    }
}

/// A reply of `Follow`.
public struct ContractUpdate: JSONDecodable, Sendable, Equatable {
    /// The state on the wire.
    public var state: String
    /// Records or changes.
    public var entries: [ContractEntry]
    /// The version of the last change.
    public var version: Int64?
    /// The id of the last change.
    public var id: String?
    /// The engine's clock.
    public var clock: ContractClock?
    /// Why the engine is lost, or the log does not continue.
    public var reason: String?

    /// Reads the members.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var state = JSONMember<String>("state")
        var entries = JSONMember<[ContractEntry]>("entries")
        var version = JSONMember<Int64>("version")
        var id = JSONMember<String>("id")
        var clock = JSONMember<ContractClock>("clock")
        var reason = JSONMember<String>("reason")
        try reader.members {
            state.read(&$0) || entries.read(&$0) || version.read(&$0) || id.read(&$0) || clock.read(&$0)
                || reason.read(&$0)
        }
        self.state = try state.required
        self.entries = try entries.required
        self.version = try version.optional
        self.id = try id.optional
        self.clock = try clock.optional
        self.reason = try reason.optional
    }
}
