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
