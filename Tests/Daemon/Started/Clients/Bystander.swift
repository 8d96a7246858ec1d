import IPC
import TestSupport
import Testing

/// A client that minds its own business while another one misbehaves.
struct Bystander {
    private let caller: Caller
    private let follower: Follower
    private let own: Countdown
    private let before: GetStatus.Reply

    /// It watches these keys; all if they are nil.
    init(of daemon: DaemonProcess, following keys: [String]? = nil) throws {
        caller = try Caller(of: daemon)
        follower = try daemon.watch(Watch(tick: .zero, keys: keys))
        own = try caller.call(Start(key: "own", durationUSec: .seconds(3_600))).countdown
        #expect(try follower.next().type == .started)
        before = try caller.call(GetStatus())
    }

    /// Checks that its countdown is unchanged, that it got no event, that it is answered, and that other clients left
    /// nothing behind.
    func noticesNothing() throws {
        let after = try caller.call(GetStatus())
        #expect(after.startedUSec == before.startedUSec)
        #expect(after.revision == before.revision)
        #expect(after.running == before.running)
        #expect(after.watchers == before.watchers)
        try isServed()
    }

    /// Checks that it is answered.
    func status() throws -> GetStatus.Reply { try caller.call(GetStatus()) }

    /// Checks that its countdown is unchanged, that it is answered, and that it got only the events of its own calls.
    func isServed() throws {
        var found = try caller.call(Get(key: "own")).countdown
        found.remainingUSec = own.remainingUSec
        #expect(found == own)
        let finished = try caller.call(Finish(key: "own")).countdown
        #expect(try follower.next().countdown == finished)
    }
}
