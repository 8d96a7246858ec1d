/// A call as a service receives it.
public struct Call: Sendable {
    let target: MethodTarget
    /// The parameters; empty where the call has none.
    public let parameters: JSONObject
    /// Whether nothing is to be answered, not even an error.
    public let oneway: Bool
    /// Whether more than one reply is asked for.
    public let more: Bool
    /// Whether the connection is asked for, to speak another protocol on it.
    public let upgrade: Bool

    init(target: MethodTarget, _ header: CallHeader, of message: consuming JSONObject) {
        self.target = target
        parameters = header.parameters(in: message)
        oneway = header.oneway
        more = header.more
        upgrade = header.upgrade
    }

    /// The full name of the method: the interface's, a dot, and the method's own.
    public var method: String { target.fullName }
    /// The name of the interface.
    public var interface: String { target.interface }
    /// The name of the method within its interface.
    public var name: String { target.name }
}

/// What a session keeps of a call until its last reply: not the parameters, which would hold all the bytes that were
/// received with them.
public struct CallInProgress: Sendable {
    let target: MethodTarget
    /// Whether nothing is to be answered.
    public let oneway: Bool
    /// Whether there may be more than one reply.
    public let more: Bool

    /// The full name of the method.
    public var method: String { target.fullName }
}

/// Where the fields of a call stand in its message, checked against the rules of the header.
struct CallHeader {
    /// The nodes of the fields; 0, the message itself, stands for a field that is absent.
    private var fields = Fields()
    /// Whether nothing is to be answered.
    private(set) var oneway = false
    /// Whether more than one reply is asked for.
    private(set) var more = false
    /// Whether the connection is asked for.
    private(set) var upgrade = false

    private struct Fields {
        var method = 0
        var parameters = 0
        var oneway = 0
        var more = 0
        var upgrade = 0
    }

    /// That of a message whose first field is the method and whose second and last one the parameters.
    static let plain = CallHeader(fields: Fields(method: 1, parameters: 2))

    private init(fields: Fields) { self.fields = fields }

    /// Whether there is nothing but the method and then the parameters, which are an object.
    func isPlain(in message: JSONObject) -> Bool {
        fields.method == 1 && fields.parameters == 2 && message.endsWithParameters
    }

    /// The node of the method's full name.
    var method: Int { fields.method }

    /// Reads the header of a message. Of a field that stands twice the last one counts.
    init(_ message: borrowing JSONObject) throws(ProtocolViolation) {
        var member = 1
        while member < message.nodes[0].next {
            try note(message, member)
            member = Int(message.nodes[member].next)
        }
        guard fields.method > 0 else { throw .missingMethod }
        guard message.nodes[fields.method].isString else { throw .invalidField("method") }
        guard message.isHeaderObject(fields.parameters) else { throw .invalidField("parameters") }
        oneway = try message.headerFlag(fields.oneway, "oneway")
        more = try message.headerFlag(fields.more, "more")
        upgrade = try message.headerFlag(fields.upgrade, "upgrade")
        guard !(oneway && more), !(more && upgrade), !(upgrade && oneway) else { throw .conflictingFlags }
    }

    /// The parameters, empty where there are none.
    func parameters(in message: consuming JSONObject) -> JSONObject { message.headerObject(fields.parameters) }

    @inline(__always)
    private mutating func note(_ message: borrowing JSONObject, _ member: Int) throws(ProtocolViolation) {
        if message.isNamed(member, "method") {
            fields.method = member
        } else if message.isNamed(member, "parameters") {
            fields.parameters = member
        } else if message.isNamed(member, "more") {
            fields.more = member
        } else if message.isNamed(member, "oneway") {
            fields.oneway = member
        } else if message.isNamed(member, "upgrade") {
            fields.upgrade = member
        } else {
            try message.requireVendorField(member)
        }
    }
}

/// A reply as a client receives it.
public struct Reply: Sendable {
    /// The number of the call that it answers, as ``ClientSession/call(_:more:oneway:_:)`` told it.
    public let call: Int
    /// The full name of the error, nil where the call succeeded.
    public let error: String?
    /// The result, or the parameters of the error; empty where the reply has none.
    public let parameters: JSONObject
    /// Whether further replies to the same call follow.
    public let continues: Bool
}

