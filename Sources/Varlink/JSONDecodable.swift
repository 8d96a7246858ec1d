/// A value that can be read from JSON.
public protocol JSONReadable {
    /// Reads the next value, of whatever kind it is.
    ///
    /// - Returns: nil if the value is not one of this type.
    /// - Throws: the name of the member that is missing or invalid, if the value is an object.
    static func read(from reader: inout JSONReader) throws(InvalidParameter) -> Self?
}

/// A value that is an object in JSON and can be read.
public protocol JSONDecodable: JSONReadable {
    /// Reads the members of an object that was entered, up to its end.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid, after the object was read to its end.
    init(from reader: inout JSONReader) throws(InvalidParameter)
}

extension JSONDecodable {
    /// Reads an object; nil if the value is of another kind.
    ///
    /// - Throws: the name of the member that is missing, unknown or invalid.
    @inlinable
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> Self? {
        guard reader.beginObject() else { return nil }
        return try Self(from: &reader)
    }

    /// Reads a value from a text of its own, which may have whitespace around it.
    ///
    /// - Throws: ``JSONError`` if the text is not valid or not an object, ``InvalidParameter`` if a member is not valid.
    @inlinable
    public init(json text: some Collection<UInt8>) throws {
        self = try JSONReader.read(copying: text) { reader in
            guard reader.beginText() else { throw reader.finish() ?? JSONError(offset: 0, reason: .notAnObject) }
            let value = Result { () throws(InvalidParameter) in try Self(from: &reader) }
            if let error = reader.finish() { throw error }
            return try value.get()
        }
    }
}

/// A member that a decoder looks for: its name, and its value once it was read.
///
/// If the name occurs more than once, the last value counts. `null` means the same as an absent member.
public struct JSONMember<Value: JSONReadable> {
    @usableFromInline
    let name: StaticString
    @usableFromInline
    var value: Value?
    /// Why the value is not one of the type.
    @usableFromInline
    var error: InvalidParameter?

    /// A member of this name, not read yet.
    @inlinable
    @inline(__always)
    public init(_ name: StaticString) { self.name = name }

    /// Reads the value of the reader's current member if it has this name; false if it has another one.
    @inlinable
    @inline(__always)
    public mutating func read(_ reader: inout JSONReader) -> Bool {
        guard reader.isNamed(name) else { return false }
        readValue(&reader)
        return true
    }

    @inlinable
    mutating func readValue(_ reader: inout JSONReader) {
        value = nil
        error = nil
        guard !reader.null() else { return }
        do throws(InvalidParameter) {
            value = try Value.read(from: &reader)
            if value == nil { error = InvalidParameter(name.description) }
        } catch let invalid {
            error = invalid
        }
    }

    /// The value, nil if the member is absent or null.
    ///
    /// - Throws: the name of the member, or of one inside of it, if it is not of the type.
    @inlinable
    public var optional: Value? {
        get throws(InvalidParameter) {
            if let error { throw error }
            return value
        }
    }

    /// The value.
    ///
    /// - Throws: the name of the member if it is absent or null; as ``optional`` does, otherwise.
    @inlinable
    public var required: Value {
        get throws(InvalidParameter) {
            guard let value = try optional else { throw InvalidParameter(name.description) }
            return value
        }
    }
}

extension JSONReader {
    /// Reads the members of the object that was entered, up to its end. The closure reads the current member if it knows
    /// it, and returns whether it did.
    ///
    /// - Throws: the name of the first member that the closure does not know, after the end of the object.
    @inlinable
    @inline(__always)
    public mutating func members(_ read: (inout JSONReader) -> Bool) throws(InvalidParameter) {
        var unknown: InvalidParameter?
        while nextMember() {
            guard !read(&self) else { continue }
            if unknown == nil { unknown = InvalidParameter(memberName) }
            skip()
        }
        if let unknown { throw unknown }
    }

    /// Reads the members of the object that was entered, up to its end, and skips those that the closure does not know: a
    /// newer peer may have added them.
    @inlinable
    @inline(__always)
    public mutating func knownMembers(_ read: (inout JSONReader) -> Bool) {
        while nextMember() {
            if !read(&self) { skip() }
        }
    }

    /// The member of this name in the object that was entered, in which the reader stays; nil if the member is absent or null. Each
    /// member is a pass over the object, so types that are read often use ``JSONMember``.
    ///
    /// - Throws: as ``JSONMember/optional``, at the end of the object.
    public mutating func memberIfPresent<Value: JSONReadable>(_ name: StaticString) throws(InvalidParameter) -> Value? {
        let start = place
        var member = JSONMember<Value>(name)
        knownMembers { member.read(&$0) }
        let value = try member.optional
        place = start
        return value
    }

    /// As ``memberIfPresent(_:)``, for a member that must be there.
    public mutating func member<Value: JSONReadable>(_ name: StaticString) throws(InvalidParameter) -> Value {
        if let value: Value = try memberIfPresent(name) { return value }
        skipMembers()
        throw InvalidParameter(name.description)
    }

    /// Goes to the end of the object that was entered.
    public mutating func skipMembers() { knownMembers { _ in false } }
}

// MARK: The values of Varlink's types

extension String: JSONReadable {
    /// Reads a string; nil if the value is of another kind.
    public static func read(from reader: inout JSONReader) -> String? { reader.string() }
}

extension Int64: JSONReadable {
    /// Reads a number without fraction and exponent; nil if the value is of another kind or needs more than 64 bits.
    @inlinable
    public static func read(from reader: inout JSONReader) -> Int64? { reader.integer() }
}

extension Double: JSONReadable {
    /// Reads a number; nil if the value is of another kind or beyond the range of a double.
    public static func read(from reader: inout JSONReader) -> Double? {
        let text = reader.rawValue()
        guard text.first.map({ $0 == UInt8(ascii: "-") || ASCII.isDigit($0) }) ?? false else { return nil }
        return Double(String(decoding: text, as: UTF8.self)).flatMap { $0.isFinite ? $0 : nil }
    }
}

/// A value of an optional type in an array or a map. For a member, see ``JSONMember/optional``.
extension Optional: JSONReadable where Wrapped: JSONReadable {
    /// Reads a value, or `null`; nil if the value is not one of the type.
    ///
    /// - Throws: as the type does.
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> Wrapped?? {
        guard !reader.null() else { return .some(nil) }
        return try Wrapped.read(from: &reader).map { .some($0) }
    }
}

extension Bool: JSONReadable {
    /// Reads `true` or `false`; nil if the value is of another kind.
    @inlinable
    public static func read(from reader: inout JSONReader) -> Bool? { reader.boolean() }
}

/// An enumeration, which is a string in JSON.
extension JSONReadable where Self: RawRepresentable<String> {
    /// Reads a string; nil if it is not one of the raw values, or if the value is of another kind.
    @inlinable
    public static func read(from reader: inout JSONReader) -> Self? { reader.string().flatMap(Self.init(rawValue:)) }
}

extension Array: JSONReadable where Element: JSONReadable {
    /// Reads an array; nil if an element is not of the type, or if the value is of another kind.
    ///
    /// - Throws: the first error of an element.
    @inlinable
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> [Element]? {
        guard reader.beginArray() else { return nil }
        var elements: [Element] = []
        var isInvalid = false
        var error: InvalidParameter?
        while reader.nextElement() {
            do throws(InvalidParameter) {
                let element = try Element.read(from: &reader)
                if let element { elements.append(element) } else { isInvalid = true }
            } catch let invalid {
                error = error ?? invalid
            }
        }
        if let error, !isInvalid { throw error }
        return isInvalid ? nil : elements
    }
}
