import IPC
import TestSupport
import Testing

@Suite("Endings while nobody was logged in")
struct RememberingTrials {
    /// The summaries of the next notifications.
    private func summaries(_ count: Int, _ scene: Scene) throws -> [String] {
        try (0..<count).map { _ in try scene.shower.next().summary ?? "" }
    }

    @Test("are told once at the next start, in their order; those before the first start are not")
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

    @Test("more than three are told in one notification, by name")
    func digest() throws {
        let scene = try Scene()
        try scene.notify().terminate()
        try scene.end("a", "b", "c", "d")
        let notify = try scene.notify()
        let shown = try scene.shower.next()
        #expect(shown.summary == "4 countdowns have ended")
        #expect(shown.body?.split(separator: "\n").map { $0.prefix(2) } == ["a,", "b,", "c,", "d,"])
        #expect(shown.actions == ["dismiss", "Dismiss"])
        withExtendedLifetime(notify) {}
    }

    @Test("are told though it was killed, and what was told before is not told again")
    func killed() throws {
        let scene = try Scene()
        let first = try scene.notify()
        try scene.end("tea")
        #expect(try summaries(1, scene) == ["tea"])
        // Once the next is sent, the one before has been written down.
        try scene.end("egg")
        #expect(try summaries(1, scene) == ["egg"])
        try first.kill()
        try scene.end("call")
        let second = try scene.notify()
        var told = try summaries(1, scene)
        // The last one may have been told just before the kill, and not written down yet.
        if told == ["egg"] { told = try summaries(1, scene) }
        #expect(told == ["call"])
        withExtendedLifetime(second) {}
    }

    @Test("that are more than the daemon keeps are told as far as it does, and that some may be missing is told once")
    func trimmed() throws {
        let desktop = try Desktop()
        let shower = try Shower(on: desktop)
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
        #expect(try shower.next().summary == "Countdowns may have ended unseen")
        #expect(try shower.next().summary == "c")
        try second.terminate()
        let third = try notify()
        _ = try caller.call(Start(key: "d"))
        _ = try caller.call(Finish(key: "d"))
        #expect(try shower.next().summary == "d")
        withExtendedLifetime(third) {}
    }

    @Test("a record that cannot be read is named, and what ends from then on is told")
    func unreadable() throws {
        let scene = try Scene()
        try scene.notify().terminate()
        try scene.desktop.directory.write("nonsense", to: "told/told")
        let notify = try scene.notify()
        let sentence = "told/told does not contain two revisions; ends before now are not shown"
        #expect(notify.standardError.contains(sentence))
        try scene.end("tea")
        #expect(try summaries(1, scene) == ["tea"])
    }
}
