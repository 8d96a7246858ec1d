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
