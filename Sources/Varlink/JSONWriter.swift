/// A value that can be written as JSON.
public protocol JSONWritable {
    /// Writes the value.
    func write(into writer: inout JSONWriter)
}

/// A value that is an object in JSON and can be written.
public protocol JSONEncodable: JSONWritable {
    /// Writes the members of the object; the caller writes its braces.
    func encode(into writer: inout JSONWriter)
}

/// Writes JSON without whitespace into memory of its own.
///
/// Members are written into the innermost open object, elements into the innermost open array. ``object(_:)``,
/// ``member(_:object:)``, ``array(_:)`` and ``array(_:_:)`` open one for the time of their closures. Names that are literals
/// must need no escapes; all other names and strings are escaped.
public struct JSONWriter: ~Copyable {
    @usableFromInline
    var buffer = ByteBuffer()
    /// Whether the innermost container has a value already, so that a comma precedes the next one.
    @usableFromInline
    var needsComma = false

    /// A writer without content and without memory.
    public init() {}

    /// A copy of everything that was written.
    public var bytes: [UInt8] { buffer.bytes }

    /// The number of bytes that were written.
    @inlinable
    public var count: Int { buffer.count }

    /// Whether the writer is empty.
    public var isEmpty: Bool { buffer.count == 0 }

    /// Lends everything that was written to the body.
    public func withBytes<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try buffer.withBytes(body)
    }

    /// Removes everything that was written, and keeps the memory.
    public mutating func removeAll() {
        buffer.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Ends a text; another one follows on the next line. A text has no line breaks, since they are escaped in strings.
    public mutating func endLine() {
        buffer.append(ASCII.newline)
        needsComma = false
    }
}

// MARK: Members

extension JSONWriter {
    /// Writes a member.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, _ value: some JSONWritable) {
        write(name: name)
        value.write(into: &self)
    }

    /// A member is left out if there is no value.
    @available(*, unavailable, renamed: "memberIfPresent(_:_:)")
    public mutating func member<Value: JSONWritable>(_ name: StaticString, _ value: Value?) {}

    /// Writes a member, or nothing if there is no value.
    @inlinable
    @inline(__always)
    public mutating func memberIfPresent(_ name: StaticString, _ value: (some JSONWritable)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a string, given in UTF-8.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, utf8: Span<UInt8>) {
        write(name: name)
        write(utf8: utf8)
    }

    /// Writes a member that is an object, whose members the closure writes.
    @inlinable
    @inline(__always)
    public mutating func member(_ name: StaticString, object body: (inout JSONWriter) -> Void) {
        write(name: name)
        object(body)
    }

    /// Writes a member that is an array, whose elements the closure writes.
    @inlinable
    @inline(__always)
    public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        write(name: name)
        array(body)
    }

    /// Writes a member whose name is not a literal.
    public mutating func member(named name: String, _ value: some JSONWritable) {
        write(utf8: name.utf8Span.span)
        buffer.append(ASCII.colon)
        needsComma = false
        value.write(into: &self)
    }

    /// Writes the name of a member and the colon behind it. The value follows without a comma.
    @inlinable
    @inline(__always)
    mutating func write(name: StaticString) {
        buffer.append(name: name, separated: needsComma)
        needsComma = false
    }
}

// MARK: Elements, and values of members

extension JSONWriter {
    /// Writes an element of an array, or a whole text.
    @inlinable
    @inline(__always)
    public mutating func element(_ value: some JSONWritable) { value.write(into: &self) }

