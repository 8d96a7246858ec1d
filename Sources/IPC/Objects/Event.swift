public import Varlink

/// One thing that a watcher is told.
public struct Event: Sendable, Hashable {
    /// What happened.
    public var type: EventType
    /// Carried by a change, `synced` and `heartbeat`: all up to it has been told, so the newest one seen is the next
    /// `since`.
    public var revision: Int64?
    /// Carried by all but `synced` and `heartbeat`.
    public var key: String?
    /// Carried by all but `synced` and `heartbeat`; microseconds.
    public var remainingUSec: Int64?
    /// Carried by `finished`: how long after the deadline the daemon ended it, the same in every telling.
    public var lateUSec: Int64?
    /// Carried by `attached` and each change.
    public var countdown: Countdown?

    public init(
        type: EventType,
        revision: Int64? = nil,
        key: String? = nil,
        remainingUSec: Int64? = nil,
        lateUSec: Int64? = nil,
        countdown: Countdown? = nil
    ) {
        self.type = type
        self.revision = revision
        self.key = key
        self.remainingUSec = remainingUSec
        self.lateUSec = lateUSec
        self.countdown = countdown
    }
}

extension Event: JSONEncodable, JSONDecodable {
    public func encode(into writer: inout JSONWriter) {
        let figures = EventFigures(type: type, revision: revision, remainingUSec: remainingUSec, lateUSec: lateUSec)
        if let key {
            figures.encode(key: key.utf8Span.span, into: &writer)
        } else {
            figures.encode(key: nil, into: &writer)
        }
        writer.memberIfPresent("countdown", countdown)
    }

    /// A type that is not known is `InvalidParameter("type")`: who reads a stream passes over it before.
    public init(decoding object: JSONObject) throws(InvalidParameter) {
        type = try object.value("type", as: EventType.self)
        revision = try object.integerIfPresent("revision")
        key = try object.stringIfPresent("key")
        remainingUSec = try object.integerIfPresent("remainingUSec")
        lateUSec = try object.integerIfPresent("lateUSec")
        countdown = try object.decodedIfPresent("countdown", as: Countdown.self)
    }
}
