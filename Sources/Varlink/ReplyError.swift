/// An error that a service answers.
public protocol ReplyError: Error {
    /// The full name of the error, such as `org.varlink.service.InvalidParameter`.
    var errorName: String { get }

    /// Writes the members of the error's parameters; the caller writes the braces.
    func encodeParameters(into writer: inout JSONWriter)
}

/// A parameter is missing, unknown, of the wrong type or out of range: `org.varlink.service.InvalidParameter`.
public struct InvalidParameter: ReplyError, Hashable {
    /// The name of the parameter.
    public let parameter: String

    /// The error that names a parameter.
    public init(_ parameter: String) { self.parameter = parameter }

    /// The full name of the error.
    public var errorName: String { "org.varlink.service.InvalidParameter" }

    /// Writes the name of the parameter.
    public func encodeParameters(into writer: inout JSONWriter) { writer.member("parameter", parameter) }
}
