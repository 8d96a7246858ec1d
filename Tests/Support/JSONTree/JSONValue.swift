public import Varlink

/// A JSON value of any kind as a tree, for tests that handle values of unknown types.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number; one beyond the range of doubles is null.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The tree of a text that is an object.
    ///
    /// - Throws: ``JSONError`` if the text is not valid, or not an object.
    public init(parsing text: some Collection<UInt8>) throws(JSONError) {
        let (members, error) = JSONReader.read(copying: text) { reader in
            (reader.beginText() ? JSONValue.members(from: &reader) : [:], reader.finish())
        }
        if let error { throw error }
        self = .object(members)
    }

    /// The tree of a text that is an object.
    public init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8)) }

    /// The member of an object; nil if it is absent, or if the value is not an object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[name]
    }

    /// The text of a string, nil for other values.
    public var string: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The elements of an array, nil for other values.
    public var elements: [JSONValue]? {
        guard case .array(let elements) = self else { return nil }
        return elements
    }

    /// The JSON text, with the members of objects in the order of their names.
    public var text: [UInt8] {
        var writer = JSONWriter()
        writer.element(self)
        return writer.bytes
    }
}

extension JSONValue: JSONReadable {
    /// Reads the next value, of any kind.
    public static func read(from reader: inout JSONReader) -> JSONValue? {
        let text = reader.rawValue()
        return JSONReader.read(copying: text) { value in
            switch text.first {
            case UInt8(ascii: "n"): .null
            case UInt8(ascii: "t"), UInt8(ascii: "f"): value.boolean().map { .boolean($0) }
            case UInt8(ascii: "\""): value.string().map { .string($0) }
            case UInt8(ascii: "["): .array(elements(from: &value))
            case UInt8(ascii: "{"): .object(value.beginObject() ? members(from: &value) : [:])
            default: number(text, from: &value)
            }
        }
    }

    private static func number(_ text: [UInt8], from reader: inout JSONReader) -> JSONValue {
        if let integer = reader.integer() { return .integer(integer) }
        let double = Double(String(decoding: text, as: UTF8.self))
        return double.map { $0.isFinite ? .double($0) : .null } ?? .null
    }

    private static func elements(from reader: inout JSONReader) -> [JSONValue] {
        guard reader.beginArray() else { return [] }
        var elements: [JSONValue] = []
        while reader.nextElement() { elements.append(read(from: &reader) ?? .null) }
        return elements
    }

    private static func members(from reader: inout JSONReader) -> [String: JSONValue] {
        var members: [String: JSONValue] = [:]
        while reader.nextMember() {
            let name = reader.memberName
            members[name] = read(from: &reader)
        }
        return members
    }
}

extension JSONValue: JSONDecodable {
    /// The tree of an object.
    public init(from reader: inout JSONReader) { self = .object(Self.members(from: &reader)) }
}

extension JSONValue: JSONWritable {
    /// Writes the tree, with the members of objects in the order of their names.
    public func write(into writer: inout JSONWriter) {
        switch self {
        case .null: writer.elementNull()
        case .boolean(let value): writer.element(value)
        case .integer(let value): writer.element(value)
        case .double(let value): writer.element(raw: Array(value.description.utf8))
        case .string(let value): writer.element(value)
        case .array(let elements): writer.element(elements)
        case .object(let members): writer.element(members)
        }
    }
}
