/// A reply as a client receives it.
public struct Reply: Sendable {
    /// The number of the call that it answers, as returned by ``ClientSession/call(_:more:oneway:_:)``.
    public let call: Int
    /// The full name of the error, nil if the call succeeded.
    public let error: String?
    /// Whether further replies to the same call follow.
    public let continues: Bool
    /// The JSON text of the result, or of the error's parameters.
    public let parameters: [UInt8]

    /// Decodes the parameters.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    @inlinable
    public func parameters<Value: JSONDecodable>(
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value {
        try readParameters { reader throws(InvalidParameter) in try Value(from: &reader) }
    }

    /// One of the parameters, nil if it is absent or null.
    ///
    /// - Throws: its name if it is not of the type.
    @inlinable
    public func parameter<Value: JSONReadable>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value? {
        try readParameters { reader throws(InvalidParameter) in try reader.memberIfPresent(name) }
    }

    /// Reads the parameters, an object that was entered.
    @inlinable
    public func readParameters<Result: ~Copyable, Failure>(
        _ body: (inout JSONReader) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try JSONReader.read(copying: parameters) { reader throws(Failure) in
            // The whole message was validated when it was received.
            _ = reader.beginText()
            return try body(&reader)
        }
    }
}

/// The header of a reply, checked against the rules.
struct ReplyHeader {
    /// The full name of the error, nil if the call succeeded.
    let error: String?
    /// The place of the parameters in the message; nil for a reply without parameters.
    let parameters: Range<Int>?
    /// Whether further replies follow.
    let continues: Bool

    /// Reads and validates a whole message.
    init(from reader: inout JSONReader) throws(ProtocolViolation) {
        var parameters = HeaderField<Range<Int>>("parameters")
        var continues = HeaderField<Bool>("continues")
        var error = HeaderField<String>("error")
        try reader.header { reader in
            parameters.read(&reader) { $0.objectRange() } || continues.read(&reader) { $0.boolean() }
                || error.read(&reader) { $0.string() }
        }
        self.parameters = try parameters.optional
        self.continues = try continues.optional ?? false
        self.error = try error.optional
        guard self.error == nil || !self.continues else { throw .unexpectedContinues }
    }
}
