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
