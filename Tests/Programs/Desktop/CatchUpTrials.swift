import Glibc
import IPC
import TestSupport
import Testing

@Suite("Ends while countdown-notify did not run")
struct CatchUpTrials {
    /// The summaries of the next notifications.
    private func summaries(_ count: Int, _ scene: Scene) throws -> [String] {
        try (0..<count).map { _ in try scene.server.next().summary ?? "" }
    }

    @Test("they are shown once at the next start, in their order, but not those before the first start")
    func once() throws {
        let scene = try Scene()
        try scene.end("before")
        let first = try scene.notify()
        try scene.end("tea")
        #expect(try summaries(1, scene) == ["tea"])
        try first.awaitStatus("everything is shown")
        #expect(try first.terminate() == .exited(code: 0))

        try scene.end("egg", "call")
        let second = try scene.notify()
        #expect(try summaries(2, scene) == ["egg", "call"])
        #expect(try second.terminate() == .exited(code: 0))

        let third = try scene.notify()
        try scene.end("last")
        #expect(try summaries(1, scene) == ["last"])
        #expect(try third.terminate() == .exited(code: 0))
    }

    @Test("more than three are shown by name in one notification")
    func digest() throws {
        let scene = try Scene()
        try scene.notify().terminate()
        try scene.end("a", "b", "c", "d")
        let notify = try scene.notify()
        let shown = try scene.server.next()
        #expect(shown.summary == "4 countdowns have ended")
        #expect(shown.body?.split(separator: "\n").map { $0.prefix(2) } == ["a,", "b,", "c,", "d,"])
        #expect(shown.actions == ["default", "Dismiss", "dismiss", "Dismiss"])
        withExtendedLifetime(notify) {}
    }

    @Test("they are shown after a kill, and earlier ends are not shown again")
    func killed() throws {
        let scene = try Scene()
        let first = try scene.notify()
        try scene.end("tea")
        #expect(try summaries(1, scene) == ["tea"])
        // When the next one is sent, the state of the last one has been saved.
        try scene.end("egg")
        #expect(try summaries(1, scene) == ["egg"])
        try first.kill()
        try scene.end("call")
        let second = try scene.notify()
        var told = try summaries(1, scene)
        // The last one may have been shown just before the kill, without its state having been saved.
        if told == ["egg"] { told = try summaries(1, scene) }
        #expect(told == ["call"])
        withExtendedLifetime(second) {}
    }

    @Test("if the daemon does not keep all of them, a notice comes first, once")
    func trimmed() throws {
        let desktop = try Desktop()
        let server = try NotificationServer(on: desktop)
        let daemon = try DaemonProcess(arguments: ["--history", "1"])
        func notify() throws -> NotifyProcess {
            try NotifyProcess(of: daemon.socketPath, on: desktop.address, in: desktop.directory)
        }
        try notify().terminate()
        let caller = try Caller(of: daemon)
        for key in ["a", "b", "c"] {
            _ = try caller.call(Start(key: key))
            _ = try caller.call(Finish(key: key))
        }
        let second = try notify()
        #expect(try server.next().summary == "Countdowns may have ended unseen")
        #expect(try server.next().summary == "c")
        try second.terminate()
        let third = try notify()
        _ = try caller.call(Start(key: "d"))
        _ = try caller.call(Finish(key: "d"))
        #expect(try server.next().summary == "d")
        withExtendedLifetime(third) {}
    }

    @Test("an end that was received together with earlier changes is shown after a restart if no service showed it")
    func together() throws {
        let scene = try Scene()
        try scene.server.vanish()
        let first = try scene.notify()
        // While the process is stopped, the daemon sends the start and the end as two replies.
        try first.stop()
        try scene.end("tea")
        // The reply to a later call shows that both were sent.
        _ = try Caller(of: scene.daemon).call(Get(key: "tea"))
        first.process.send(signal: SIGCONT)
        try first.awaitStatus("no notification service; waiting: 1")
        #expect(try first.terminate() == .exited(code: 0))

        let server = try NotificationServer(on: scene.desktop)
        let second = try scene.notify()
        try scene.end("egg")
        #expect(try server.next().summary == "tea")
        withExtendedLifetime(second) {}
    }

    @Test("an unreadable state file is named, and later ends are shown")
    func unreadable() throws {
        let scene = try Scene()
        try scene.notify().terminate()
        try scene.desktop.directory.write("nonsense", to: "state/delivered")
        let notify = try scene.notify()
        let sentence = "state/delivered does not contain revisions; ends before now are not shown"
        #expect(notify.standardError.contains(sentence))
        try scene.end("tea")
        #expect(try summaries(1, scene) == ["tea"])
    }
}
