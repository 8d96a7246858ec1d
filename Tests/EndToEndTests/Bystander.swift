import IPC
import TestSupport
import Testing

/// A client that minds its own business while another one misbehaves.
struct Bystander {
    private let caller: Caller
    private let follower: Follower
    private let own: Countdown
    private let before: GetStatus.Reply

    /// It is told of changes of these keys alone, of all where they are nil.
    init(of daemon: DaemonProcess, following keys: [String]? = nil) throws {
        caller = try Caller(of: daemon)
        follower = try Follower(of: daemon, Watch(tickUSec: 0, keys: keys))
        try follower.events(through: .synced)
        own = try caller.call(Start(key: "own", durationUSec: .seconds(3_600))).countdown
        #expect(try follower.next().type == .started)
        before = try caller.call(GetStatus())
    }

    /// Its countdown is what it was, it has been told nothing, it is answered, and nothing of what others did is left.
    func noticesNothing() throws {
        let after = try caller.call(GetStatus())
        #expect(after.startedUSec == before.startedUSec)
        #expect(after.revision == before.revision)
        #expect(after.running == before.running)
        #expect(after.watchers == before.watchers)
        try isServed()
    }

    /// It is answered now.
    func status() throws -> GetStatus.Reply { try caller.call(GetStatus()) }

    /// Its countdown is what it was, it is answered, and it has been told nothing but what it does itself.
    func isServed() throws {
        var found = try caller.call(Get(key: "own")).countdown
        found.remainingUSec = own.remainingUSec
        #expect(found == own)
        let finished = try caller.call(Finish(key: "own")).countdown
        #expect(try follower.next().countdown == finished)
    }
}
