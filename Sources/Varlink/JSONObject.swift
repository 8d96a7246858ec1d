/// An object of a message, validated whole, whose members are read by name.
///
/// It shares the bytes of its message and copies nothing until a member is read. Of a name that stands twice the last
/// one counts. A reader throws ``InvalidParameter`` with the member's name where the member is missing or is not what
/// was asked for; its `IfPresent` form answers nil where the member is absent or `null`, which mean the same.
public struct JSONObject: Sendable {
    @usableFromInline
    let bytes: [UInt8]
    /// Those of its message, and behind them what may be left of another one.
    @usableFromInline
    let nodes: [JSONNode]
    /// The index of the object's own node.
    @usableFromInline
    var index: Int

    /// The most nodes that are kept for the next message: an array that a peer made huge is not.
    private static let spareCapacity = 128

    /// The object without members.
    public static let empty = JSONObject(
        bytes: [ASCII.openBrace, ASCII.closeBrace],
        nodes: [JSONNode(.object, range: 0..<2, next: 1)],
        index: 0
    )

    init(bytes: [UInt8], nodes: [JSONNode], index: Int) {
        self.bytes = bytes
        self.nodes = nodes
        self.index = index
    }

    /// Validates a text, or a range of some bytes, that holds one object and whitespace at most.
    public init(parsing bytes: [UInt8], in range: Range<Int>? = nil) throws(JSONFailure) {
        var spare: [JSONNode] = []
        try self.init(parsing: bytes, in: range ?? bytes.indices, reusing: &spare)
    }

    /// Like ``init(parsing:in:)``, with the memory of an array that the object and its maker share from then on.
    init(
        parsing bytes: [UInt8],
        in range: Range<Int>,
        behind beginning: JSONBeginning? = nil,
        reusing spare: inout [JSONNode]
    ) throws(JSONFailure) {
        // Taken out first: an array with two holders would be allocated anew.
        var nodes: [JSONNode] = []
        swap(&nodes, &spare)
        var scanner = JSONScanner(range: range, reusing: consume nodes)
        try scanner.scanObjectText(bytes.span, behind: beginning)
        if scanner.nodes.capacity <= Self.spareCapacity { spare = scanner.nodes }
        self.init(bytes: bytes, nodes: scanner.nodes, index: 0)
    }

    /// Whether the object has no members.
    public var isEmpty: Bool { nodes[index].next == index + 1 }

    /// Whether the object has a member of this name that is not `null`.
    @inlinable
    @inline(__always)
    public func has(_ name: StaticString) -> Bool { present(name) != nil }

    /// The JSON text of a member, nil where it is absent.
    public func raw(_ name: StaticString) -> [UInt8]? {
        find(name).map { Array(bytes[nodes[$0].textRange]) }
    }

    /// Refuses every member that has another name, with that.
    @inlinable
    @inline(__always)
    public func allowOnly(_ name: StaticString) throws(InvalidParameter) {
        let limit = Int(nodes[index].next)
        var member = index &+ 1
        while member < limit {
            guard isNamed(member, name) else { throw InvalidParameter(self.name(of: member)) }
            member = Int(nodes[member].next)
        }
    }

    /// Refuses every member that is not one of these, with its name.
    public func allowOnly(_ names: StaticString...) throws(InvalidParameter) { try allowOnly(names) }

    /// Refuses every member that is not one of these, with its name.
    public func allowOnly(_ names: [StaticString]) throws(InvalidParameter) {
        let limit = Int(nodes[index].next)
        var member = index &+ 1
        while member < limit {
            guard isNamed(member, names) else { throw InvalidParameter(name(of: member)) }
            member = Int(nodes[member].next)
        }
    }

    private func isNamed(_ member: Int, _ names: [StaticString]) -> Bool {
        let name = nodes[member].name
        let length = Int(name.end &- name.start)
        // The length first: it is at hand, and tells most names apart.
        for known in names where known.utf8CodeUnitCount == length || name.isEscaped {
            if isNamed(member, known) { return true }
        }
        return false
    }
}

