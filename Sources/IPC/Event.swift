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
        let fields = EventFields(type: type, revision: revision, remainingUSec: remainingUSec, lateUSec: lateUSec)
        if let key {
            fields.encode(key: key.utf8Span.span, into: &writer)
        } else {
            fields.encode(key: nil, into: &writer)
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

/// All of an ``Event`` but the key and the texts of its countdown, for whoever has these in other words and writes many.
public struct EventFields: Sendable {
    let type: EventType
    let revision: Int64?
    let remainingUSec: Int64?
    let lateUSec: Int64?
    let countdown: CountdownFields?

    public init(
        type: EventType,
        revision: Int64? = nil,
        remainingUSec: Int64? = nil,
        lateUSec: Int64? = nil,
        countdown: CountdownFields? = nil
    ) {
        self.type = type
        self.revision = revision
        self.remainingUSec = remainingUSec
        self.lateUSec = lateUSec
        self.countdown = countdown
    }

    /// Writes the members of an event.
    ///
    /// - Parameters:
    ///   - key: in UTF-8, nil where the event is about no countdown.
    ///   - writer: in which the object is open, and has no members yet.
    ///   - texts: writes the label and the metadata of the countdown, where there are any.
    public func encode(
        key: Span<UInt8>?,
        into writer: inout JSONWriter,
        texts: ((inout JSONWriter) -> Void)? = nil
    ) {
        var room = 170
        if let key { room += JSONMembers.room(forString: key.count) + CountdownFields.room(forKey: key) }
        writer.members(atMost: room) { members in
            members.first("type", word: type.word)
            members.memberIfPresent("revision", revision)
            if let key { members.member("key", utf8: key) }
            members.memberIfPresent("remainingUSec", remainingUSec)
            members.memberIfPresent("lateUSec", lateUSec)
            guard let countdown, let key else { return }
            members.openObject("countdown")
            countdown.encodeFirst(key: key, into: &members)
            guard texts == nil else { return }
            countdown.encodeLast(into: &members)
            members.closeObject()
        }
        guard let countdown, let texts else { return }
        texts(&writer)
        writer.members(atMost: CountdownFields.roomForLast + 1) { members in
            countdown.encodeLast(into: &members)
            members.closeObject()
        }
    }
}
