extension JSONWriter {
    /// Writes a member that is a string.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: String) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a string, whose bytes are UTF-8.
    @inlinable
    public mutating func member(_ name: StaticString, utf8: Span<UInt8>) {
        write(name: name)
        write(utf8: utf8)
    }

    /// Writes a member that is an integer.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: Int64) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is an integer.
    public mutating func member(_ name: StaticString, _ value: Int) {
        member(name, Int64(value))
    }

    /// Writes a member that is a truth value.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: Bool) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a number, which has to be finite.
    public mutating func member(_ name: StaticString, _ value: Double) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is a value of an enumeration.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: some RawRepresentable<String>) {
        member(name, value.rawValue)
    }

    /// Writes a member that is an object.
    @inlinable
    public mutating func member(_ name: StaticString, _ value: some JSONEncodable) {
        member(name, object: { value.encode(into: &$0) })
    }

    /// Writes a member that is an array of objects.
    @inlinable
    public mutating func member(_ name: StaticString, _ values: [some JSONEncodable]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is an array of strings.
    public mutating func member(_ name: StaticString, _ values: [String]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is an array of values of an enumeration.
    @inlinable
    public mutating func member(_ name: StaticString, _ values: [some RawRepresentable<String>]) {
        array(name) { writer in
            for value in values { writer.element(value) }
        }
    }

    /// Writes a member that is a map from strings to strings, in the order of its keys.
    public mutating func member(_ name: StaticString, _ map: [String: String]) {
        member(name, object: { $0.write(map) })
    }

    /// Writes the members of a map.
    mutating func write(_ map: [String: String]) {
        for (key, value) in map.sorted(by: { $0.key < $1.key }) { member(named: key, value) }
    }

    /// Writes a member that is a map from strings to integers, in the order of its keys.
    public mutating func member(_ name: StaticString, _ map: [String: Int64]) {
        member(
            name,
            object: { writer in
                for (key, value) in map.sorted(by: { $0.key < $1.key }) { writer.member(named: key, value) }
            }
        )
    }

    /// Writes a member that is an object, whose members the closure writes.
    @inlinable
    public mutating func member(_ name: StaticString, object body: (inout JSONWriter) -> Void) {
        write(name: name)
        open(UInt8(ascii: "{"))
        body(&self)
        close(UInt8(ascii: "}"))
    }

    /// Writes a member that is an array, whose elements the closure writes.
    @inlinable
    public mutating func array(_ name: StaticString, _ body: (inout JSONWriter) -> Void) {
        write(name: name)
        open(UInt8(ascii: "["))
        body(&self)
        close(UInt8(ascii: "]"))
    }

    /// Writes a member whose value is JSON already.
    public mutating func member(_ name: StaticString, raw json: [UInt8]) {
        write(name: name)
        buffer.append(json)
    }

    /// Writes a member that is a string, under a name that is not known beforehand.
    public mutating func member(named name: String, _ value: String) {
        write(name: name)
        write(value)
    }

    /// Writes a member that is an integer, under a name that is not known beforehand.
    public mutating func member(named name: String, _ value: Int64) {
        write(name: name)
        write(value)
    }
}
