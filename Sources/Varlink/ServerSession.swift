/// One connection as a service sees it, without its socket: the client's bytes go in, calls come out; replies go in,
/// bytes for the client come out.
///
/// A call is in progress from ``next()`` until its last reply, and no other call is returned meanwhile. So replies keep the
/// order of the calls, and a call with `more`, or one that is answered later, occupies its connection. The session itself
/// answers calls that are not for a method of the service: `org.varlink.service`, unknown interfaces and methods, and
/// `upgrade`. It answers one call per ``next()``, so that the caller can stop after any number of calls, or of bytes.
public struct ServerSession: ~Copyable, Sendable {
    /// What the service has to do next.
    public enum Step: Sendable {
        /// Carry out a call of one of the methods that the description lists, and answer it.
        case call(Call)
        /// Nothing: the session has answered a call itself.
        case answered
        /// Close the connection once the earlier replies are sent. No step follows.
        case violation(ProtocolViolation)
    }

    /// What a session keeps of a call until its last reply.
    public struct CallInProgress: Sendable {
        let target: ServiceMethod
        /// Whether the client wants no reply.
        public let oneway: Bool
        /// Whether the client accepts more than one reply.
        public let more: Bool

        /// The full name of the method.
        public var method: String { target.fullName }
    }

    /// The place of the parameters of the last call in the received bytes.
    @usableFromInline
    struct Parameters: Sendable {
        /// Empty if the call has no parameters.
        @usableFromInline
        var range = 0..<0
        /// The offset of the NUL behind the message.
        @usableFromInline
        var messageEnd = 0
        /// Whether the bytes are still there.
        @usableFromInline
        var areReadable = false
    }

    /// The service that is served.
    public let service: ServiceDescription
    /// The call that waits for its reply.
    public private(set) var callInProgress: CallInProgress?
    /// The bytes of elements in the array reply under construction; 0 if there is none.
    public private(set) var openArrayBytes = 0
    @usableFromInline
    private(set) var framer: Framer
    private var output = OutputBuffer()
    @usableFromInline
    private(set) var parameters = Parameters()
    /// The message that answers every call; nil if the client may call methods.
    private let refusal: [UInt8]?
    private var isViolated = false

    /// A session of a connection that was just accepted.
    ///
    /// - Parameters:
    ///   - service: the service to serve.
    ///   - messageLimit: in bytes; longer messages violate the protocol.
    ///   - refusal: if given, the reply to every call, also to those of `org.varlink.service`.
    public init(service: ServiceDescription, messageLimit: Int, refusal: (any ReplyError)? = nil) {
        self.service = service
        self.refusal = refusal.map { error in
            var output = OutputBuffer()
            output.message(error)
            return output.bytes
        }
        framer = Framer(limit: messageLimit)
    }

    // MARK: Calls

    /// The number of received bytes that were not returned in calls yet.
    public var pendingInput: Int { framer.pending }

    /// The memory for received bytes; it is freed when all of them were returned in calls.
    public var inputCapacity: Int { framer.bytes.capacity }

    /// Takes bytes from the client.
    public mutating func receive(_ bytes: Span<UInt8>) {
        parameters.areReadable = false
        framer.receive(bytes)
    }

    /// Takes bytes from the client.
    public mutating func receive(_ bytes: [UInt8]) { receive(bytes.span) }

    /// The next step; nil if more bytes are needed, while a call is in progress, and after a violation.
    public mutating func next() -> Step? {
        guard !isViolated, callInProgress == nil else { return nil }
        do throws(ProtocolViolation) {
            guard let range = try framer.next() else { return nil }
            return try next(range)
        } catch {
            isViolated = true
            return .violation(error)
        }
    }

    private mutating func next(_ range: Range<Int>) throws(ProtocolViolation) -> Step {
        let (header, target) = try header(of: range)
        guard refusal == nil, let target else {
            refuse(header, in: range)
            return .answered
        }
        note(header.parameters, in: range)
        return begin(Call(target: target, oneway: header.oneway, more: header.more, upgrade: header.upgrade))
    }