/// The fields of a reply, checked against the rules of the header.
struct ReplyHeader {
    /// The full name of the error, nil where the call succeeded.
    let error: String?
    /// The result or the parameters of the error, empty where there are none.
    let parameters: JSONObject
    /// Whether further replies follow.
    let continues: Bool

    private struct Fields {
        var parameters = 0
        var error = 0
        var continues = 0
    }

    /// Reads the header of a message. Of a field that stands twice the last one counts.
    init(_ message: JSONObject) throws(ProtocolViolation) {
        let fields = try Self.fields(of: message)
        guard message.isHeaderObject(fields.parameters) else { throw .invalidField("parameters") }
        parameters = message.headerObject(fields.parameters)
        continues = try message.headerFlag(fields.continues, "continues")
        error = try Self.error(message, fields.error)
        guard error == nil || !continues else { throw .unexpectedContinues }
    }

    private static func fields(of message: JSONObject) throws(ProtocolViolation) -> Fields {
        var fields = Fields()
        for member in message.children(of: 0) {
            if message.isNamed(member, "parameters") {
                fields.parameters = member
            } else if message.isNamed(member, "continues") {
                fields.continues = member
            } else if message.isNamed(member, "error") {
                fields.error = member
            } else {
                try message.requireVendorField(member)
            }
        }
        return fields
    }

    private static func error(_ message: JSONObject, _ field: Int) throws(ProtocolViolation) -> String? {
        let node = message.nodes[field]
        guard field > 0, node.kind != .null else { return nil }
        guard node.isString else { throw .invalidField("error") }
        return message.text(of: node)
    }
}

/// The fields of a message, by their nodes; 0, the message itself, stands for a field that is absent.
extension JSONObject {
    /// A flag; `null` is the same as none, as the flags are `?bool`.
    func headerFlag(_ field: Int, _ name: String) throws(ProtocolViolation) -> Bool {
        guard field > 0 else { return false }
        switch nodes[field].kind {
        case .true: return true
        case .false, .null: return false
        default: throw .invalidField(name)
        }
    }

    /// Whether the second field is an object and the last one.
    @inline(__always)
    var endsWithParameters: Bool { nodes[2].kind == .object && nodes[2].next == nodes[0].next }

    /// Whether no other one of the parameters, which are the second field, has the name of the first one.
    var namesFirstParameterOnce: Bool {
        let first = nodes[3]
        guard !first.name.isEscaped else { return false }
        var member = Int(first.next)
        while member < nodes[2].next {
            let other = nodes[member]
            guard !other.name.isEscaped, bytes[other.nameRange] != bytes[first.nameRange] else { return false }
            member = Int(other.next)
        }
        return true
    }

    /// Whether a field is absent or an object; `null` is the same as none, as the parameters are `?object`.
    func isHeaderObject(_ field: Int) -> Bool { nodes[field].kind == .object || nodes[field].kind == .null }

    /// The object of a field that ``isHeaderObject(_:)``, empty where it is absent.
    consuming func headerObject(_ field: Int) -> JSONObject {
        guard field > 0 && nodes[field].kind == .object else { return .empty }
        index = field
        return self
    }

    /// Refuses a field that is not known and no vendor's: theirs are named in reverse-domain notation.
    func requireVendorField(_ member: Int) throws(ProtocolViolation) {
        let name = name(of: member)
        guard name.utf8.contains(ASCII.dot) else { throw .unknownField(name) }
    }
}

/// What a peer sent that no rule of Varlink lets stand. There is no reply to it: the connection is to be closed.
public enum ProtocolViolation: Error, Equatable, Sendable {
    /// The message is not JSON, or not an object.
    case invalidJSON(JSONFailure)
    /// The message is longer than the receiver takes, in bytes.
    case messageTooLong(limit: Int)
    /// A call without a method.
    case missingMethod
    /// A field of the header is not what it has to be: the method and the error strings, flags booleans, parameters an
    /// object.
    case invalidField(String)
    /// A field of the header that is not known, and no vendor's, whose names have a dot.
    case unknownField(String)
    /// More than one of `oneway`, `more` and `upgrade` in one call.
    case conflictingFlags
    /// A reply, though no call waits for one.
    case unexpectedReply
    /// `continues` in the reply to a call without `more`, or beside an error.
    case unexpectedContinues
}
