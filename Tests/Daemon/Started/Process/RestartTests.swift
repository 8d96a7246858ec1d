import IPC
import TestSupport
import Testing
import Varlink

@Suite("Countdowns and restarts of the daemon")
struct RestartTests {
    @Test("after a restart a countdown still runs, a paused one is still paused, and ends and revisions are kept")
    func runsOn() throws {
        let first = try DaemonProcess()
        let caller = try Caller(of: first)
        let since = try caller.call(GetStatus()).revision
        // Names that only Unicode normalization makes equal.
        let metadata: TextMap<String> = ["\u{E9}": "composed", "e\u{301}": "decomposed"]
        let before = try caller.call(Start(key: "tea", label: "Tea", metadata: metadata)).countdown
        #expect(before.metadata == metadata)
        _ = try caller.call(Start(key: "paused"))
        let paused = try caller.call(Pause(key: "paused")).countdown
        _ = try caller.call(Start(key: "ended"))
        let ended = try caller.call(Cancel(key: "ended")).countdown
        _ = try caller.call(Start(key: "limit", durationUSec: 1, forget: true))
        _ = try caller.call(Start(key: "soon", durationUSec: .milliseconds(150)))
        try first.terminate()

        let second = try DaemonProcess(in: first.directory)
        let after = try Caller(of: second)
        let found = try after.call(Start(key: "tea"))
        #expect(found.outcome == .attached)
        var countdown = found.countdown
        countdown.remainingUSec = before.remainingUSec
        #expect(countdown == before)
        #expect(try after.call(Get(key: "paused")).countdown == paused)
        #expect(try after.call(Get(key: "ended")).countdown == ended)
        #expect(throws: CountdownError.noSuchCountdown(key: "limit")) { try after.call(Get(key: "limit")) }
        let soon = try after.call(Wait(key: "soon")).countdown
        #expect(soon.state == .finished)
        let missed = try Follower(of: second, Watch(tick: .zero, since: since)).events(through: .synced)
        #expect(missed.compactMap(\.key) == ["tea", "paused", "ended", "soon"])
        #expect(missed.map(\.type) == [.attached, .attached, .cancelled, .finished, .synced])
    }
}
