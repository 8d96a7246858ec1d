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
