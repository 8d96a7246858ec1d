import Glibc

/// One connection as a service sees it, without its socket: bytes of the client go in, calls come out; replies go in,
/// bytes for the client come out.
///
/// A call is in progress from ``next()`` until its last reply, and no other call is told meanwhile: so replies keep the
/// order of the calls, and a call with `more`, or one that is answered later, holds its connection. The session answers
/// by itself what concerns no method of the service: `org.varlink.service`, unknown interfaces and methods, `upgrade`.
/// It does so one call a ``next()``, so that whoever asks can stop at any number of calls, and of bytes to send.
public struct ServerSession: Sendable {
    /// What the service is to do next.
    public enum Step: Sendable {
        /// Carry out a call of one of the methods that the description lists, and answer it.
        case call(Call)
        /// Nothing: the session has answered a call by itself.
        case answered
        /// Close the connection, once what was answered before is sent. Nothing comes after this.
        case violation(ProtocolViolation)
    }

    /// The service that is served.
    public let service: ServiceDescription
    /// The call that waits for its reply.
    public internal(set) var callInProgress: CallInProgress?
    /// The bytes of elements in the array reply under construction; 0 if there is none.
    public internal(set) var openArrayBytes = 0
    var framer: Framer
    @usableFromInline
    var output = OutputBuffer()
    /// What each call is answered; nil where the client may call.
    private let refusal: (any ReplyError)?
    private let isRefused: Bool
    var isViolated = false
    /// The memory of the last message's nodes, to be used again when nobody holds that message any more.
    private var spareNodes: [JSONNode] = []
    /// What the last call began with.
    var opening = CallOpening()

    /// A session of a connection that was just accepted; messages of more bytes than the limit violate the protocol.
    /// Where there is a refusal, every call is answered with it, those of `org.varlink.service` not excepted.
    public init(service: ServiceDescription, messageLimit: Int, refusal: (any ReplyError)? = nil) {
        self.service = service
        self.refusal = refusal
        isRefused = refusal != nil
        framer = Framer(limit: messageLimit)
    }

    /// The number of bytes that were received and are no part of a call yet.
    public var pendingInput: Int { framer.pending }

    /// The bytes of memory that were taken for what was received; they are given back where nothing of it is left.
    public var inputCapacity: Int { framer.bytes.capacity }

    /// Takes bytes that the client sent.
    public mutating func receive(_ bytes: Span<UInt8>) { framer.receive(bytes) }

    /// Takes bytes that the client sent.
    public mutating func receive(_ bytes: [UInt8]) { framer.receive(bytes.span) }

    /// The next step; nil where it takes more bytes, while a call is in progress, and after a violation.
    public mutating func next() -> Step? {
        guard !isViolated, callInProgress == nil else { return nil }
        do throws(ProtocolViolation) {
            guard let range = try nextRange() else { return nil }
            return try next(range)
        } catch {
            isViolated = true
            return .violation(error)
        }
    }

    private mutating func nextRange() throws(ProtocolViolation) -> Range<Int>? {
        do { return try framer.next() } catch { throw .messageTooLong(limit: framer.limit) }
    }

    /// What is to be done about a message.
    private mutating func next(_ range: Range<Int>) throws(ProtocolViolation) -> Step {
        let isRepeated = opening.begins(framer.bytes.span, range)
        let message = try read(range, isRepeated: isRepeated)
        if isRepeated, message.endsWithParameters, let target = opening.target {
            opening.keepClosing(message, in: range)
            return begin(target, .plain, of: message)
        }
        let header = try CallHeader(message)
        guard let target = admit(header, of: message) else { return .answered }
        if header.isPlain(in: message) {
            opening.keep(message, in: range, calling: target)
        } else {
            opening.forgetClosing()
        }
        return begin(target, header, of: message)
    }

