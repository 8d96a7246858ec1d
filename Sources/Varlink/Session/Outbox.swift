/// Messages on their way out, in the order in which they were written.
struct Outbox: Sendable {
    /// The capacity that is kept where there is nothing to hold.
    private static let idleCapacity = 16 * 1024

    /// Writes behind all that is there.
    var writer = JSONWriter()
    /// How many of the writer's bytes are sent.
    private var sent = 0
    /// How often bytes were taken.
    private(set) var takings = 0

    /// The number of bytes that nobody has taken yet.
    var unsent: Int { writer.bytes.count - sent }
    /// The number of bytes that are held.
    var length: Int { writer.bytes.count }

    /// Writes one message, whose members the closure writes, and its NUL.
    mutating func message(_ body: (inout JSONWriter) -> Void) {
        writer.open(ASCII.openBrace)
        body(&writer)
        writer.bytes.append(addingCapacity: 2) { $0.append(literal: "}\0") }
    }

    /// Offers what is unsent; the body tells how many of the bytes it took.
    mutating func withUnsent<Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> Int) throws(Failure) {
        let taken = try body(writer.bytes.span.extracting(sent...))
        precondition(taken >= 0 && taken <= unsent, "no more bytes can be taken than there are")
        sent += taken
        takings += 1
        discardSent()
    }

    /// Forgets what was written after this length was reached.
    mutating func truncate(to length: Int) {
        writer.bytes.removeLast(writer.bytes.count - length)
    }

    /// Frees what was sent. The rest is moved only where it is the smaller part, so that a byte is moved a bounded
    /// number of times however little the peer reads at once.
    private mutating func discardSent() {
        if unsent == 0 {
            writer.bytes.removeAll(keepingCapacity: writer.bytes.capacity <= Self.idleCapacity)
        } else if sent > unsent {
            writer.bytes.removeSubrange(..<sent)
        } else {
            return
        }
        sent = 0
    }
}

extension JSONWriter {
    /// Writes `parameters`, or nothing where the closure writes no member.
    mutating func parameters(_ body: (inout JSONWriter) -> Void) {
        let length = bytes.count
        let neededComma = needsComma
        write(name: "parameters" as StaticString)
        open(ASCII.openBrace)
        let start = bytes.count
        body(&self)
        guard bytes.count == start else { return close(ASCII.closeBrace) }
        bytes.removeLast(start - length)
        needsComma = neededComma
    }
}
