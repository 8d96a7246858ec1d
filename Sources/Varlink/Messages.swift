/// A call as a service receives it. Its parameters are read from the session: see ``ServerSession/parameters(as:)``.
public struct Call: Sendable {
    let target: ServiceMethod
    /// Whether the client wants no reply, not even an error.
    public let oneway: Bool
    /// Whether the client accepts more than one reply.
    public let more: Bool
    /// Whether the client wants to use the connection for another protocol.
    public let upgrade: Bool

    /// The full name of the method: the interface's name, a dot, and the method's own name.
    public var method: String { target.fullName }
    /// The name of the interface.
    public var interface: String { target.interface }
    /// The name of the method within its interface.
    public var name: String { target.name }
}

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
    public func parameters<Value: JSONDecodable>(
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value {
        try readParameters { reader throws(InvalidParameter) in try Value(from: &reader) }
    }

    /// One of the parameters, nil if it is absent or null.
    ///
    /// - Throws: its name if it is not of the type.
    public func parameter<Value: JSONReadable>(
        _ name: StaticString,
        as type: Value.Type = Value.self
    ) throws(InvalidParameter) -> Value? {
        var member = JSONMember<Value>(name)
        readParameters { reader in reader.knownMembers { member.read(&$0) } }
        return try member.optional
    }

    /// Reads the parameters, an object that was entered.
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

/// A message that breaks the rules of Varlink (UAPI.20). There is no reply to it: the connection is to be closed.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// The message is not valid JSON, or not an object.
    case invalidJSON(JSONError)
    /// The message is longer than the receiver's limit, in bytes.
    case messageTooLong(limit: Int)
    /// A call without a method.
    case missingMethod
    /// A header field of the wrong type: method and error are strings, flags are booleans, parameters are an object.
    case invalidField(String)
    /// An unknown header field. Names with a dot belong to vendors and are ignored.
    case unknownField(String)
    /// More than one of `oneway`, `more` and `upgrade` in one call.
    case conflictingFlags
    /// A reply although no call waits for one.
    case unexpectedReply
    /// `continues` in a reply to a call without `more`, or in an error.
    case unexpectedContinues
}

/// The place of a string in a message.
struct StringPlace: JSONReadable {
    let range: JSONReader.StringRange

    static func read(from reader: inout JSONReader) -> StringPlace? { reader.stringRange().map(StringPlace.init) }
}

/// The place of an object in a message.
struct ObjectPlace: JSONReadable {
    let range: Range<Int>

    static func read(from reader: inout JSONReader) -> ObjectPlace? { reader.objectRange().map(ObjectPlace.init) }
}

/// The header of a call, checked against the rules. If a field occurs more than once, its last value counts; a field that
/// is null is the same as an absent one.
struct CallHeader {
    let method: JSONReader.StringRange
    /// The place of the parameters in the message; nil if there are none.
    let parameters: Range<Int>?
    let oneway: Bool
    let more: Bool
    let upgrade: Bool

    /// Reads and validates a whole message.
    init(from reader: inout JSONReader) throws(ProtocolViolation) {
        var method = JSONMember<StringPlace>("method")
        var parameters = JSONMember<ObjectPlace>("parameters")
        var more = JSONMember<Bool>("more")
        var oneway = JSONMember<Bool>("oneway")
        var upgrade = JSONMember<Bool>("upgrade")
        try reader.header {
            method.read(&$0) || parameters.read(&$0) || more.read(&$0) || oneway.read(&$0) || upgrade.read(&$0)
        }
        guard let method = try method.field else { throw .missingMethod }
        self.method = method.range
        self.parameters = try parameters.field?.range
        self.oneway = try oneway.field ?? false
        self.more = try more.field ?? false
        self.upgrade = try upgrade.field ?? false
        guard !(self.oneway && self.more), !(self.more && self.upgrade), !(self.upgrade && self.oneway) else {
            throw .conflictingFlags
        }
    }
}

/// The header of a reply, checked against the rules.
struct ReplyHeader {
    /// The full name of the error, nil if the call succeeded.
    let error: String?
    /// The place of the parameters in the message; nil if there are none.
    let parameters: Range<Int>?
    /// Whether further replies follow.
    let continues: Bool

    /// Reads and validates a whole message.
    init(from reader: inout JSONReader) throws(ProtocolViolation) {
        var parameters = JSONMember<ObjectPlace>("parameters")
        var continues = JSONMember<Bool>("continues")
        var error = JSONMember<String>("error")
        try reader.header { parameters.read(&$0) || continues.read(&$0) || error.read(&$0) }
        self.parameters = try parameters.field?.range
        self.continues = try continues.field ?? false
        self.error = try error.field
        guard self.error == nil || !self.continues else { throw .unexpectedContinues }
    }
}

extension JSONReader {
    /// Reads a whole message. Unknown fields without a dot in their names are refused.
    @inline(__always)
    fileprivate mutating func header(_ read: (inout JSONReader) -> Bool) throws(ProtocolViolation) {
        var unknown: String?
        if beginText() {
            while nextMember() {
                guard !read(&self) else { continue }
                if unknown == nil, !memberName.utf8.contains(ASCII.dot) { unknown = memberName }
                skip()
            }
        }
        if let error = finish() { throw .invalidJSON(error) }
        if let unknown { throw .unknownField(unknown) }
    }
}

extension JSONMember {
    /// The value of a header field, nil if it is absent or null.
    fileprivate var field: Value? {
        get throws(ProtocolViolation) {
            do { return try optional } catch { throw .invalidField(error.parameter) }
        }
    }
}