    /// Validates a message; what it begins with is not read where it repeats the opening.
    private mutating func read(_ range: Range<Int>, isRepeated: Bool) throws(ProtocolViolation) -> JSONObject {
        let beginning = isRepeated ? opening.beginning : nil
        do {
            return try JSONObject(parsing: framer.bytes, in: range, behind: beginning, reusing: &spareNodes)
        } catch {
            throw .invalidJSON(error)
        }
    }

    /// Puts a call in progress.
    private mutating func begin(
        _ target: MethodTarget,
        _ header: CallHeader,
        of message: consuming JSONObject
    ) -> Step {
        callInProgress = CallInProgress(target: target, oneway: header.oneway, more: header.more)
        let call = Call(target: target, header, of: message)
        guard header.upgrade || target.isIntrospection else { return .call(call) }
        if header.upgrade {
            fail(ServiceError.methodNotImplemented(call.method))
        } else {
            ServiceInterface.answer(call, in: &self)
        }
        return .answered
    }

    /// The method that is called; nil where it is refused, or there is none: the session has answered then.
    private mutating func admit(_ header: CallHeader, of message: JSONObject) -> MethodTarget? {
        guard !isRefused else {
            if let refusal, !header.oneway { write(refusal) }
            return nil
        }
        guard let target = find(message.nodes[header.method], in: message) else {
            refuse(header, of: message)
            return nil
        }
        return target
    }

    private func find(_ method: JSONNode, in message: JSONObject) -> MethodTarget? {
        guard method.kind == .escapedString else { return service.methods.find(message.bytes.span, in: method.range) }
        let name = JSONString.unescape(message.bytes, in: method.range)
        return service.methods.find(name.span, in: name.indices)
    }

    private mutating func refuse(_ header: CallHeader, of message: JSONObject) {
        guard !header.oneway else { return }
        write(service.methods.error(for: message.text(of: message.nodes[header.method])))
    }
}

extension ServerSession {
    /// Answers the call in progress with parameters, whose members the closure writes; with `continues`, which only a
    /// call with `more` allows, the call stays in progress. To a call with `oneway` nothing is sent.
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

    /// Answers the call in progress with parameters that are the text of an object already, with one member at least.
    public mutating func reply(preencoded parameters: [UInt8], continues: Bool = false) {
        guard expectsReply(continues: continues) else { return }
        output.message { writer in
            writer.member("parameters", raw: parameters)
            if continues { writer.member("continues", true) }
        }
    }

    /// Answers the call in progress with an error, which ends it. To a call with `oneway` nothing is sent.
    public mutating func fail(_ error: some ReplyError) {
        guard expectsReply(continues: false) else { return }
        write(error)
    }

    /// Appends elements, with commas between them, to an array that is the only parameter of a reply with `continues`.
    /// The first elements begin the reply; it stays open for more of them until ``endArray()``, or until another reply.
    public mutating func appendElements(_ name: StaticString, _ elements: JSONWriter) {
        if openArrayBytes == 0 {
            guard expectsReply(continues: true) else { return }
            output.openArray(name)
        } else {
            output.writer.buffer.append(ASCII.comma)
        }
        output.writer.buffer.append(copying: elements.buffer)
        openArrayBytes += elements.count
    }

    /// Ends the array reply under construction, if there is one.
    public mutating func endArray() {
        guard openArrayBytes > 0 else { return }
        output.closeArray()
        openArrayBytes = 0
    }

    /// Whether the call in progress is to get a reply; the call is over where none shall follow.
    private mutating func expectsReply(continues: Bool) -> Bool {
        endArray()
        guard let call = callInProgress else { preconditionFailure("a reply belongs to a call in progress") }
        precondition(!continues || call.more, "only a call with more has replies that continue")
        if !continues { callInProgress = nil }
        return !call.oneway
    }

    mutating func write(_ error: some ReplyError) {
        output.message { writer in
            writer.member("error", error.errorName)
            writer.parameters { error.encodeParameters(into: &$0) }
        }
    }
}

extension ServerSession {
    /// The number of bytes that the client has not been sent yet.
    @inlinable
    public var unsent: Int { output.unsent }

