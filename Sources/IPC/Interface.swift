public import Varlink

/// The interface `io.countdownd`: what the daemon serves and what its clients call.
public enum Interface {
    /// The name before the last dot of every method and error of this interface.
    public static let name = "io.countdownd"

    /// The text of the definition, as `GetInterfaceDescription` answers it. Its comments are the semantics.
    public static let definition = String(decoding: PackageResources.io_countdownd_varlink, as: UTF8.self)

    /// The longest call that a daemon takes, in bytes without the NUL behind it.
    public static let callLimit = 256 << 10

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [
        Start.self, Get.self, List.self, Cancel.self, Finish.self, Pause.self, Resume.self, Adjust.self, Wait.self,
        Watch.self, GetStatus.self,
    ]

    /// The interface as a service lists it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )
}

/// A method of `io.countdownd`: its parameters, and the type of its reply. What they mean stands in the definition.
///
/// Parameters are decoded strictly: a member that the definition lacks, one that is missing and one of the wrong type
/// are `InvalidParameter` of its name. Replies are decoded with room for a newer daemon: members that are not known are
/// passed over.
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
    /// As it is at the instant of the reply.
    public var countdown: Countdown

    public init(countdown: Countdown) {
        self.countdown = countdown
    }

    public func encode(into writer: inout JSONWriter) { Self.encode(countdown, into: &writer) }

    /// Writes the members, for whoever has the countdown in other words.
    @inlinable
    public static func encode(_ countdown: some JSONEncodable, into writer: inout JSONWriter) {
        writer.member("countdown", countdown)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        countdown = try object.decoded("countdown", as: Countdown.self)
    }
}
