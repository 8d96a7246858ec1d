public import Varlink

/// All of a ``Countdown`` but its texts, for whoever has these in other words and writes many.
public struct CountdownFigures: Sendable {
    let state: State
    let clock: Clock
    let durationUSec: Int64
    let remainingUSec: Int64
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
        writer.members(atMost: 340 + JSONMembers.room(forString: key.count)) { members in
            members.first("key", utf8: key)
            members.member("state", word: state.word)
            members.member("clock", word: clock.word)
            members.member("durationUSec", durationUSec)
            members.member("remainingUSec", remainingUSec)
            members.member("startedUSec", startedUSec)
            members.memberIfPresent("deadlineUSec", deadlineUSec)
            members.memberIfPresent("endedUSec", endedUSec)
            if texts == nil { encodeLast(into: &members) }
        }
        guard let texts else { return }
        texts(&writer)
        writer.members(atMost: 60) { encodeLast(into: &$0) }
    }

    @inline(__always)
    private func encodeLast(into members: inout JSONMembers) {
        members.member("forget", forget)
        members.member("revision", revision)
    }
}
