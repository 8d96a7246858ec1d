public import Varlink

/// Why a call to the daemon has no reply, or not the one that was asked for.
public enum ClientError: Error, Equatable {
    /// Nothing could be connected to at that path; ENOENT and ECONNREFUSED: no daemon is there.
    case unreachable(path: String, errno: Int32)
    /// The connection broke off before the reply.
    case disconnected
    /// The daemon hung up on a call of so many bytes, more than `Interface.callLimit`.
    case callTooLong(bytes: Int)
    /// A system call on the connection failed.
    case failed(errno: Int32)
    /// The daemon refused, for a reason of its interface.
    case countdown(CountdownError)
    /// The daemon refused, for a reason of the protocol.
    case service(ServiceError)
    /// The daemon answered an error that this client does not know: a newer daemon, or another service.
    case unknownError(name: String)
    /// What came is no reply.
    case protocolViolation(ProtocolViolation)
    /// A member of the reply is missing or of the wrong type.
    case invalidReply(method: String, member: String)
}
