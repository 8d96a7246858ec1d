extension JSONWriter {
    /// Writes an element that is a string.
    public mutating func element(_ value: String) {
        separate()
        write(value)
    }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int64) {
        separate()
        write(value)
    }

    /// Writes an element that is an integer.
    public mutating func element(_ value: Int) { element(Int64(value)) }

    /// Writes an element that is a truth value.
    public mutating func element(_ value: Bool) {
        separate()
        write(value)
    }

    /// Writes an element that is a number, which has to be finite.
    public mutating func element(_ value: Double) {
        separate()
        write(value)
    }

    /// Writes an element that is `null`.
    public mutating func elementNull() {
        separate()
        buffer.append(literal: "null")
    }

    /// Writes an element that is a map from strings to strings, in the order of its keys.
    public mutating func element(_ map: [String: String]) { object { $0.write(map) } }

    /// Writes an element that is a value of an enumeration.
    @inlinable
    public mutating func element(_ value: some RawRepresentable<String>) { element(value.rawValue) }

    /// Writes an element that is an object.
    @inlinable
    public mutating func element(_ value: some JSONEncodable) {
        object { value.encode(into: &$0) }
    }

    /// Writes an element that is JSON already.
    public mutating func element(raw json: [UInt8]) {
        separate()
        buffer.append(json)
    }
}