    /// The header of a message, and the method that it names, if there is one.
    private func header(of range: Range<Int>) throws(ProtocolViolation) -> (CallHeader, ServiceMethod?) {
        let message = framer.bytes.span.extracting(range.lowerBound...range.upperBound)
        return try JSONReader.read(message) { reader throws(ProtocolViolation) in
            let header = try CallHeader(from: &reader)
            return (header, reader.withUTF8(of: header.method) { service.methods.find($0) })
        }
    }

    private mutating func note(_ range: Range<Int>?, in message: Range<Int>) {
        let start = message.lowerBound
        parameters = Parameters(
            range: range.map { start + $0.lowerBound..<start + $0.upperBound } ?? 0..<0,
            messageEnd: message.upperBound,
            areReadable: true
        )
    }

    private mutating func begin(_ call: Call) -> Step {
        callInProgress = CallInProgress(target: call.target, oneway: call.oneway, more: call.more)
        guard call.upgrade || call.target.isIntrospection else { return .call(call) }
        if call.upgrade {
            fail(ServiceError.methodNotImplemented(call.method))
        } else {
            answerIntrospection(call)
        }
        return .answered
    }

    /// Answers a call that is refused, or whose method does not exist.
    private mutating func refuse(_ header: CallHeader, in range: Range<Int>) {
        guard !header.oneway else { return }
        if let refusal { return output.append(refusal) }
        output.message(service.methods.error(for: text(header.method, in: range)))
    }

    private func text(_ string: JSONReader.StringRange, in range: Range<Int>) -> String {
        JSONReader.read(framer.bytes.span.extracting(range.lowerBound...range.upperBound)) { $0.text(string) }
    }

    // MARK: Parameters

    /// Decodes the parameters of the call that ``next()`` returned last. No bytes may have been received or sent since.
    ///
    /// - Throws: the name of the parameter that is missing, unknown or invalid.
    @inlinable
    public func parameters<Value: JSONDecodable>(
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value {
        try readParameters { reader throws(InvalidParameter) in try Value(from: &reader) }
    }

    /// Reads the parameters of the call that ``next()`` returned last, an object that was entered. No bytes may have been
    /// received or sent since.
    @inlinable
    public func readParameters<Result: ~Copyable, Failure>(
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(parameters.areReadable, "parameters are read before bytes are received or sent")
        guard !parameters.range.isEmpty else { return try JSONReader.readEmptyObject(body) }
        let text = framer.bytes.span.extracting(parameters.range.lowerBound...parameters.messageEnd)
        return try JSONReader.read(text, length: parameters.range.count) { reader throws(Failure) in
            _ = reader.beginObject()
            return try body(&reader)
        }
    }
}

// MARK: - org.varlink.service

extension ServerSession {
    /// Answers a call of `org.varlink.service`, which is in progress.
    private mutating func answerIntrospection(_ call: Call) {
        do {
            switch call.name {
            case "GetInfo": try answerInfo()
            default: try answerDescription()
            }
        } catch {
            fail(error)
        }
    }

    private mutating func answerInfo() throws(InvalidParameter) {
        try readParameters { reader throws(InvalidParameter) in try reader.members { _ in false } }
        reply(service)
    }

    private mutating func answerDescription() throws(InvalidParameter) {
        var interface = JSONMember<String>("interface")
        try readParameters { reader throws(InvalidParameter) in try reader.members { interface.read(&$0) } }
        let name = try interface.required
        guard let interface = service.interfaces.first(where: { $0.name == name }) else {
            return fail(ServiceError.interfaceNotFound(name))
        }
        reply { $0.member("description", interface.definition) }
    }
}

// MARK: - Replies

extension ServerSession {
    /// Answers the call in progress with parameters, whose members the closure writes. With `continues`, which only a call
    /// with `more` allows, the call stays in progress. Nothing is sent if the call has `oneway`.
    public mutating func reply(continues: Bool = false, _ parameters: (inout JSONWriter) -> Void) {
        guard expectsReply(continues: continues) else { return }
        output.message(parameters: parameters, continues: continues)
    }

