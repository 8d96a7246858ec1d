/// A value that is an object in JSON and can be written.
public protocol JSONEncodable {
    /// Writes the members of the object. Its braces are written by whoever calls.
    func encode(into writer: inout JSONWriter)
}

/// A value that is an object in JSON and can be read.
public protocol JSONDecodable {
    /// Reads the value from the members of an object; throws the name of the one that is missing or invalid.
    init(decoding object: JSONObject) throws(InvalidParameter)
}

extension JSONObject {
    /// A value of the given type, read from the object of a member.
    @inlinable
    public func decoded<Value: JSONDecodable>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value {
        try Value(decoding: object(name))
    }

    /// A value of the given type, read from the object of a member, nil where it is absent or null.
    @inlinable
    public func decodedIfPresent<Value: JSONDecodable>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value? {
        guard let object = try objectIfPresent(name) else { return nil }
        return try Value(decoding: object)
    }

    /// Values of the given type, read from the objects in the array of a member.
    @inlinable
    public func decodedArray<Value: JSONDecodable>(
        _ name: StaticString,
        of type: Value.Type = Value.self
    ) throws(InvalidParameter) -> [Value] {
        var values: [Value] = []
        for object in try objects(name) { values.append(try Value(decoding: object)) }
        return values
    }
}
