/// One connection as a client sees it, without its socket: calls go in, bytes for the service come out; bytes of the
/// service go in, replies come out.
public struct ClientSession: Sendable {
    /// A call that waits for its reply.
    private struct Expectation {
        let call: Int
        let more: Bool
    }

    private var framer: Framer
    private var output = OutputBuffer()
    private var calls = 0
    /// The calls that wait, in their order; those before `answered` wait no longer.
    private var expectations: [Expectation] = []
    private var answered = 0

    /// A session of a connection that was just made; replies of more bytes than the limit violate the protocol.
    public init(messageLimit: Int) { framer = Framer(limit: messageLimit) }

    /// The number of calls whose last reply has not come.
    public var unanswered: Int { expectations.count - answered }

    /// Calls a method by its full name, with parameters whose members the closure writes. The number that it returns is
    /// that of the replies' ``Reply/call``; to a call with `oneway` there are none.
    @discardableResult
    public mutating func call(
        _ method: String,
        more: Bool = false,
        oneway: Bool = false,
        _ parameters: (inout JSONWriter) -> Void = { _ in }
    ) -> Int {
        precondition(!(more && oneway), "a call has one of more and oneway at most")
        output.message { writer in
            writer.member("method", method)
            writer.parameters(parameters)
            if more { writer.member("more", true) }
            if oneway { writer.member("oneway", true) }
        }
        calls += 1
        if !oneway { expectations.append(Expectation(call: calls, more: more)) }
        return calls
    }

    /// Calls a method by its full name, with a value as the parameters.
    @discardableResult
    public mutating func call(
        _ method: String,
        more: Bool = false,
        oneway: Bool = false,
        _ parameters: some JSONEncodable
    ) -> Int {
        call(method, more: more, oneway: oneway) { parameters.encode(into: &$0) }
    }

    /// Takes bytes that the service sent.
    public mutating func receive(_ bytes: Span<UInt8>) { framer.receive(bytes) }

    /// Takes bytes that the service sent.
    public mutating func receive(_ bytes: [UInt8]) { framer.receive(bytes.span) }

    /// The next reply, nil where it takes more bytes. After a violation the connection is of no use any more.
    public mutating func next() throws(ProtocolViolation) -> Reply? {
        guard let message = try nextMessage() else { return nil }
        let header = try ReplyHeader(message)
        guard answered < expectations.count else { throw .unexpectedReply }
        let expectation = expectations[answered]
        guard !header.continues || expectation.more else { throw .unexpectedContinues }
        if !header.continues { finishExpectation() }
        return Reply(
            call: expectation.call,
            error: header.error,
            parameters: header.parameters,
            continues: header.continues
        )
    }

    private mutating func nextMessage() throws(ProtocolViolation) -> JSONObject? {
        let range: Range<Int>?
        do { range = try framer.next() } catch { throw .messageTooLong(limit: framer.limit) }
        guard let range else { return nil }
        do { return try JSONObject(parsing: framer.bytes, in: range) } catch { throw .invalidJSON(error) }
    }

    private mutating func finishExpectation() {
        answered += 1
        guard answered > expectations.count / 2 else { return }
        expectations.removeFirst(answered)
        answered = 0
    }
}

extension ClientSession {
    /// The number of bytes that the service has not been sent yet.
    public var unsent: Int { output.unsent }

    /// Offers the bytes that are to be sent; the body tells how many of them the socket took.
    public mutating func withUnsent<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        try output.withUnsent(body)
    }
}
