extension JSONWriter {
    /// Writes a member that is a string, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an integer, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: Int64?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a truth value, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: Bool?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a number, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: Double?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a value of an enumeration, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: (some RawRepresentable<String>)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an object, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: (some JSONEncodable)?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is a map from strings to strings, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ value: [String: String]?) {
        if let value { member(name, value) }
    }

    /// Writes a member that is an array, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [String]?) {
        if let values { member(name, values) }
    }

    /// Writes a member that is an array, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [some RawRepresentable<String>]?) {
        if let values { member(name, values) }
    }

    /// Writes a member that is an array, none where there is no value.
    @inlinable
    public mutating func memberIfPresent(_ name: StaticString, _ values: [some JSONEncodable]?) {
        if let values { member(name, values) }
    }
}
