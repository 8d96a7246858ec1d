public import Varlink

/// A method whose one parameter is a key.
public protocol KeyMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }

    /// A call for the countdown under a key.
    init(key: String)
}

extension KeyMethod {
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        self.init(key: try Self.key(in: object) { String(copying: $0) })
    }

    /// Reads the parameters, for whoever has keys in other words, which the closure makes of it.
    @inlinable
    public static func key<Key>(in object: JSONObject, _ make: (UTF8Span) -> Key) throws(InvalidParameter) -> Key {
        try object.allowOnly("key")
        return try object.withString("key", make)
    }
}

/// The countdown under a key; one that ended is told until it is trimmed.
public struct Get: KeyMethod {
    public static let name = "Get"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}

/// Answered when the countdown under the key ends, at once where it has ended and is still known. Later calls on the
/// connection wait too.
public struct Wait: KeyMethod {
    public static let name = "Wait"

    public var key: String

    public init(key: String) {
        self.key = key
    }
}
