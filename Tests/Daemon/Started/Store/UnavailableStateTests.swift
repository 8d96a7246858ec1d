import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("A state directory that is not available")
struct UnavailableStateTests {
    private let daemon: DaemonProcess
    private let caller: Caller

    init() throws {
        let directory = try TemporaryDirectory()
        try directory.write("in its way", to: "state")
        daemon = try DaemonProcess(in: directory)
        caller = try Caller(of: daemon)
    }

    private func isRefused<M: Method>(_ method: M) throws -> Bool {
        do {
            _ = try caller.call(method)
            return false
        } catch CountdownError.storageFailed(let reason) {
            #expect(reason.contains(daemon.stateDirectory))
            return true
        }
    }

    @Test("every call about countdowns is refused with the reason")
    func refuses() throws {
        let calls: [any Method] = [
            Start(key: "tea"), Cancel(key: "tea"), Finish(key: "tea"), Pause(key: "tea"), Resume(key: "tea"),
            Adjust(key: "tea", byUSec: 1), Get(key: "tea"), List(), Wait(key: "tea"),
        ]
        for call in calls { #expect(try isRefused(call), "\(type(of: call).name)") }
        let error = #expect(throws: CountdownError.self) { try Follower(of: daemon).next() }
        #expect(error?.name == .storageFailed)
        #expect(try caller.call(GetStatus()).running == 0)
        #expect(daemon.notifications.received.contains { $0.hasPrefix("STATUS=") && $0.contains("cannot be stored") })
    }

    @Test("when it is available, the daemon continues with the stored countdowns")
    func recovers() throws {
        #expect(try isRefused(Start(key: "tea")))
        try FileManager.default.removeItem(atPath: daemon.stateDirectory)
        try waitUntil("the store to be opened") { try !isRefused(List()) }
        #expect(try caller.call(Start(key: "tea")).outcome == .started)
        try daemon.terminate()
        let next = try DaemonProcess(in: daemon.directory)
        #expect(try Caller(of: next).call(Start(key: "tea")).outcome == .attached)
    }
}

@Suite("Countdowns and restarts of the daemon")
struct RestartTests {
    @Test("after a restart a countdown still runs, a paused one is still paused, and ends and revisions are kept")
    func runsOn() throws {
        let first = try DaemonProcess()
        let caller = try Caller(of: first)
        let since = try caller.call(GetStatus()).revision
        let before = try caller.call(Start(key: "tea", label: "Tea", metadata: ["a": "b"])).countdown
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

    @Test("an end that fell in the daemon's absence is delivered with its lateness")
    func endedMeanwhile() throws {
        let first = try DaemonProcess()
        let started = try Caller(of: first).call(Start(key: "tea", durationUSec: .milliseconds(30))).countdown
        try first.kill()
        // If another daemon's countdown of the same duration, started later, has ended, then so has this one.
        let other = try DaemonProcess()
        let clock = try Caller(of: other)
        _ = try clock.call(Start(key: "clock", durationUSec: .milliseconds(30)))
        _ = try clock.call(Wait(key: "clock"))
        try other.terminate()
        let second = try DaemonProcess(in: first.directory)
        let missed = try Follower(of: second, Watch(tick: .zero, since: started.revision)).events(through: .synced)
        let ending = try #require(missed.first)
        #expect(ending.type == .finished)
        #expect(ending.countdown?.endedUSec == started.deadlineUSec)
        #expect(ending.lateUSec ?? 0 > 0)
    }
}
