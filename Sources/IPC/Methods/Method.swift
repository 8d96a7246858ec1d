public import Varlink

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
