public import Varlink

/// Adds or takes time, or sets another deadline: exactly one of both.
public struct Adjust: Method {
    /// The countdown as it is now.
    public typealias Reply = CountdownReply

    public static let name = "Adjust"

    /// The key of a countdown that runs or is paused.
    public var key: String
    /// Microseconds to add, or, below 0, to take.
    public var byUSec: Int64?
    /// Microseconds since 1970.
    public var deadlineUSec: Int64?
    /// The revision that the countdown must have; `RevisionMismatch` where it has another.
    public var ifRevision: Int64?

    public init(key: String, byUSec: Int64? = nil, deadlineUSec: Int64? = nil, ifRevision: Int64? = nil) {
        self.key = key
        self.byUSec = byUSec
        self.deadlineUSec = deadlineUSec
        self.ifRevision = ifRevision
    }

    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("byUSec", byUSec)
        writer.memberIfPresent("deadlineUSec", deadlineUSec)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("key", "byUSec", "deadlineUSec", "ifRevision")
        key = try object.string("key")
        byUSec = try object.integerIfPresent("byUSec")
        deadlineUSec = try object.integerIfPresent("deadlineUSec")
        ifRevision = try object.integerIfPresent("ifRevision")
    }
}
