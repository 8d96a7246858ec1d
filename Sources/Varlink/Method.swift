/// A method of an interface: its parameters and the type of its reply. `varlink-generate` makes these types from a definition.
///
/// Parameters are decoded strictly: an unknown member, a missing one and one of the wrong type are `InvalidParameter` with
/// the member's name. In replies unknown members are skipped, because a newer peer may send them.
public protocol Method: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// What the method answers.
    associatedtype Reply: Sendable, Hashable, JSONEncodable, JSONDecodable

    /// The name of the interface: `org.example.Kettle`.
    static var interface: String { get }
    /// The name within the interface: `Boil`.
    static var name: String { get }
}

extension Method {
    /// The name on the wire: `org.example.Kettle.Boil`.
    public static var fullName: String { "\(interface).\(name)" }
}

/// The errors of an interface. `varlink-generate` makes this type from a definition.
public protocol InterfaceError: ReplyError, Sendable, Hashable {
    /// The names of the errors on the wire, with the interface, in the order of the definition.
    associatedtype WireName: RawRepresentable<String>, CaseIterable, Sendable, Hashable

    /// The name of the error.
    var name: WireName { get }

    /// The error of that name with the parameters of its reply, in an object that was entered. Unknown members are skipped.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter)
}

extension InterfaceError {
    /// The name on the wire, with the interface.
    public var errorName: String { name.rawValue }

    /// The error of a reply; nil if the call succeeded, or if another interface has the error.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init?(_ reply: Reply) throws(InvalidParameter) {
        guard let name = reply.error.flatMap(WireName.init(rawValue:)) else { return nil }
        self = try reply.readParameters { reader throws(InvalidParameter) in try Self(name, from: &reader) }
    }
}
