public import Varlink

/// All of an ``Event`` but the key and the texts of its countdown, for whoever has these in other words and writes many.
public struct EventFigures: Sendable {
    let type: EventType
    let revision: Int64?
    let remainingUSec: Int64?
    let lateUSec: Int64?
    let countdown: CountdownFigures?

    public init(
        type: EventType,
        revision: Int64? = nil,
        remainingUSec: Int64? = nil,
        lateUSec: Int64? = nil,
        countdown: CountdownFigures? = nil
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
        if let key { room += JSONMembers.room(forString: key.count) + CountdownFigures.room(forKey: key) }
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
        writer.members(atMost: CountdownFigures.roomForLast + 1) { members in
            countdown.encodeLast(into: &members)
            members.closeObject()
        }
    }
}
