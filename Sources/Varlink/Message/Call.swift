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