    /// Offers the bytes that are to be sent; the body tells how many of them the socket took. The memory that held them is
    /// kept where more is about to be written.
    public mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        try output.withUnsent(keepingCapacity: keepingCapacity, body)
        // Nobody goes back over what was sent, so nobody needs the calls that it answers any more.
        framer.discardHandedOut()
    }

    /// Drops what the client has not been sent, where the connection is given up: maybe half a message was.
    public mutating func dropUnsent() {
        output = OutputBuffer()
        openArrayBytes = 0
    }
}

extension ServiceInterface {
    /// Carries out the call of a method of the interface, which is in progress in the session.
    static func answer(_ call: Call, in session: inout ServerSession) {
        do {
            switch call.name {
            case "GetInfo": try answerInfo(call.parameters, in: &session)
            default: try answerDescription(call.parameters, in: &session)
            }
        } catch {
            session.fail(error)
        }
    }

    private static func answerInfo(
        _ parameters: JSONObject,
        in session: inout ServerSession
    ) throws(InvalidParameter) {
        try parameters.allowOnly([])
        let service = session.service
        session.reply { writer in
            writer.member("vendor", service.vendor)
            writer.member("product", service.product)
            writer.member("version", service.version)
            writer.member("url", service.url)
            writer.member("interfaces", service.interfaces.map(\.name))
        }
    }

    private static func answerDescription(
        _ parameters: JSONObject,
        in session: inout ServerSession
    ) throws(InvalidParameter) {
        try parameters.allowOnly(["interface"])
        let name = try parameters.string("interface")
        guard let interface = session.service.interfaces.first(where: { $0.name == name }) else {
            return session.fail(ServiceError.interfaceNotFound(name))
        }
        session.reply { $0.member("description", interface.definition) }
    }
}

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
        callInProgress = savepoint.callInProgress
        isViolated = savepoint.isViolated
        framer.restore(savepoint.position)
        output.truncate(to: savepoint.length)
    }
}

extension ServerSession {
    /// Says of the last call that was told that it may be repeated with another string as the parameter of this name: see
    /// ``answerRepetitions(atMost:whileUnsent:_:)``. Nothing happens where that is not its first parameter.
    public mutating func expectRepetitions(by parameter: StaticString) {
        opening.expectRepetitions(by: parameter)
    }

    /// Answers the next calls for as long as each is the last one that was told once more, byte by byte but for the string
    /// that is its first parameter, where ``expectRepetitions(by:)`` said so of that one.
    ///
    /// What most clients ask for most is answered so without what a call takes to be told and held. Nothing has become of
    /// the first call that is another one, or that the closure leaves alone: ``next()`` tells it.
    ///
    /// - Parameters:
    ///   - limit: how many calls are answered at most.
    ///   - unsent: no call is answered while more bytes than these are to be sent.
    ///   - write: writes the parameters of the reply to the call with this string; false where that call is left alone.
    /// - Returns: how many calls were answered.
    public mutating func answerRepetitions(
        atMost limit: Int,
        whileUnsent unsent: Int,
        _ write: (UTF8Span, inout JSONWriter) -> Bool
    ) -> Int {
        guard opening.isRepeatable, !isViolated, callInProgress == nil else { return 0 }
        let bytes = framer.bytes
        var answered = 0
        while answered < limit, output.unsent <= unsent {
            let position = framer.position
            // What is too long is so once more.
            guard let range = try? framer.next() else { break }
            guard let text = opening.repetition(bytes.span, range),
                output.messageIfWritten({
                    // What consists of plain bytes is ASCII.
                    write(unsafe UTF8Span(unchecked: bytes.span.extracting(text), isKnownASCII: true), &$0)
                })
            else {
                framer.restore(position)
                break
            }
            answered += 1
        }
        return answered
    }
}

