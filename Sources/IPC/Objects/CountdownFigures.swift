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

    /// Writes the members of a countdown; the closures write the key, and the label and the metadata where there are any.
    public func encode(
        into writer: inout JSONWriter,
        key: (inout JSONWriter) -> Void,
        texts: (inout JSONWriter) -> Void
    ) {
        key(&writer)
        writer.members(atMost: 256) { members in
            members.member("state", state)
            members.member("clock", clock)
            members.member("durationUSec", durationUSec)
            members.member("remainingUSec", remainingUSec)
            members.member("startedUSec", startedUSec)
            members.memberIfPresent("deadlineUSec", deadlineUSec)
            members.memberIfPresent("endedUSec", endedUSec)
        }
        texts(&writer)
        writer.members(atMost: 64) { members in
            members.member("forget", forget)
            members.member("revision", revision)
        }
    }
}
