public import Varlink

/// An event of a watch.
public struct Event: Sendable, Hashable {
    /// The type, which decides the other fields.
    public var type: Event.Kind
    /// The revision of a change, of `synced` and of `heartbeat`. Everything up to it has been reported, so the newest one is
    /// the `since` of the next watch.
    public var revision: Int64?
    /// The countdown's key; nil for `synced` and `heartbeat`.
    public var key: String?
    package var remainingUSec: Int64?
    package var lateUSec: Int64?
    /// The countdown, for `attached` and changes.
    public var countdown: Countdown?

    /// The remaining time; nil for `synced` and `heartbeat`.
    public var remaining: Duration? { remainingUSec.map(Duration.microseconds) }
    /// For `finished`: how long after the deadline the daemon ended the countdown. It is the same in every report.
    public var late: Duration? { lateUSec.map(Duration.microseconds) }

    package init(
        type: Event.Kind,
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
    /// Writes the members of the event; those that are nil are left out.
    public func encode(into writer: inout JSONWriter) {
        writer.member("type", type)
        writer.memberIfPresent("revision", revision)
        writer.memberIfPresent("key", key)
        writer.memberIfPresent("remainingUSec", remainingUSec)
        writer.memberIfPresent("lateUSec", lateUSec)
        writer.memberIfPresent("countdown", countdown)
    }

    /// An unknown type is `InvalidParameter("type")`. Unknown members, which a newer daemon may add, are skipped.
    public init(from reader: inout JSONReader) throws(InvalidParameter) {
        guard let event = try KnownEvent(from: &reader).event else { throw InvalidParameter("type") }
        self = event
    }
}

/// An event, or nil if its type is unknown.
struct KnownEvent: JSONDecodable {
    let event: Event?

    init(from reader: inout JSONReader) throws(InvalidParameter) {
        var type = JSONMember<String>("type")
        var revision = JSONMember<Int64>("revision")
        var key = JSONMember<String>("key")
        var remainingUSec = JSONMember<Int64>("remainingUSec")
        var lateUSec = JSONMember<Int64>("lateUSec")
        var countdown = JSONMember<Countdown>("countdown")
        reader.knownMembers {
            type.read(&$0) || revision.read(&$0) || key.read(&$0) || remainingUSec.read(&$0) || lateUSec.read(&$0)
                || countdown.read(&$0)
        }
        guard let type = Event.Kind(rawValue: try type.required) else {
            event = nil
            return
        }
        event = Event(
            type: type,
            revision: try revision.optional,
            key: try key.optional,
            remainingUSec: try remainingUSec.optional,
            lateUSec: try lateUSec.optional,
            countdown: try countdown.optional
        )
    }
}
