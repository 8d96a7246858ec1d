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
