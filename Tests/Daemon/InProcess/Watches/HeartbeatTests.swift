import CountdownCore
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Heartbeats")
final class HeartbeatTests: SmallDaemonSuite {
    @Test("a watcher of a quiet key gets the current revision again and again")
    func quietKey() throws {
        let follower = try Follower(of: daemon, Watch(heartbeat: .seconds(1), keys: ["quiet"]))
        #expect(try follower.next().type == .synced)
        let revision = try caller.call(Start(key: "busy")).countdown.revision
        time.pass(.seconds(1))
        #expect(try follower.next() == Event(type: .heartbeat, revision: revision))
        let later = try caller.call(Finish(key: "busy")).countdown.revision
        time.pass(.seconds(1))
        let beat = try follower.next()
        #expect(beat == Event(type: .heartbeat, revision: later))
        let since = try #require(beat.revision)
        #expect(try Follower(of: daemon, Watch(since: since)).next() == Event(type: .synced, revision: since))
    }

    @Test("a watcher that does not ask for heartbeats gets none")
    func unasked() throws {
        let asking = try daemon.watch(Watch(heartbeat: .seconds(1)))
        let other = try daemon.watch(Watch())
        time.pass(.seconds(1))
        #expect(try asking.next().type == .heartbeat)
        _ = try caller.call(Start(key: "tea"))
        #expect(try other.next().type == .started)
    }

    @Test("a heartbeat comes when nothing else has come for the interval")
    func afterEvents() throws {
        let follower = try Follower(of: daemon, Watch(heartbeat: .seconds(1)))
        #expect(try follower.next().type == .synced)
        time.pass(.milliseconds(600))
        _ = try caller.call(Start(key: "tea"))
        #expect(try follower.next().type == .started)
        time.pass(.milliseconds(400))
        // A turn at this instant is over then.
        for _ in 0..<2 { _ = try caller.call(GetStatus()) }
        let revision = try caller.call(Finish(key: "tea")).countdown.revision
        #expect(try follower.next().type == .finished)
        time.pass(.seconds(1))
        #expect(try follower.next() == Event(type: .heartbeat, revision: revision))
    }

    @Test("the daemon wakes up for a heartbeat")
    func wakesUp() throws {
        time.pass(.milliseconds(700))
        let follower = try Follower(of: daemon, Watch(heartbeat: .seconds(1)))
        #expect(try follower.next().type == .synced)
        let due = time.now.wall + .seconds(1)
        // Without inotify, it looks at its socket a second after its start.
        time.pass(.milliseconds(300))
        for _ in 0..<2 { _ = try caller.call(GetStatus()) }
        #expect(time.alarm == due)
    }
}