extension JSONObject {
    /// The node of the last member of this name.
    ///
    /// It is inlined where the name is a literal, so that a member is compared with a few bytes that are known there.
    @inlinable
    @inline(__always)
    func find(_ name: StaticString) -> Int? {
        let limit = Int(nodes[index].next)
        var found: Int?
        var member = index &+ 1
        while member < limit {
            if isNamed(member, name) { found = member }
            member = Int(nodes[member].next)
        }
        return found
    }

    /// The node of the last member of this name, nil where that is `null`.
    @inlinable
    @inline(__always)
    func present(_ name: StaticString) -> JSONNode? {
        guard let member = find(name) else { return nil }
        let node = nodes[member]
        return node.kind == .null ? nil : node
    }

    @usableFromInline
    func name(of member: Int) -> String {
        JSONString.decode(bytes, in: nodes[member].nameRange, isEscaped: nodes[member].name.isEscaped)
    }

    /// Whether a member has this name.
    @inlinable
    @inline(__always)
    func isNamed(_ member: Int, _ name: StaticString) -> Bool {
        let node = nodes[member]
        guard !node.name.isEscaped else { return unescapedName(of: node).elementsEqual(name.description.utf8) }
        let name = unsafe UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        return JSONString.equals(bytes.span, in: node.nameRange, unsafe name.span)
    }

    @inline(never)
    @usableFromInline
    func unescapedName(of node: JSONNode) -> [UInt8] { JSONString.unescape(bytes, in: node.nameRange) }

    /// The nodes of the members of an object, or of the elements of an array, in their order.
    func children(of container: Int) -> [Int] {
        var children: [Int] = []
        var child = container + 1
        while child < nodes[container].next {
            children.append(child)
            child = Int(nodes[child].next)
        }
        return children
    }

    @usableFromInline
    func text(of node: JSONNode) -> String {
        JSONString.decode(bytes, in: node.range, isEscaped: node.kind == .escapedString)
    }
}

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

extension JSONObject {
    /// The object of a member.
    public func object(_ name: StaticString) throws(InvalidParameter) -> JSONObject {
        try required(name, objectIfPresent(name))
    }

    /// The object of a member, nil where it is absent or null.
    public func objectIfPresent(_ name: StaticString) throws(InvalidParameter) -> JSONObject? {
        guard let member = find(name), nodes[member].kind != .null else { return nil }
        guard nodes[member].kind == .object else { throw InvalidParameter(name.description) }
        return JSONObject(bytes: bytes, nodes: nodes, index: member)
    }

    /// The objects in the array of a member.
    public func objects(_ name: StaticString) throws(InvalidParameter) -> [JSONObject] {
        try required(name, objectsIfPresent(name))
    }

    /// The objects in the array of a member, nil where it is absent or null.
    public func objectsIfPresent(_ name: StaticString) throws(InvalidParameter) -> [JSONObject]? {
        guard let elements = try elements(name) else { return nil }
        guard elements.allSatisfy({ nodes[$0].kind == .object }) else { throw InvalidParameter(name.description) }
        return elements.map { JSONObject(bytes: bytes, nodes: nodes, index: $0) }
    }

    /// The strings in the array of a member.
    public func strings(_ name: StaticString) throws(InvalidParameter) -> [String] {
        try required(name, stringsIfPresent(name))
    }

    /// The strings in the array of a member, nil where it is absent or null.
    public func stringsIfPresent(_ name: StaticString) throws(InvalidParameter) -> [String]? {
        guard let elements = try elements(name) else { return nil }
        guard elements.allSatisfy({ nodes[$0].isString }) else { throw InvalidParameter(name.description) }
        return elements.map { text(of: nodes[$0]) }
    }

