import Glibc
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A store that can be opened only later")
struct LateStoreTests {
    @Test("clients that received an empty snapshot meanwhile do not take the store for empty")
    func opensLate() throws {
        let directory = try TemporaryDirectory()
        do {
            let daemon = try DaemonProcess(in: directory)
            _ = try Caller(of: daemon).call(Start(key: "tea", durationUSec: .seconds(3_600)))
            try daemon.terminate()
        }
        let (state, away) = (directory.path(of: "state"), directory.path(of: "away"))
        unsafe rename(state, away)
        unsafe close(open(state, O_CREAT | O_CLOEXEC, 0o600))

        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)
        let follower = try Follower(of: daemon, Watch(tickUSec: 0))
        let since = try #require(try follower.next().revision)
        #expect(throws: CountdownError.self) { try caller.call(Start(key: "coffee")) }
        unsafe unlink(state)
        unsafe rename(away, state)
        #expect(try follower.caller.connection.nextMessage() == nil)

        let resumed = try Follower(of: daemon, Watch(tickUSec: 0, since: since))
        #expect(throws: CountdownError.self) { try resumed.next() }
        let anew = try Follower(of: daemon, Watch(tickUSec: 0))
        #expect(try anew.events(through: .synced).map(\.key) == ["tea", nil])
        #expect(try caller.call(Start(key: "coffee")).outcome == .started)
    }

    @Test("the daemon waits for it if another daemon has it by then")
    func heldLate() throws {
        let directory = try TemporaryDirectory()
        let state = directory.path(of: "state")
        unsafe close(open(state, O_CREAT | O_CLOEXEC, 0o600))
        let daemon = try DaemonProcess(in: directory)
        let caller = try Caller(of: daemon)

        unsafe unlink(state)
        unsafe mkdir(state, 0o700)
        let lock = unsafe open("\(state)/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX) == 0)
        var reason = ""
        while !reason.contains("is held by another countdownd") {
            do {
                _ = try caller.call(Start(key: "tea"))
            } catch CountdownError.storageFailed(let answered) {
                reason = answered
            }
        }
        // Between two heartbeats there is little reason to wake up.
        let follower = try Follower(of: daemon, Watch(tickUSec: 0, heartbeatUSec: .seconds(1)))
        try follower.events(through: .heartbeat)
        let wakeUps = try #require(caller.call(GetStatus()).counters["wakeUps"])
        try follower.events(through: .heartbeat)
        #expect(try #require(caller.call(GetStatus()).counters["wakeUps"]) < wakeUps + 100)

        #expect(flock(lock, LOCK_UN) == 0)
        while try follower.caller.connection.nextMessage() != nil {}
        #expect(try caller.call(Start(key: "tea")).outcome == .started)
    }
}
