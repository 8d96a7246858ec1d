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
    /// How many bytes of elements are in the reply that is being filled; 0 where none is.
    public internal(set) var filled = 0
    var framer: Framer
    @usableFromInline
    var outbox = Outbox()
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