/// What calls began with, and what was found in it.
///
/// Whoever calls a method will call it again, and write `{"method":"io.countdownd.Get","parameters":{"key":` as before.
/// What was found in the same bytes holds for them once more: so they are compared in place of being read.
struct CallOpening {
    /// The most bytes that are kept.
    private static let longest = 128

    /// The bytes before the first parameter's value; none where nothing is kept.
    private var bytes: [UInt8] = []
    /// What was found in them, as if they stood at 0.
    private(set) var beginning = JSONBeginning()
    /// The method that they name.
    private(set) var target: MethodTarget?
    /// The bytes behind the first parameter's value in the last call; none where that began otherwise, or names the
    /// parameter twice.
    private var closing: [UInt8] = []
    /// Whether a call that differs from the last one in that value alone is answered at once.
    private(set) var isRepeatable = false

    /// Whether a message begins like this, and goes on.
    @inline(__always)
    func begins(_ message: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard !bytes.isEmpty, range.lowerBound &+ bytes.count < range.upperBound else { return false }
        return Self.stand(bytes, in: message, at: range.lowerBound)
    }

    /// Whether these bytes stand there.
    @inline(__always)
    private static func stand(_ bytes: [UInt8], in message: Span<UInt8>, at index: Int) -> Bool {
        unsafe message.extracting(index..<index &+ bytes.count).withUnsafeBytes { message in
            unsafe bytes.withUnsafeBytes { bytes in
                guard let left = message.baseAddress, let right = bytes.baseAddress else { return false }
                return unsafe memcmp(left, right, bytes.count) == 0
            }
        }
    }

    /// Keeps the opening of a message that stands in this range and consists of a method and of parameters, in this order.
    mutating func keep(_ message: JSONObject, in range: Range<Int>, calling target: MethodTarget) {
        forgetClosing()
        guard message.nodes[2].next > 3 else { return }
        let end = message.nodes[3].textRange.lowerBound
        guard end - range.lowerBound <= Self.longest else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: message.bytes[range.lowerBound..<end])
        beginning = JSONBeginning(of: message.nodes, from: range.lowerBound, to: end)
        self.target = target
        keepClosing(message, in: range)
    }

    // MARK: A call once more

    /// Keeps what stands behind the first parameter's value in a message that begins like this.
    mutating func keepClosing(_ message: JSONObject, in range: Range<Int>) {
        isRepeatable = false
        let start = message.nodes[3].textRange.upperBound
        let count = range.upperBound - start
        guard count != closing.count || !Self.stand(closing, in: message.bytes.span, at: start) else { return }
        closing.removeAll(keepingCapacity: true)
        guard count <= Self.longest, message.namesFirstParameterOnce else { return }
        closing.append(contentsOf: message.bytes[start..<range.upperBound])
    }

    /// Forgets it, as the last call was another one.
    mutating func forgetClosing() {
        closing.removeAll(keepingCapacity: true)
        isRepeatable = false
    }

    /// Lets the last call be repeated where its first parameter has this name.
    mutating func expectRepetitions(by parameter: StaticString) {
        let name = beginning.name
        let text = unsafe UnsafeBufferPointer(start: parameter.utf8Start, count: parameter.utf8CodeUnitCount)
        isRepeatable =
            !closing.isEmpty && !name.isEscaped
            && JSONString.equals(bytes.span, in: Int(name.start)..<Int(name.end), unsafe text.span)
    }

    /// Where the string stands in a message that is the last call but for it; nil where the message is another one, or the
    /// string has escapes or what is not ASCII in it.
    func repetition(_ message: Span<UInt8>, _ range: Range<Int>) -> Range<Int>? {
        let start = range.lowerBound &+ bytes.count
        let end = range.upperBound &- closing.count &- 1
        guard start < end, message[start] == ASCII.quote, message[end] == ASCII.quote,
            begins(message, range), Self.stand(closing, in: message, at: end &+ 1),
            JSONString.skipPlain(message, in: start &+ 1..<end) == end
        else { return nil }
        return start &+ 1..<end
    }
}
