/// One connection as a client sees it, without its socket: calls go in, bytes for the service come out; the service's
/// bytes go in, replies come out.
public struct ClientSession: ~Copyable {
    /// A call that waits for its reply.
    private struct Expectation {
        let call: Int
        let more: Bool
    }

    private var framer: Framer
    private var output = OutputBuffer()
    private var calls = 0
    /// The calls that wait, in their order; those before `answered` are done.
    private var expectations: [Expectation] = []
    private var answered = 0

    /// A session of a connection that was just made; replies with more bytes than the limit violate the protocol.
    public init(messageLimit: Int) { framer = Framer(limit: messageLimit) }

    /// The number of calls whose last reply was not received yet.
    public var unanswered: Int { expectations.count - answered }

    /// Calls a method by its full name, with parameters whose members the closure writes. Returns the number of the call,
    /// which its replies carry as ``Reply/call``. A call with `oneway` has no replies.
    @discardableResult
    public mutating func call(
        _ method: String,
        more: Bool = false,
        oneway: Bool = false,
        _ parameters: (inout JSONWriter) -> Void = { _ in }
    ) -> Int {
        precondition(!(more && oneway), "a call has at most one of more and oneway")
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

    /// The number of received bytes that were not returned in replies yet.
    public var pendingInput: Int { framer.pending }

    /// Takes bytes from the service.
    public mutating func receive(_ bytes: Span<UInt8>) { framer.receive(bytes) }

    /// Takes bytes from the service.
    public mutating func receive(_ bytes: [UInt8]) { framer.receive(bytes.span) }

    /// The next reply; nil if more bytes are needed.
    ///
    /// - Throws: if the service breaks the protocol; the connection is of no use from then on.
    public mutating func next() throws(ProtocolViolation) -> Reply? {
        guard let range = try framer.next() else { return nil }
        let header = try header(of: range)
        guard answered < expectations.count else { throw .unexpectedReply }
        let expectation = expectations[answered]
        guard !header.continues || expectation.more else { throw .unexpectedContinues }
        if !header.continues { finishExpectation() }
        return Reply(
            call: expectation.call,
            error: header.error,
            continues: header.continues,
            parameters: parameters(header, from: range.lowerBound)
        )
    }

    private func header(of range: Range<Int>) throws(ProtocolViolation) -> ReplyHeader {
        let message = framer.bytes.span.extracting(range.lowerBound...range.upperBound)
        return try JSONReader.read(message) { reader throws(ProtocolViolation) in try ReplyHeader(from: &reader) }
    }

    private func parameters(_ header: ReplyHeader, from start: Int) -> [UInt8] {
        guard let range = header.parameters else { return Array("{}".utf8) }
        return Array(framer.bytes[start + range.lowerBound..<start + range.upperBound])
    }

    private mutating func finishExpectation() {
        answered += 1
        guard answered > expectations.count / 2 else { return }
        expectations.removeFirst(answered)
        answered = 0
    }
}

extension ClientSession {
    /// The number of bytes that were not sent to the service yet.
    public var unsent: Int { output.unsent }

    /// Lends the unsent bytes to the body, which sends some of them and returns how many.
    public mutating func withUnsent<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        try output.withUnsent(body)
    }
}
