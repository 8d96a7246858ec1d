public import Varlink

/// The Varlink interface `io.countdownd`.
public enum Interface {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "io.countdownd"

    /// The text of the definition, as `GetInterfaceDescription` returns it. Its comments are the contract.
    public static let definition = String(decoding: PackageResources.io_countdownd_varlink, as: UTF8.self)

    /// The longest call that the daemon accepts, in bytes without the NUL at its end.
    public static let callLimit = 256 << 10

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [
        Start.self, Get.self, List.self, Cancel.self, Finish.self, Pause.self, Resume.self, Adjust.self, Wait.self,
        Watch.self, GetStatus.self,
    ]

    /// The interface as a Varlink service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )
}

/// A method of `io.countdownd`: its parameters and the type of its reply. ``Interface/definition`` explains them.
///
/// Parameters are decoded strictly: an unknown member, a missing one and one of the wrong type are `InvalidParameter` with
/// the member's name. In replies unknown members are ignored, because a newer daemon may send them.
public protocol Method: Sendable, Hashable, JSONEncodable, JSONDecodable {
    associatedtype Reply: Sendable, Hashable, JSONEncodable, JSONDecodable

    /// The name within the interface: `Start`.
    static var name: String { get }
}

extension Method {
    /// The name on the wire: `io.countdownd.Start`.
    public static var fullName: String { "\(Interface.name).\(name)" }
}

/// The reply of every method that answers with one countdown.
public struct CountdownReply: Sendable, Hashable, JSONEncodable, JSONDecodable {
    /// The countdown at the instant of the reply.
    public var countdown: Countdown

    public init(countdown: Countdown) {
        self.countdown = countdown
    }

    public func encode(into writer: inout JSONWriter) { Self.encode(countdown, into: &writer) }

    /// Writes the members for a countdown in another form.
    @inlinable
    public static func encode(_ countdown: some JSONEncodable, into writer: inout JSONWriter) {
        writer.member("countdown", countdown)
    }

    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        var countdown = JSONMember<Countdown>("countdown")
        reader.knownMembers { countdown.read(&$0) }
        self.countdown = try countdown.required
    }
}
