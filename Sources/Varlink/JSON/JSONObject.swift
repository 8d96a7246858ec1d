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
