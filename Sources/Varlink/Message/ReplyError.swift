/// What a service answers in place of a result.
public protocol ReplyError: Error {
    /// The full name of the error, such as `org.varlink.service.InvalidParameter`.
    var errorName: String { get }

    /// Writes the members of the error's parameters; the braces are written by whoever calls.
    func encodeParameters(into writer: inout JSONWriter)
}

/// A parameter is missing, unknown, ill-typed or out of range: `org.varlink.service.InvalidParameter`.
public struct InvalidParameter: ReplyError, Hashable {
    /// The name of the parameter.
    public let parameter: String

    /// The error that names a parameter.
    public init(_ parameter: String) { self.parameter = parameter }

    public var errorName: String { "org.varlink.service.InvalidParameter" }

    public func encodeParameters(into writer: inout JSONWriter) { writer.member("parameter", parameter) }
}
