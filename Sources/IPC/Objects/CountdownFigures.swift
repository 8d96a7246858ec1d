public import Varlink

/// All of a ``Countdown`` but its texts, for whoever has these in other words and writes many.
public struct CountdownFigures: Sendable {
    let state: State
    let clock: Clock
    let durationUSec: Int64
    public let remainingUSec: Int64
    let startedUSec: Int64
    let deadlineUSec: Int64?
    let endedUSec: Int64?
    let forget: Bool
    let revision: Int64

    public init(
        state: State,
        clock: Clock,
        durationUSec: Int64,
        remainingUSec: Int64,
        startedUSec: Int64,
        deadlineUSec: Int64?,
        endedUSec: Int64?,
        forget: Bool,
        revision: Int64
    ) {
        self.state = state
        self.clock = clock
        self.durationUSec = durationUSec
        self.remainingUSec = remainingUSec
        self.startedUSec = startedUSec
        self.deadlineUSec = deadlineUSec
        self.endedUSec = endedUSec
        self.forget = forget
        self.revision = revision
    }

    /// Writes the members of a countdown.
    ///
    /// - Parameters:
    ///   - key: in UTF-8.
    ///   - writer: in which the object is open, and has no members yet.
    ///   - texts: writes the label and the metadata, where there are any.
    public func encode(key: Span<UInt8>, into writer: inout JSONWriter, texts: ((inout JSONWriter) -> Void)?) {
        writer.members(atMost: Self.room(forKey: key)) { members in
            encodeFirst(key: key, into: &members)
            if texts == nil { encodeLast(into: &members) }
        }
        guard let texts else { return }
        texts(&writer)
        writer.members(atMost: Self.roomForLast) { encodeLast(into: &$0) }
    }

    /// The most bytes of all members but the texts.
    static func room(forKey key: Span<UInt8>) -> Int { 340 + JSONMembers.room(forString: key.count) }

    /// The most bytes of the members behind the texts.
    static var roomForLast: Int { 60 }

    /// Writes the members before the texts.
    @inline(__always)
    func encodeFirst(key: Span<UInt8>, into members: inout JSONMembers) {
        members.first("key", utf8: key)
        members.member("state", word: state.word)
        members.member("clock", word: clock.word)
        members.member("durationUSec", durationUSec)
        members.member("remainingUSec", remainingUSec)
        members.member("startedUSec", startedUSec)
        members.memberIfPresent("deadlineUSec", deadlineUSec)
        members.memberIfPresent("endedUSec", endedUSec)
    }

    /// Writes the members behind the texts.
    @inline(__always)
    func encodeLast(into members: inout JSONMembers) {
        members.member("forget", forget)
        members.member("revision", revision)
    }
}
