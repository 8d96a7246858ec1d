/// One connection as a service sees it, without its socket: the client's bytes go in, calls come out; replies go in,
/// bytes for the client come out.
///
/// A call is in progress from ``next()`` until its last reply, and no other call is returned meanwhile, unless it is suspended.
/// So replies keep the order of the calls, and a call with `more` occupies its connection. The session itself
/// answers calls that are not for a method of the service: `org.varlink.service`, unknown interfaces and methods, and
/// `upgrade`. It answers one call per ``next()``, so that the caller can stop after any number of calls, or of bytes.
public struct ServerSession: ~Copyable {
    /// What the service has to do next.
    public enum Step: Sendable {
        /// Carry out a call of one of the methods that the description lists, and answer it.
        case call(Call)
        /// Nothing: the session has answered a call itself.
        case answered
        /// Close the connection once the earlier replies are sent. No step follows.
        case violation(ProtocolViolation)
    }

    /// The place of the parameters of the last call in the received bytes.
    @usableFromInline
    struct Parameters: Sendable {
        /// The message, with its NUL.
        @usableFromInline
        var message = 0..<0
        /// The object within the message; nil if the call has no parameters.
        @usableFromInline
        var object: Range<Int>?
        /// Whether the bytes are still there.
        @usableFromInline
        var areReadable = false
    }

    /// A message that was read.
    private enum Message {
        case call(Call, parameters: Range<Int>?)
        /// A call that the session answers itself, unless it has `oneway`.
        case answer(ServiceAnswer, oneway: Bool)
    }

    /// The service that is served.
    public let service: ServiceDescription
    /// The call that waits for its reply.
    public private(set) var callInProgress: Call?
    /// The bytes of elements in the array reply under construction; 0 without an array reply.
    public private(set) var openArrayBytes = 0
    @usableFromInline
    private(set) var framer: Framer
    @usableFromInline
    private(set) var parameters = Parameters()
    @usableFromInline
    private(set) var output = OutputBuffer()
    /// The message that answers every call; nil if the client may call methods.
    private let refusal: [UInt8]?
    private var isViolated = false

    /// A session of a connection that was just accepted.
    ///
    /// - Parameters:
    ///   - service: the service to serve.
    ///   - messageLimit: in bytes; longer messages violate the protocol.
    ///   - refusal: if given, the reply to every call, including the calls of `org.varlink.service`.
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
    ///
    /// Inlined, like ``unsent``, because the compiler copies a session for a call that only borrows it.
    @inlinable
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
            switch try read(range) {
            case .call(let call, let object):
                let message = range.lowerBound..<range.upperBound + 1
                parameters = Parameters(message: message, object: object, areReadable: true)
                callInProgress = call
                return .call(call)
            case .answer(let answer, let oneway):
                if !oneway { write(answer) }
                return .answered
            }
        } catch {
            isViolated = true
            return .violation(error)
        }
    }

    /// Puts the call in progress back, which must be the last one that ``next()`` has returned, so that it is returned again.
    /// No bytes may have been received or sent since.
    public mutating func putBack() {
        precondition(callInProgress != nil && parameters.areReadable, "only the call returned last is put back")
        callInProgress = nil
        parameters.areReadable = false
        framer.putBack(from: parameters.message.lowerBound)
    }

    private func read(_ range: Range<Int>) throws(ProtocolViolation) -> Message {
        let message = framer.bytes.span.extracting(range.lowerBound...range.upperBound)
        return try JSONReader.read(message) { reader throws(ProtocolViolation) in
            do throws(ProtocolViolation) {
                return read(try CallHeader(from: &reader), &reader)
            } catch {
                guard error.isExcess, let found = try reader.headerBesideInvalidParameter() else { throw error }
                return read(found.header, &reader, found.invalid)
            }
        }
    }

    @inline(__always)
    private func read(
        _ header: CallHeader,
        _ reader: inout JSONReader,
        _ invalid: InvalidParameter? = nil
    ) -> Message {
        guard refusal == nil else { return .answer(.refusal, oneway: header.oneway) }
        guard let target = reader.withUTF8(of: header.method, { service.methods.find($0) }) else {
            let error = service.methods.error(for: reader.text(header.method))
            return .answer(.error(error), oneway: header.oneway)
        }
        let call = Call(target: target, oneway: header.oneway, more: header.more, upgrade: header.upgrade)
        if let invalid, !call.upgrade { return .answer(.error(invalid), oneway: call.oneway) }
        guard call.upgrade || target.isIntrospection else { return .call(call, parameters: header.parameters) }
        return .answer(answer(call, header, &reader), oneway: header.oneway)
    }

    /// The answer to a call with `upgrade`, or to one of `org.varlink.service`.
    private func answer(_ call: Call, _ header: CallHeader, _ reader: inout JSONReader) -> ServiceAnswer {
        guard !call.upgrade else { return .error(ServiceError.methodNotImplemented(call.method)) }
        return reader.readObject(at: header.parameters) { service.answer(call.name, &$0) }
    }

    private mutating func write(_ answer: ServiceAnswer) {
        switch answer {
        case .reply(let parameters): output.message(parameters: parameters.encode(into:), continues: false)
        case .error(let error): output.message(error)
        case .refusal: if let refusal { output.append(refusal) }
        }
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
    @inlinable @inline(__always)
    public func readParameters<Result: ~Copyable, Failure>(
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(parameters.areReadable, "parameters are read before bytes are received or sent")
        return try JSONReader.read(framer.bytes.span.extracting(parameters.message)) { reader throws(Failure) in
            try reader.readObject(at: parameters.object, body)
        }
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
    public mutating func reply(continues: Bool = false) { reply(continues: continues) { _ in } }

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

// MARK: - Output

extension ServerSession {
    /// The end of the last reply in the output. It grows with each reply, until bytes are sent.
    @inlinable
    public var outputLength: Int { output.length }

    /// Takes the replies behind a length out of the output, so that they can be written later, or again.
    public mutating func takeOutput(behind length: Int) -> [UInt8] { output.take(behind: length) }

    /// Appends replies that were taken.
    public mutating func append(_ replies: ArraySlice<UInt8>) { output.append(Array(replies)) }

    /// Lets the next call be returned, although the call in progress has no reply yet. It can be resumed.
    public mutating func suspend() { callInProgress = nil }

    /// Lets a call be in progress again, so that it can be answered: one that was suspended, or whose reply was taken.
    public mutating func resume(_ call: Call) { callInProgress = call }

    /// The number of bytes that were not sent to the client yet.
    @inlinable
    public var unsent: Int { output.unsent }

    /// Lends the unsent bytes to the body, which sends some of them and returns how many. `keepingCapacity` says whether to
    /// keep all memory, since more is about to be written.
    public mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try output.withUnsent(keepingCapacity: keepingCapacity, body)
        parameters.areReadable = false
        framer.discardReturned()
    }

    /// Drops the unsent bytes of a connection that is given up; part of a message may have been sent.
    public mutating func dropUnsent() {
        output = OutputBuffer()
        openArrayBytes = 0
    }
}
