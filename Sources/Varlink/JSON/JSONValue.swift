/// A JSON value as a tree, for whoever handles values without knowing their types.
public indirect enum JSONValue: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// A number without fraction and exponent that fits into 64 bits.
    case integer(Int64)
    /// Any other number.
    case double(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The tree of an object.
    public init(_ object: JSONObject) { self.init(object, at: object.index) }

    init(_ object: JSONObject, at index: Int) {
        let node = object.nodes[index]
        switch node.kind {
        case .null: self = .null
        case .true: self = .boolean(true)
        case .false: self = .boolean(false)
        case .integer, .fractional: self = Self.number(object.bytes, node)
        case .string, .escapedString: self = .string(object.text(of: node))
        case .array: self = .array(object.children(of: index).map { JSONValue(object, at: $0) })
        case .object:
            var members: [String: JSONValue] = [:]
            for child in object.children(of: index) { members[object.name(of: child)] = JSONValue(object, at: child) }
            self = .object(members)
        }
    }

    private static func number(_ bytes: [UInt8], _ node: JSONNode) -> JSONValue {
        if let integer = JSONNumber.integer(bytes.span, node) { return .integer(integer) }
        return JSONNumber.double(bytes, node).map { .double($0) } ?? .null
    }
}

extension JSONObject {
    /// The tree of a member, nil where it is absent.
    public func value(_ name: StaticString) -> JSONValue? {
        find(name).map { JSONValue(self, at: $0) }
    }
}

extension JSONWriter {
    /// Writes a member that is a tree, objects in the order of their names.
    public mutating func member(_ name: StaticString, _ value: JSONValue) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a tree, under a name that is not known beforehand.
    public mutating func member(named name: String, _ value: JSONValue) {
        write(name: name)
        write(value)
    }

    /// Writes an element that is a tree.
    public mutating func element(_ value: JSONValue) {
        separate()
        write(value)
    }

    private mutating func write(_ value: JSONValue) {
        switch value {
        case .null: buffer.append(contentsOf: "null".utf8)
        case .boolean(let value): write(value)
        case .integer(let value): write(value)
        case .double(let value): write(value)
        case .string(let value): write(value)
        case .array(let elements):
            open(ASCII.openBracket)
            for element in elements { self.element(element) }
            close(ASCII.closeBracket)
        case .object(let members):
            open(ASCII.openBrace)
            for (name, member) in members.sorted(by: { $0.key < $1.key }) { self.member(named: name, member) }
            close(ASCII.closeBrace)
        }
    }
}
