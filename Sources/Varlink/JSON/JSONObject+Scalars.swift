/// What looks for a member is inlined where its name is a literal, so that names are compared with a few bytes that are
/// known there; what makes a value of it is not.
extension JSONObject {
    /// The string of a member.
    @inlinable
    @inline(__always)
    public func string(_ name: StaticString) throws(InvalidParameter) -> String {
        try required(name, stringIfPresent(name))
    }

    /// The string of a member, nil where it is absent or null.
    @inlinable
    @inline(__always)
    public func stringIfPresent(_ name: StaticString) throws(InvalidParameter) -> String? {
        guard let node = present(name) else { return nil }
        guard node.isString else { throw InvalidParameter(name.description) }
        return text(of: node)
    }

    /// Reads the string of a member where it stands, or a copy of it where it holds escapes.
    @inlinable
    @inline(__always)
    public func withString<Result>(
        _ name: StaticString,
        _ body: (UTF8Span) -> Result
    ) throws(InvalidParameter) -> Result {
        guard let node = present(name), node.isString else { throw InvalidParameter(name.description) }
        guard !node.isEscaped else { return body(text(of: node).utf8Span) }
        // What a scanner has found valid is UTF-8.
        return body(unsafe UTF8Span(unchecked: bytes.span.extracting(node.range)))
    }

    /// The integer of a member: a number of 64 bits, signed, without fraction and exponent.
    @inlinable
    @inline(__always)
    public func integer(_ name: StaticString) throws(InvalidParameter) -> Int64 {
        try required(name, integerIfPresent(name))
    }

    /// The integer of a member, nil where it is absent or null.
    @inlinable
    @inline(__always)
    public func integerIfPresent(_ name: StaticString) throws(InvalidParameter) -> Int64? {
        guard let node = present(name) else { return nil }
        guard let value = integer(of: node) else { throw InvalidParameter(name.description) }
        return value
    }

    @usableFromInline
    func integer(of node: JSONNode) -> Int64? { JSONNumber.integer(bytes.span, node) }

    /// The number of a member as the nearest double; one that no double comes near is invalid.
    public func double(_ name: StaticString) throws(InvalidParameter) -> Double {
        try required(name, doubleIfPresent(name))
    }

    /// The number of a member as the nearest double, nil where it is absent or null.
    public func doubleIfPresent(_ name: StaticString) throws(InvalidParameter) -> Double? {
        guard let node = present(name) else { return nil }
        guard let value = JSONNumber.double(bytes, node) else { throw InvalidParameter(name.description) }
        return value
    }

    /// The truth value of a member.
    @inlinable
    @inline(__always)
    public func boolean(_ name: StaticString) throws(InvalidParameter) -> Bool {
        try required(name, booleanIfPresent(name))
    }

    /// The truth value of a member, nil where it is absent or null.
    @inlinable
    @inline(__always)
    public func booleanIfPresent(_ name: StaticString) throws(InvalidParameter) -> Bool? {
        switch present(name)?.kind {
        case nil: return nil
        case .true: return true
        case .false: return false
        default: throw InvalidParameter(name.description)
        }
    }

    /// The value of an enumeration in a member, which is a string on the wire.
    @inlinable
    @inline(__always)
    public func value<E: RawRepresentable<String>>(
        _ name: StaticString,
        as type: E.Type = E.self
    ) throws(InvalidParameter) -> E {
        try required(name, valueIfPresent(name, as: type))
    }

    /// The value of an enumeration in a member, nil where it is absent or null.
    @inlinable
    @inline(__always)
    public func valueIfPresent<E: RawRepresentable<String>>(
        _ name: StaticString,
        as type: E.Type = E.self
    ) throws(InvalidParameter) -> E? {
        guard let raw = try stringIfPresent(name) else { return nil }
        guard let value = E(rawValue: raw) else { throw InvalidParameter(name.description) }
        return value
    }

    @inlinable
    @inline(__always)
    func required<Value>(_ name: StaticString, _ value: Value?) throws(InvalidParameter) -> Value {
        guard let value else { throw InvalidParameter(name.description) }
        return value
    }
}