    /// The map from strings to strings in the object of a member.
    public func stringMap(_ name: StaticString) throws(InvalidParameter) -> [String: String] {
        try required(name, stringMapIfPresent(name))
    }

    /// The map from strings to strings in the object of a member, nil where it is absent or null.
    @inlinable
    @inline(__always)
    public func stringMapIfPresent(_ name: StaticString) throws(InvalidParameter) -> [String: String]? {
        guard has(name) else { return nil }
        return try presentStringMap(name)
    }

    @usableFromInline
    func presentStringMap(_ name: StaticString) throws(InvalidParameter) -> [String: String]? {
        guard let member = find(name), nodes[member].kind != .null else { return nil }
        return try required(name, stringMap(at: member))
    }

    /// The map from strings to strings that a node is, nil where it is none.
    func stringMap(at container: Int) -> [String: String]? {
        guard nodes[container].kind == .object else { return nil }
        let members = children(of: container)
        var map = [String: String](minimumCapacity: members.count)
        for member in members {
            guard nodes[member].isString else { return nil }
            map[name(of: member)] = text(of: nodes[member])
        }
        return map
    }

    /// The map from strings to integers in the object of a member.
    public func integerMap(_ name: StaticString) throws(InvalidParameter) -> [String: Int64] {
        try required(name, integerMapIfPresent(name))
    }

    /// The map from strings to integers in the object of a member, nil where it is absent or null.
    public func integerMapIfPresent(_ name: StaticString) throws(InvalidParameter) -> [String: Int64]? {
        guard let members = try members(name) else { return nil }
        var map = [String: Int64](minimumCapacity: members.count)
        for member in members {
            guard let value = JSONNumber.integer(bytes.span, nodes[member]) else {
                throw InvalidParameter(name.description)
            }
            map[self.name(of: member)] = value
        }
        return map
    }

    /// The values of an enumeration in the array of a member, nil where it is absent or null.
    @inlinable
    public func valuesIfPresent<E: RawRepresentable<String>>(
        _ name: StaticString,
        as type: E.Type = E.self
    ) throws(InvalidParameter) -> [E]? {
        guard let raws = try stringsIfPresent(name) else { return nil }
        var values: [E] = []
        for raw in raws {
            guard let value = E(rawValue: raw) else { throw InvalidParameter(name.description) }
            values.append(value)
        }
        return values
    }

    private func elements(_ name: StaticString) throws(InvalidParameter) -> [Int]? {
        guard let member = find(name), nodes[member].kind != .null else { return nil }
        guard nodes[member].kind == .array else { throw InvalidParameter(name.description) }
        return children(of: member)
    }

    private func members(_ name: StaticString) throws(InvalidParameter) -> [Int]? {
        guard let member = find(name), nodes[member].kind != .null else { return nil }
        guard nodes[member].kind == .object else { throw InvalidParameter(name.description) }
        return children(of: member)
    }
}

/// Reads the elements of an array in one pass, from the first to the last, whatever each of them is.
///
/// What is read is what was asked for, or nil; either way the next element comes next. Where the text is no array, or has
/// fewer elements than are asked for, all further ones are nil, and ``isWhole`` tells at the end.
public struct JSONElements: Sendable {
    /// As many digits never exceed 64 bits.
    private static let safeDigits = 18

    private let text: [UInt8]
    private var scanner: JSONScanner
    private var state = State.open

    private enum State {
        /// An element has to come.
        case open
        /// The bracket that closes the array has been read.
        case closed
        case broken
    }

