import IPC

/// A client that minds its own business while another one misbehaves.
public struct Bystander {
    private let caller: Caller
    private let follower: Follower
    private let own: Countdown
    private let before: GetStatus.Reply

    /// It watches these keys; all if they are nil.
    public init(of daemon: some Reachable, following keys: [String]? = nil) throws {
        caller = try Caller(of: daemon)
        follower = try daemon.watch(Watch(tick: .zero, keys: keys))
        own = try caller.call(Start(key: "own", durationUSec: .seconds(3_600))).countdown
        guard try follower.next().type == .started else { throw Disturbance(what: "events") }
        before = try caller.call(GetStatus())
    }

    /// Checks that its countdown is unchanged, that it got no event, that it is answered, and that other clients left
    /// nothing behind.
    public func noticesNothing() throws {
        let after = try caller.call(GetStatus())
        guard after.startedUSec == before.startedUSec, after.revision == before.revision,
            after.running == before.running,
            after.watchers == before.watchers
        else { throw Disturbance(what: "status: \(after), before: \(before)") }
        try isServed()
    }

    /// Checks that it is answered.
    public func status() throws -> GetStatus.Reply { try caller.call(GetStatus()) }

    /// Checks that its countdown is unchanged, that it is answered, and that it got only the events of its own calls.
    public func isServed() throws {
        var found = try caller.call(Get(key: "own")).countdown
        found.remainingUSec = own.remainingUSec
        guard found == own else { throw Disturbance(what: "countdown: \(found), before: \(own)") }
        let finished = try caller.call(Finish(key: "own")).countdown
        let event = try follower.next()
        guard event.countdown == finished else { throw Disturbance(what: "event: \(event)") }
    }

    /// The client noticed another one.
    public struct Disturbance: Error {
        /// The changed state.
        let what: String
    }
}
