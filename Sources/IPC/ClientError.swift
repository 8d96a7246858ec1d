import System
import Text
public import Varlink

/// Why a call to the daemon has no reply, or an error as its reply.
public enum ClientError: Error, Equatable {
    /// There is no place for the daemon's socket.
    case address(AddressError)
    /// The task was cancelled. The daemon may or may not have executed the call.
    case cancelled
    /// Nothing accepted the connection to that path. With ENOENT and ECONNREFUSED no daemon is there.
    case unreachable(path: String, errno: Int32)
    /// The connection was closed before the reply.
    case disconnected
    /// The daemon closed the connection because a call had this many bytes, more than it accepts.
    case callTooLong(bytes: Int)
    /// A system call on the connection failed.
    case failed(errno: Int32)
    /// The daemon answered with an error of its interface.
    case countdown(CountdownError)
    /// The daemon answered with an error of the Varlink protocol.
    case service(ServiceError)
    /// The daemon answered with an error that this client does not know: it is newer, or it is another service.
    case unknownError(name: String)
    /// The bytes that were received are not a reply.
    case protocolViolation(ProtocolViolation)
    /// A member of the reply is missing or has the wrong type.
    case invalidReply(method: String, member: String)
}

extension ClientError {
    /// The key of the countdown that the error is about; nil if it is about none.
    public var key: String? {
        if case .countdown(let error) = self { error.key } else { nil }
    }

    /// The path of the socket of this user's daemon.
    static func pathOfDaemon() throws(ClientError) -> String {
        do {
            return try Address.forClient().path
        } catch {
            throw .address(error)
        }
    }
}

extension ClientError: CustomStringConvertible {
    /// The error in one sentence.
    public var description: String {
        switch self {
        case .address(let error): error.description
        case .cancelled: "the task was cancelled"
        case .unreachable(let path, let code): "no daemon at \(PrintableText.escape(path)): \(systemMessage(code))"
        case .disconnected: "the daemon closed the connection"
        case .callTooLong(let bytes):
            "the call has \(bytes) bytes, and the daemon accepts at most \(Interface.callLimit)"
        case .failed(let code): "the connection to the daemon failed: \(systemMessage(code))"
        case .countdown(.limitReached(let limit, let maximum)): "the daemon's limit \(limit) of \(maximum) is reached"
        case .countdown(.storageFailed(let reason)):
            "the daemon cannot use its store: \(PrintableText.escape(reason))"
        case .countdown(.unreachable(let reason)):
            "the daemon has no answer from its fleet: \(PrintableText.escape(reason)); a change may have been made"
        case .countdown(let error): "the daemon refused the call: \(error.name.rawValue)"
        case .service(.permissionDenied): "the daemon serves another user"
        case .service(let error): "the daemon refused the call: \(error)"
        case .unknownError(let name): "the daemon answered with the unknown error \(PrintableText.escape(name))"
        case .protocolViolation, .invalidReply: "the service does not speak the protocol of countdownd"
        }
    }
}
