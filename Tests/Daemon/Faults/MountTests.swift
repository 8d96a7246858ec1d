import Foundation
import IPC
import TestSupport
import Testing

@Suite(
    "A file system that is full, or read-only",
    .enabled(if: PrivateMount.isPossible, "needs root, and mount namespaces of one's own")
)
struct MountTests {
    private let directory: TemporaryDirectory
    private let mount: PrivateMount

    init() throws {
        directory = try TemporaryDirectory()
        mount = try PrivateMount(of: "256k", at: directory.path(of: "state"))
    }

    private func start() throws -> DaemonProcess {
        let daemon = try DaemonProcess(starting: mount.launcher, in: directory)
        try daemon.awaitReadiness()
        return daemon
    }

    /// Starts countdowns until one is refused.
    private func fillUp(_ caller: Caller) throws -> [String] {
        var started: [String] = []
        while started.count < 100_000 {
            do {
                _ = try caller.call(Start(key: "k\(started.count)", durationUSec: 3_600_000_000))
                started.append("k\(started.count)")
            } catch CountdownError.storageFailed(let reason) {
                #expect(reason.contains("No space left on device"))
                break
            }
        }
        return started
    }

    @Test("if it is full, changes are refused; ends are delivered, and stored when there is room again")
    func full() throws {
        let daemon = try start()
        let caller = try Caller(of: daemon)
        let follower = try Follower(of: daemon, Watch(tick: .zero, heartbeat: .microseconds(1_000_000)))
        for key in ["kept", "paused"] { _ = try caller.call(Start(key: key, durationUSec: 3_600_000_000)) }
        _ = try caller.call(Pause(key: "paused"))
        _ = try caller.call(Start(key: "soon", durationUSec: 1_000_000))
        try mount.fill()
        let started = try fillUp(caller)
        let ending = try #require(follower.events(through: .finished, of: "soon").last?.countdown)
        let refused = "k\(started.count)"
        #expect(throws: CountdownError.noSuchCountdown(key: refused)) { try caller.call(Get(key: refused)) }
        #expect(throws: CountdownError.self) { try caller.call(Cancel(key: "kept")) }
        #expect(throws: CountdownError.self) { try caller.call(Resume(key: "paused")) }
        #expect(try caller.call(Get(key: "kept")).countdown.state == .running)
        #expect(try caller.call(Get(key: "paused")).countdown.state == .paused)
        try follower.events(through: .heartbeat)
        #expect(!daemon.standardError.contains("stored again"))

        try mount.empty()
        #expect(try caller.call(Start(key: refused)).outcome == .started)
        #expect(daemon.standardError.contains("stored again"))
        try daemon.kill()
        let next = try start()
        let after = try Caller(of: next)
        #expect(try after.call(Get(key: "soon")).countdown == ending)
        #expect(try after.call(Get(key: "paused")).countdown.state == .paused)
        for key in ["kept", refused] + started { #expect(try after.call(Get(key: key)).countdown.state == .running) }
    }

    @Test("if it is read-only, changes alone are refused; when it can be written again, everything is there")
    func readOnly() throws {
        let first = try start()
        let kept = try Caller(of: first).call(Start(key: "kept")).countdown
        try first.terminate()
        try mount.remount("ro")
        let daemon = try start()
        let caller = try Caller(of: daemon)
        #expect(try caller.call(Get(key: "kept")).countdown.revision == kept.revision)
        let error = #expect(throws: CountdownError.self) { try caller.call(Start(key: "new")) }
        #expect(error?.name == .storageFailed)
        #expect(daemon.standardError.contains("see that its user may write there"))
        try mount.remount("rw")
        try waitUntil("changes to be stored") { try caller.call(GetStatus()).storageFailure == nil }
        let found = try caller.call(Start(key: "kept"))
        #expect(found.outcome == .attached)
        #expect(found.countdown.revision == kept.revision)
    }
}
