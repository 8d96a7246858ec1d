/// The errors of `org.varlink.service`, which any method may answer.
public enum ServiceError: ReplyError, Hashable {
    /// The service has no interface of this name.
    case interfaceNotFound(String)
    /// The interface has no method of this full name.
    case methodNotFound(String)
    /// The interface has the method of this full name, but the service does not implement it.
    case methodNotImplemented(String)
    /// The parameter of this name is missing, unknown, of the wrong type or out of range.
    case invalidParameter(String)
    /// The client may not do this.
    case permissionDenied
    /// The method answers with a stream, for which the call needs `more`.
    case expectedMore

    /// The error that a reply names; nil if it is none of these, or lacks its parameter.
    public init?(_ reply: Reply) {
        func parameter(_ name: StaticString) -> String? { try? reply.parameter(name) }
        let error: ServiceError? =
            switch reply.error {
            case "org.varlink.service.InterfaceNotFound": parameter("interface").map(Self.interfaceNotFound)
            case "org.varlink.service.MethodNotFound": parameter("method").map(Self.methodNotFound)
            case "org.varlink.service.MethodNotImplemented": parameter("method").map(Self.methodNotImplemented)
            case "org.varlink.service.InvalidParameter": parameter("parameter").map(Self.invalidParameter)
            case "org.varlink.service.PermissionDenied": .permissionDenied
            case "org.varlink.service.ExpectedMore": .expectedMore
            default: nil
            }
        guard let error else { return nil }
        self = error
    }

    /// The full name of the error.
    public var errorName: String {
        switch self {
        case .interfaceNotFound: "org.varlink.service.InterfaceNotFound"
        case .methodNotFound: "org.varlink.service.MethodNotFound"
        case .methodNotImplemented: "org.varlink.service.MethodNotImplemented"
        case .invalidParameter: "org.varlink.service.InvalidParameter"
        case .permissionDenied: "org.varlink.service.PermissionDenied"
        case .expectedMore: "org.varlink.service.ExpectedMore"
        }
    }

    /// Writes what the error names, if it names anything.
    public func encodeParameters(into writer: inout JSONWriter) {
        switch self {
        case .interfaceNotFound(let name): writer.member("interface", name)
        case .methodNotFound(let name), .methodNotImplemented(let name): writer.member("method", name)
        case .invalidParameter(let name): writer.member("parameter", name)
        case .permissionDenied, .expectedMore: break
        }
    }
}
