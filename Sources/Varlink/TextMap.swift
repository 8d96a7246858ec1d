/// Values by names that others chose. Names are equal if their bytes are; strings are equal under Unicode normalization, too, so a
/// dictionary would take two names for one.
public struct TextMap<Value> {
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (left: Name, right: Name) -> Bool { left.text.hasSameBytes(as: right.text) }

        func hash(into hasher: inout Hasher) {
            unsafe text.utf8.span.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
        }
    }

    private var entries: [Name: Value] = [:]

    /// A map without names.
    public init() {}

    /// A map of names and their values. Of several values with one name, the last stays.
    public init(_ pairs: some Sequence<Element>) {
        for (name, value) in pairs { self[name] = value }
    }

    /// Whether there are no names.
    public var isEmpty: Bool { entries.isEmpty }
    /// The number of names.
    public var count: Int { entries.count }
    /// The names, in any order.
    public var keys: some Collection<String> { entries.keys.lazy.map(\.text) }
    /// The values, in any order.
    public var values: some Collection<Value> { entries.values }

    /// The value with a name; nil if there is none.
    public subscript(name: String) -> Value? {
        get { entries[Name(text: name)] }
        _modify { yield &entries[Name(text: name)] }
    }

    /// The map with the names and values of another one, whose values count if both have a name.
    public func merging(_ other: TextMap) -> TextMap {
        var merged = self
        for (name, value) in other { merged[name] = value }
        return merged
    }

    /// The map with other values.
    public func mapValues<Other>(_ transform: (Value) -> Other) -> TextMap<Other> {
        TextMap<Other>(map { (key: $0.key, value: transform($0.value)) })
    }

    /// Removes the value with a name, and returns it; nil if there was none.
    @discardableResult
    public mutating func removeValue(forKey name: String) -> Value? { entries.removeValue(forKey: Name(text: name)) }

    /// The names and values in the order of the bytes of the names.
    public var inOrder: [Element] { sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}

extension TextMap: Sendable where Value: Sendable {}
extension TextMap: Equatable where Value: Equatable {}
extension TextMap: Hashable where Value: Hashable {}

extension TextMap: Sequence {
    /// A name with its value.
    public typealias Element = (key: String, value: Value)

    /// The names with their values, in any order.
    public func makeIterator() -> some IteratorProtocol<Element> {
        entries.lazy.map { (key: $0.key.text, value: $0.value) }.makeIterator()
    }
}

extension TextMap: ExpressibleByDictionaryLiteral {
    /// A map of names and their values. Of several values with one name, the last stays.
    public init(dictionaryLiteral pairs: (String, Value)...) { self.init(pairs.map { (key: $0.0, value: $0.1) }) }
}

extension TextMap: JSONReadable where Value: JSONReadable {
    /// Reads a map, which is an object in JSON; nil if a member is not of the type, or if the value is of another kind.
    ///
    /// - Throws: the first error of a member.
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> TextMap? {
        guard reader.beginObject() else { return nil }
        var map = TextMap()
        var isInvalid = false
        var error: InvalidParameter?
        while reader.nextMember() {
            let name = reader.memberName
            do throws(InvalidParameter) {
                let value = try Value.read(from: &reader)
                if let value { map[name] = value } else { isInvalid = true }
            } catch let invalid {
                error = error ?? invalid
            }
        }
        if let error, !isInvalid { throw error }
        return isInvalid ? nil : map
    }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
    /// Reads a map, which is an object in JSON; nil if a member is not of the type, or if the value is of another kind.
    ///
    /// - Throws: the first error of a member.
    public static func read(from reader: inout JSONReader) throws(InvalidParameter) -> [String: Value]? {
        try TextMap<Value>.read(from: &reader).map { Dictionary($0.map { ($0.key, $0.value) }) { _, last in last } }
    }
}

extension TextMap: JSONWritable where Value: JSONWritable {
    /// Writes a map, which is an object in JSON, in the order of its names.
    public func write(into writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in inOrder { writer.member(named: name, value) }
        }
    }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
    /// Writes a map, as ``TextMap`` does.
    public func write(into writer: inout JSONWriter) {
        TextMap(self).write(into: &writer)
    }
}

extension String {
    /// Whether both have the same bytes. `==` holds for texts that are equal under Unicode normalization, too.
    public func hasSameBytes(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