    /// Writes an object, whose members the closure writes.
    @inlinable
    @inline(__always)
    public mutating func object(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes an array, whose elements the closure writes.
    @inlinable
    @inline(__always)
    public mutating func array(_ body: (inout JSONWriter) -> Void) {
        open(UInt8(ascii: "["))
        body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes `null`.
    public mutating func elementNull() {
        separate()
        buffer.append(literal: "null")
    }

    /// Writes a string, given in UTF-8, with only the escapes that RFC 8259 requires.
    public mutating func write(utf8: Span<UInt8>) {
        separate()
        guard utf8.isPlain else { return writeEscaped(utf8) }
        buffer.append(quoting: utf8)
    }

    /// Writes a string that needs no escapes.
    @inlinable
    @inline(__always)
    public mutating func write(word: StaticString) {
        separate()
        buffer.append(word: word)
    }

    /// Writes a value that is JSON text.
    public mutating func element(raw json: [UInt8]) {
        separate()
        buffer.append(json.span)
    }

    @inlinable
    @inline(__always)
    mutating func open(_ bracket: UInt8) {
        separate()
        buffer.append(bracket)
        needsComma = false
    }

    @inlinable
    @inline(__always)
    mutating func close(_ bracket: UInt8) {
        buffer.append(bracket)
        needsComma = true
    }

    /// Writes the comma that the next value needs.
    @inlinable
    @inline(__always)
    mutating func separate() {
        if needsComma { buffer.append(UInt8(ascii: ",")) }
        needsComma = true
    }
}

// MARK: Escapes

extension JSONWriter {
    private mutating func writeEscaped(_ utf8: Span<UInt8>) {
        buffer.append(ASCII.quote)
        var index = buffer.append(plain: utf8, from: 0)
        while index < utf8.count {
            writeEscape(for: utf8[index])
            index = buffer.append(plain: utf8, from: index &+ 1)
        }
        buffer.append(ASCII.quote)
    }

    private mutating func writeEscape(for byte: UInt8) {
        switch byte {
        case ASCII.quote, ASCII.backslash: writeEscape(byte)
        case 0x08: writeEscape(ASCII.lowerB)
        case 0x0C: writeEscape(ASCII.lowerF)
        case ASCII.newline: writeEscape(ASCII.lowerN)
        case ASCII.carriageReturn: writeEscape(ASCII.lowerR)
        case ASCII.tab: writeEscape(ASCII.lowerT)
        default:
            buffer.append(literal: "\\u00")
            buffer.append(ASCII.hexadecimalDigit(byte >> 4))
            buffer.append(ASCII.hexadecimalDigit(byte & 0xF))
        }
    }

    private mutating func writeEscape(_ letter: UInt8) {
        buffer.append(ASCII.backslash)
        buffer.append(letter)
    }
}

extension Span<UInt8> {
    /// Whether none of these bytes of UTF-8 needs an escape in a JSON string.
    var isPlain: Bool {
        guard count >= EightBytes.size else {
            for index in indices where !Self.isPlain(self[index]) { return false }
            return true
        }
        var index = 0
        while index &+ EightBytes.size < count {
            guard EightBytes(self, at: index).isPlain else { return false }
            index &+= EightBytes.size
        }
        // The last word may overlap the one before it.
        return EightBytes(self, at: count &- EightBytes.size).isPlain
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= ASCII.space && byte != ASCII.quote && byte != ASCII.backslash
    }
}

// MARK: The values of Varlink's types

extension JSONEncodable {
    /// Writes the object.
    @inlinable
    @inline(__always)
    public func write(into writer: inout JSONWriter) { writer.object { encode(into: &$0) } }
}

extension String: JSONWritable {
    /// Writes a string, with only the escapes that RFC 8259 requires.
    @inlinable
    public func write(into writer: inout JSONWriter) { writer.write(utf8: utf8Span.span) }
}

extension Int64: JSONWritable {
    /// Writes an integer in decimal.
    @inlinable
    @inline(__always)
    public func write(into writer: inout JSONWriter) {
        writer.separate()
        writer.buffer.append(self)
    }
}

extension Int: JSONWritable {
    /// Writes an integer in decimal.
    @inlinable
    public func write(into writer: inout JSONWriter) { Int64(self).write(into: &writer) }
}

extension Double: JSONWritable {
    /// Writes a number; `null` if it is infinite or not a number, which JSON does not have.
    public func write(into writer: inout JSONWriter) {
        guard isFinite else { return writer.elementNull() }
        writer.element(raw: Array(description.utf8))
    }
}

/// A value of an optional type in an array or a map. A member that is nil is left out: see ``JSONWriter/memberIfPresent(_:_:)``.
extension Optional: JSONWritable where Wrapped: JSONWritable {
    /// Writes the value, or `null`.
    public func write(into writer: inout JSONWriter) {
        guard let self else { return writer.elementNull() }
        writer.element(self)
    }
}

extension Bool: JSONWritable {
    /// Writes `true` or `false`.
    @inlinable
    @inline(__always)
    public func write(into writer: inout JSONWriter) {
        writer.separate()
        if self { writer.buffer.append(literal: "true") } else { writer.buffer.append(literal: "false") }
    }
}

/// An enumeration, which is a string in JSON.
extension JSONWritable where Self: RawRepresentable<String> {
    /// Writes the raw value.
    @inlinable
    public func write(into writer: inout JSONWriter) { rawValue.write(into: &writer) }
}

extension Array: JSONWritable where Element: JSONWritable {
    /// Writes an array of the elements.
    @inlinable
    public func write(into writer: inout JSONWriter) {
        writer.array { writer in
            for element in self { writer.element(element) }
        }
    }
}
