import Varlink

/// A small service that the sessions of these tests serve.
enum EchoService {
    static let definition = """
        interface org.example.echo
        method Echo(text: ?string) -> (text: ?string)
        method Count(to: int) -> (number: int)
        error Refused (reason: string)
        """

    static let description = ServiceDescription(
        vendor: "Example",
        product: "Echo",
        version: "1",
        url: "https://example.org/echo",
        interfaces: [
            InterfaceDescription(name: "org.example.echo", definition: definition, methods: ["Echo", "Count"])
        ]
    )

    /// A session with a limit that these tests do not meet by accident.
    static func session(messageLimit: Int = 4096) -> ServerSession {
        ServerSession(service: description, messageLimit: messageLimit)
    }

    struct Refused: ReplyError {
        let reason: String
        var errorName: String { "org.example.echo.Refused" }
        func encodeParameters(into writer: inout JSONWriter) { writer.member("reason", reason) }
    }

    /// Carries out what the session has to be done, until it needs more bytes; the violation that ended it, if any.
    static func serve(_ session: inout ServerSession) -> ProtocolViolation? {
        while let step = session.next() {
            switch step {
            case .call(let call): answer(call, in: &session)
            case .answered: break
            case .violation(let violation): return violation
            }
        }
        return nil
    }

    private static func answer(_ call: Call, in session: inout ServerSession) {
        do {
            try call.name == "Echo" ? echo(call, in: &session) : count(call, in: &session)
        } catch {
            session.fail(error)
        }
    }

    private static func echo(_ call: Call, in session: inout ServerSession) throws(InvalidParameter) {
        var member = JSONMember<String>("text")
        try session.readParameters { reader throws(InvalidParameter) in try reader.members { member.read(&$0) } }
        let text = try member.optional
        guard text != "refuse" else { return session.fail(Refused(reason: "asked to")) }
        session.reply { $0.memberIfPresent("text", text) }
    }

    private static func count(_ call: Call, in session: inout ServerSession) throws(InvalidParameter) {
        var member = JSONMember<Int64>("to")
        try session.readParameters { reader throws(InvalidParameter) in try reader.members { member.read(&$0) } }
        let last = try member.required
        guard call.more else { return session.fail(ServiceError.expectedMore) }
        guard last > 0 else { throw InvalidParameter("to") }
        for number in 1...last { session.reply(continues: number < last) { $0.member("number", number) } }
    }
}
