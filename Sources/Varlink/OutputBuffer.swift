/// Messages that are to be sent, in their order.
public struct OutputBuffer: ~Copyable {
    /// The capacity that is kept while the buffer is empty: for about sixty events, so that a busy watcher does not allocate
    /// and free memory with each message.
    private static let idleCapacity = 32 * 1024

    /// The messages.
    var bytes: [UInt8] { writer.bytes }

    /// Appends to the messages.
    @usableFromInline
    private(set) var writer = JSONWriter()
    /// The number of the writer's bytes that were sent.
    @usableFromInline
    private(set) var sent = 0

    /// The number of bytes that were not sent yet.
    @inlinable
    var unsent: Int { length - sent }
    /// The number of bytes in memory, sent or not.
    @inlinable
    var length: Int { writer.count }

    /// Writes a reply whose parameters the closure writes, and its NUL. Without members the parameters are omitted.
    @inline(__always)
    mutating func message(parameters: (inout JSONWriter) -> Void, continues: Bool) {
        let length = length
        writer.buffer.append(literal: #"{"parameters":{"#)
        let start = self.length
        writer.needsComma = false
        parameters(&writer)
        guard self.length > start else {
            writer.buffer.truncate(to: length)
            return writer.buffer.append(literal: continues ? "{\"continues\":true}\0" : "{}\0")
        }
        writer.buffer.append(literal: continues ? "},\"continues\":true}\0" : "}}\0")
    }

    /// Writes a message, whose members the closure writes, and its NUL.
    mutating func message(_ body: (inout JSONWriter) -> Void) {
        writer.needsComma = false
        writer.object(body)
        writer.buffer.append(ASCII.null)
    }

    /// Writes an error reply, and its NUL.
    mutating func message(_ error: some ReplyError) {
        message { writer in
            writer.member("error", error.errorName)
            writer.parameters { error.encodeParameters(into: &$0) }
        }
    }

    /// Writes a message that was encoded before, with its NUL.
    mutating func append(_ message: [UInt8]) { writer.buffer.append(message.span) }

    /// Writes elements, with commas between them, into an array that is the only parameter of a reply. The first elements
    /// begin the reply.
    mutating func appendElements(_ name: StaticString, _ elements: borrowing JSONWriter, areFirst: Bool) {
        if areFirst {
            writer.buffer.append(literal: #"{"parameters":{""#)
            writer.buffer.append(literal: name)
            writer.buffer.append(literal: #"":["#)
        } else {
            writer.buffer.append(ASCII.comma)
        }
        writer.buffer.append(elements.buffer)
    }

    /// Writes the end of such a reply, with `continues`.
    mutating func endArray() { writer.buffer.append(literal: "]},\"continues\":true}\0") }

    /// Lends the unsent bytes to the body, which sends some of them and returns how many. `keepingCapacity` says whether to
    /// keep all memory, since more is about to be written.
    mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let sentNow = try writer.buffer.withBytes(from: sent, body)
        precondition(sentNow >= 0 && sentNow <= unsent, "no more bytes are sent than there are")
        sent += sentNow
        discardSent(keepingCapacity: keepingCapacity)
    }

    /// Takes the messages behind a length.
    mutating func take(behind length: Int) -> [UInt8] {
        let taken = Array(bytes[length...])
        writer.buffer.truncate(to: length)
        return taken
    }

    /// Frees the bytes that were sent. The rest is moved only if it is the smaller part, so that each byte is moved a bounded
    /// number of times, however little the receiver reads at once.
    private mutating func discardSent(keepingCapacity: Bool) {
        if unsent == 0 {
            let keepsCapacity = keepingCapacity || writer.buffer.capacity <= Self.idleCapacity
            writer.buffer.removeAll(keepingCapacity: keepsCapacity)
        } else if sent > unsent {
            writer.buffer.removeFirst(sent)
        } else {
            return
        }
        sent = 0
    }
}

extension JSONWriter {
    /// Writes `parameters`, or nothing if the closure writes no member.
    mutating func parameters(_ body: (inout JSONWriter) -> Void) {
        let length = buffer.count
        let neededComma = needsComma
        write(name: "parameters")
        open(ASCII.openBrace)
        let start = buffer.count
        body(&self)
        guard buffer.count == start else { return close(ASCII.closeBrace) }
        buffer.truncate(to: length)
        needsComma = neededComma
    }
}
