/// An enumeration of words on the wire. They are static strings, because they are written very often. `varlink-generate` makes
/// these types from a definition.
public protocol WireEnumeration: RawRepresentable<String>, CaseIterable, Sendable, JSONReadable, JSONWritable {
    /// The word on the wire.
    var word: StaticString { get }
}

extension WireEnumeration {
    /// Writes the word, which needs no escapes.
    @inlinable
    public func write(into writer: inout JSONWriter) { writer.write(word: word) }
}

/// An object with a word that a newer peer may have added, so that the object is one of an unknown kind.
public protocol JSONExtensible: JSONDecodable {
    /// Reads the members of an object that was entered; nil if the word is unknown.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    static func ifKnown(from reader: inout JSONReader) throws(InvalidParameter) -> Self?
}

/// An object that may be of an unknown kind.
public struct IfKnown<Value: JSONExtensible>: JSONDecodable {
    /// The object; nil if its kind is unknown.
    public let value: Value?

    /// Reads the members.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(from reader: inout JSONReader) throws(InvalidParameter) { value = try Value.ifKnown(from: &reader) }
}