    /// Answers the call in progress with a value as the parameters.
    @inlinable
    public mutating func reply(_ parameters: some JSONEncodable, continues: Bool = false) {
        reply(continues: continues) { parameters.encode(into: &$0) }
    }

    /// Answers the call in progress without parameters.
    public mutating func reply(continues: Bool = false) {
        guard expectsReply(continues: continues) else { return }
        output.message { writer in
            if continues { writer.member("continues", true) }
        }
    }

    /// Answers the call in progress with an error, which ends it. Nothing is sent if the call has `oneway`.
    public mutating func fail(_ error: some ReplyError) {
        guard expectsReply(continues: false) else { return }
        output.message(error)
    }

    /// Appends elements, with commas between them, to an array that is the only parameter of a reply with `continues`.
    /// The first elements begin the reply; it stays open for more of them until ``endArray()``, or until another reply.
    public mutating func appendElements(_ name: StaticString, _ elements: borrowing JSONWriter) {
        let areFirst = openArrayBytes == 0
        guard !areFirst || expectsReply(continues: true) else { return }
        output.appendElements(name, elements, areFirst: areFirst)
        openArrayBytes += elements.count
    }

    /// Ends the array reply under construction, if there is one.
    public mutating func endArray() {
        guard openArrayBytes > 0 else { return }
        output.endArray()
        openArrayBytes = 0
    }

    /// Whether the call in progress gets a reply; without `continues` this reply ends the call.
    private mutating func expectsReply(continues: Bool) -> Bool {
        endArray()
        guard let call = callInProgress else { preconditionFailure("a reply belongs to a call in progress") }
        precondition(!continues || call.more, "only a call with more has replies that continue")
        if !continues { callInProgress = nil }
        return !call.oneway
    }
}

extension ServerSession {
    /// The number of bytes that were not sent to the client yet.
    public var unsent: Int { output.unsent }

    /// Lends the unsent bytes to the body, which sends some of them and returns how many. `keepingCapacity` says whether to
    /// keep all memory, since more is about to be written.
    public mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try output.withUnsent(keepingCapacity: keepingCapacity, body)
        // Replies that were sent are not rolled back, so the calls are no longer needed.
        parameters.areReadable = false
        framer.discardReturned()
    }

    /// Drops the unsent bytes of a connection that is given up; part of a message may have been sent.
    public mutating func dropUnsent() {
        output = OutputBuffer()
        openArrayBytes = 0
    }
}

// MARK: - Savepoints

extension ServerSession {
    /// A state of a session that ``rollback(to:)`` restores.
    public struct Savepoint: Sendable {
        let callInProgress: CallInProgress?
        let isViolated: Bool
        let position: Framer.Position
        let received: Int
        let length: Int
        let sends: Int
    }

    /// The present state.
    public func savepoint() -> Savepoint {
        Savepoint(
            callInProgress: callInProgress,
            isViolated: isViolated,
            position: framer.position,
            received: framer.received,
            length: output.length,
            sends: output.sends
        )
    }

    /// Restores the state at the savepoint: replies since then are gone, and ``next()`` returns the calls since then again,
    /// in the same order. Nothing may have been received or sent in between.
    public mutating func rollback(to savepoint: Savepoint) {
        precondition(savepoint.received == framer.received, "nothing is received between a savepoint and its rollback")
        precondition(savepoint.sends == output.sends, "nothing is sent between a savepoint and its rollback")
        parameters.areReadable = false
        callInProgress = savepoint.callInProgress
        isViolated = savepoint.isViolated
        framer.restore(savepoint.position)
        output.truncate(to: savepoint.length)
    }
}