    /// - Parameters:
    ///   - bytes: of which the range is the text: one array, and whitespace at most.
    ///   - range: of the text.
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        text = bytes
        scanner = JSONScanner(range: range, reusing: [])
        scanner.skipWhitespace(bytes.span)
        guard scanner.position < scanner.end, bytes[scanner.position] == ASCII.openBracket else {
            state = .broken
            return
        }
        scanner.position += 1
        scanner.skipWhitespace(bytes.span)
    }

    /// Whether there is one more element, or something that is none.
    public var hasMore: Bool { state == .open }

    /// Whether the text was an array of the elements that were read, and nothing else.
    public var isWhole: Bool {
        guard state == .closed else { return false }
        if scanner.position == scanner.end { return true }
        var rest = scanner
        rest.skipWhitespace(text.span)
        return rest.position == rest.end
    }

    /// An integer: a number of 64 bits, signed, without fraction and exponent.
    public mutating func integer() -> Int64? {
        if let integer = digits() { return integer }
        return value { JSONNumber.integer($0.span, $1[0]) }
    }

    /// A string, read where it stands, or in a copy of it where it holds escapes.
    public mutating func withString<Result>(_ body: (UTF8Span) -> Result?) -> Result? {
        let bytes = text
        guard state == .open, scanner.position < scanner.end, bytes[scanner.position] == ASCII.quote else {
            // Whatever else it is.
            return value { _, _ in nil }
        }
        let start = scanner.position + 1
        scanner.position = start
        guard let isEscaped = try? scanner.scanString(bytes.span) else { return fail() }
        let range = start..<scanner.position - 1
        guard goOn() else { return nil }
        guard !isEscaped else { return body(JSONString.decode(bytes, in: range, isEscaped: true).utf8Span) }
        // What a scanner has found valid is UTF-8.
        return body(unsafe UTF8Span(unchecked: bytes.span.extracting(range)))
    }

    /// A string, a copy of it.
    public mutating func string() -> String? { withString { String(copying: $0) } }

    /// A map from strings to strings.
    public mutating func stringMap() -> [String: String]? {
        value { JSONObject(bytes: $0, nodes: $1, index: 0).stringMap(at: 0) }
    }

    /// Whether the next element is `null`, which is read then.
    public mutating func takeNull() -> Bool {
        let end = scanner.position + 4
        guard state == .open, end <= scanner.end, text[scanner.position..<end].elementsEqual("null".utf8) else {
            return false
        }
        scanner.position = end
        return goOn()
    }

    // MARK: Reading

    /// The value of an integer as it is written most often: up to 18 digits, between which and the comma is nothing.
    @inline(__always)
    private mutating func digits() -> Int64? {
        guard state == .open else { return nil }
        let bytes = text
        let span = bytes.span
        let (start, limit) = (scanner.position, min(scanner.end, scanner.position + Self.safeDigits))
        var value: Int64 = 0
        var place = start
        while place < limit {
            let digit = span[place] &- ASCII.zero
            guard digit <= 9 else { break }
            value = value &* 10 &+ Int64(digit)
            place += 1
        }
        let isNumber = place == start + 1 || place > start && span[start] != ASCII.zero
        guard isNumber, place < scanner.end, span[place] == ASCII.comma || span[place] == ASCII.closeBracket else {
            return nil
        }
        scanner.position = place
        return goOn() ? value : nil
    }

    /// Reads a value of any kind; the body is given the bytes of the text, and the nodes of the value.
    private mutating func value<Result>(_ body: ([UInt8], [JSONNode]) -> Result?) -> Result? {
        guard state == .open else { return fail() }
        let bytes = text
        scanner.count = 0
        scanner.name = .none
        guard (try? scanner.scanValue(bytes.span, depth: 2)) != nil else { return fail() }
        let result = body(bytes, scanner.nodes)
        return goOn() ? result : nil
    }

    private mutating func fail<Result>() -> Result? {
        state = .broken
        return nil
    }

    /// Reads what follows an element, and goes to the next one.
    @inline(__always)
    private mutating func goOn() -> Bool {
        let bytes = text
        guard let continues = try? scanner.continues(bytes.span, until: ASCII.closeBracket) else {
            state = .broken
            return false
        }
        if continues { scanner.skipWhitespace(bytes.span) } else { state = .closed }
        return true
    }
}

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
