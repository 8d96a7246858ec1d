public import Varlink

/// A method that changes the state of the countdown under a key, on condition of a revision where one is given.
public protocol ChangeMethod: Method where Reply == CountdownReply {
    /// The key of the countdown.
    var key: String { get }
    /// The revision that the countdown must have; `RevisionMismatch` where it has another.
    var ifRevision: Int64? { get }

    /// A call for the countdown under a key.
    init(key: String, ifRevision: Int64?)
}

extension ChangeMethod {
    public func encode(into writer: inout JSONWriter) {
        writer.member("key", key)
        writer.memberIfPresent("ifRevision", ifRevision)
    }

    public init(decoding object: JSONObject) throws(InvalidParameter) {
        try object.allowOnly("key", "ifRevision")
        self.init(key: try object.string("key"), ifRevision: try object.integerIfPresent("ifRevision"))
    }
}

/// Ends a countdown before its deadline.
public struct Cancel: ChangeMethod {
    public static let name = "Cancel"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Finishes a countdown now.
public struct Finish: ChangeMethod {
    public static let name = "Finish"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Freezes the remaining time.
public struct Pause: ChangeMethod {
    public static let name = "Pause"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}

/// Runs a paused countdown again, towards now plus what remained.
public struct Resume: ChangeMethod {
    public static let name = "Resume"

    public var key: String
    public var ifRevision: Int64?

    public init(key: String, ifRevision: Int64? = nil) {
        self.key = key
        self.ifRevision = ifRevision
    }
}
