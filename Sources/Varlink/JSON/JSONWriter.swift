/// Appends JSON to bytes, without whitespace.
///
/// Members are written into the object that is open, elements into the array that is open; the closures of
/// ``object(_:)``, ``member(_:object:)`` and their like write into the one that they open.
public struct JSONWriter: Sendable {
    /// All that was written, and what it was appended to.
    public internal(set) var bytes: [UInt8]
    /// Whether a value stands before the next one in the container that is open.
    var needsComma = false

    /// A writer that begins with nothing.
    public init() { bytes = [] }

    /// A writer that appends to bytes that are there.
    public init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

    /// Writes an object as a whole value.
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        separate()
        open(ASCII.openBrace)
        body(&self)
        close(ASCII.closeBrace)
    }

    /// Writes an array as a whole value.
    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        separate()
        open(ASCII.openBracket)
        body(&self)
        close(ASCII.closeBracket)
    }

    /// Appends bytes as they are: no comma is put before them, and none is expected after them.
    public mutating func appendRaw(_ json: [UInt8]) { bytes.append(contentsOf: json) }
}

extension JSONWriter {
    mutating func open(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = false
    }

    mutating func close(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    /// Puts the comma before a value, where it needs one.
    mutating func separate() {
        if takeSeparation() { bytes.append(ASCII.comma) }
    }

    /// Whether the next value needs a comma before it; the one after it will.
    mutating func takeSeparation() -> Bool {
        defer { needsComma = true }
        return needsComma
    }

    /// Writes the name of a member and the colon behind it.
    mutating func write(name: StaticString) {
        let separated = takeSeparation()
        bytes.append(addingCapacity: name.utf8CodeUnitCount + Self.nameOverhead) { output in
            output.append(name: name, separated: separated)
        }
    }

    /// Writes a name that is not known beforehand, and may have to be escaped.
    mutating func write(name: String) {
        separate()
        write(name)
        bytes.append(ASCII.colon)
    }

    /// The bytes that a name needs besides its own: a comma, two quotes and a colon.
    static var nameOverhead: Int { 4 }

    mutating func write(_ value: Bool) {
        bytes.append(addingCapacity: 5) { $0.append(literal: value ? "true" : "false") }
    }

    mutating func write(_ value: Double) {
        precondition(value.isFinite, "JSON has no infinite numbers")
        bytes.append(contentsOf: value.description.utf8)
    }

    mutating func write(_ value: Int64) {
        bytes.append(addingCapacity: Decimal.capacity) { Decimal.append(value, to: &$0) }
    }
}
