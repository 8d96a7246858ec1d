/// Messages on their way out, in the order in which they were written.
@usableFromInline
struct OutputBuffer: Sendable {
    /// The capacity that is kept where there is nothing to hold: for some sixty events, so that a watcher of what changes often
    /// does not ask for memory, and give it back, each time.
    private static let idleCapacity = 32 * 1024

    /// Writes behind all that is there.
    @usableFromInline
    var writer = JSONWriter()
    /// How many of the writer's bytes are sent.
    @usableFromInline
    private(set) var sent = 0
    /// How often bytes were taken.
    private(set) var sends = 0

    /// The number of bytes that nobody has taken yet.
    @inlinable
    var unsent: Int { writer.buffer.count - sent }
    /// The number of bytes that are held.
    var length: Int { writer.buffer.count }

    /// Writes one message whose parameters the closure writes, without any where it writes no member, and its NUL.
    mutating func message(parameters: (inout JSONWriter) -> Void, continues: Bool) {
        let length = writer.buffer.count
        writer.buffer.append(literal: #"{"parameters":{"#)
        let start = writer.buffer.count
        writer.needsComma = false
        parameters(&writer)
        guard writer.buffer.count > start else {
            writer.buffer.truncate(to: length)
            return writer.buffer.append(literal: continues ? "{\"continues\":true}\0" : "{}\0")
        }
        writer.buffer.append(literal: continues ? "},\"continues\":true}\0" : "}}\0")
    }

    /// Writes one message whose parameters the closure writes, a member at least; nothing where it returns false.
    mutating func messageIfWritten(_ parameters: (inout JSONWriter) -> Bool) -> Bool {
        let length = writer.buffer.count
        writer.buffer.append(literal: #"{"parameters":{"#)
        writer.needsComma = false
        guard parameters(&writer) else {
            writer.buffer.truncate(to: length)
            return false
        }
        writer.buffer.append(literal: "}}\0")
        return true
    }

    /// Writes one message, whose members the closure writes, and its NUL.
    mutating func message(_ body: (inout JSONWriter) -> Void) {
        writer.open(ASCII.openBrace)
        body(&writer)
        writer.buffer.append(literal: "}\0")
    }

    /// Writes the beginning of a message whose parameters are one array, up to its first element.
    mutating func openArray(_ name: StaticString) {
        writer.buffer.append(literal: #"{"parameters":{""#)
        writer.buffer.append(literal: name)
        writer.buffer.append(literal: #"":["#)
    }

    /// Writes the end of such a message, after which another follows in answer to the same call.
    mutating func closeArray() {
        writer.buffer.append(literal: "]},\"continues\":true}\0")
    }

    /// Offers what is unsent; the body tells how many of the bytes it took. All of the capacity is kept where more is about to
    /// be written.
    mutating func withUnsent<Failure: Error>(
        keepingCapacity: Bool = false,
        _ body: (Span<UInt8>) throws(Failure) -> Int
    ) throws(Failure) {
        let taken = try body(writer.buffer.storage.span.extracting(sent..<length))
        precondition(taken >= 0 && taken <= unsent, "no more bytes can be taken than there are")
        sent += taken
        sends += 1
        discardSent(keepingCapacity: keepingCapacity)
    }

    /// Forgets what was written after this length was reached.
    mutating func truncate(to length: Int) {
        writer.buffer.truncate(to: length)
    }

    /// Frees what was sent. The rest is moved only where it is the smaller part, so that a byte is moved a bounded
    /// number of times however little the peer reads at once.
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
    /// Writes `parameters`, or nothing where the closure writes no member.
    mutating func parameters(_ body: (inout JSONWriter) -> Void) {
        let length = buffer.count
        let neededComma = needsComma
        write(name: "parameters" as StaticString)
        open(ASCII.openBrace)
        let start = buffer.count
        body(&self)
        guard buffer.count == start else { return close(ASCII.closeBrace) }
        buffer.truncate(to: length)
        needsComma = neededComma
    }
}
