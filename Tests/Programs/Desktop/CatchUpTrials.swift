import Glibc
import IPC
import TestSupport
import Testing

@Suite("Ends while countdown-notify did not run")
struct CatchUpTrials {
    @Test("they are shown once at the next start, in their order, but not those before the first start")
    func once() throws {
        let scene = try Scene()
        try scene.end("before")
        let first = try scene.notify()
        try scene.end("tea")
        #expect(try scene.summaries() == ["tea"])
        try first.awaitStatus("everything is shown")
        #expect(try first.terminate() == .exited(code: 0))

        try scene.end("egg", "call")
        let second = try scene.notify()
        #expect(try scene.summaries(2) == ["egg", "call"])
        #expect(try second.terminate() == .exited(code: 0))

        let third = try scene.notify()
        try scene.end("last")
        #expect(try scene.summaries() == ["last"])
        #expect(try third.terminate() == .exited(code: 0))
    }

    @Test("more than three are shown by name in one notification")
    func digest() throws {
        let scene = try Scene()
        try scene.notify().terminate()
        try scene.end("a", "b", "c", "d")
        try scene.notify()
        let shown = try scene.server.next()
        #expect(shown.summary == "4 countdowns have ended")
        #expect(shown.body?.split(separator: "\n").map { $0.prefix(2) } == ["a,", "b,", "c,", "d,"])
        #expect(shown.actions == ["default", "Dismiss"])
    }

    @Test("they are shown after a kill, and earlier ends are not shown again")
    func killed() throws {
        let scene = try Scene()
        let first = try scene.notify()
        try scene.end("tea")
        #expect(try scene.summaries() == ["tea"])
        // When the next one is sent, the state of the last one has been saved.
        try scene.end("egg")
        #expect(try scene.summaries() == ["egg"])
        try first.kill()
        try scene.end("call")
        try scene.notify()
        var told = try scene.summaries()
        // The last one may have been shown just before the kill, without its state having been saved.
        if told == ["egg"] { told = try scene.summaries() }
        #expect(told == ["call"])
    }

    @Test("if the daemon does not keep all of them, a notice comes first, once")
    func trimmed() throws {
        let scene = try Scene(history: 1)
        try scene.notify().terminate()
        try scene.end("a", "b", "c")
        let second = try scene.notify()
        #expect(try scene.summaries(2) == ["Countdowns may have ended unseen", "c"])
        try second.terminate()
        try scene.notify()
        try scene.end("d")
        #expect(try scene.summaries() == ["d"])
    }

    @Test("an end that was received together with earlier changes is shown after a restart if no service showed it")
    func together() throws {
        let scene = try Scene()
        try scene.server.vanish()
        let first = try scene.notify()
        // While the process is stopped, the daemon sends the start and the end as two replies.
        try first.process.stop()
        try scene.end("tea")
        // The reply to a later call shows that both were sent.
        try scene.call(Get(key: "tea"))
        first.process.send(signal: SIGCONT)
        try first.awaitStatus("no notification service; waiting: 1")
        #expect(try first.terminate() == .exited(code: 0))

        let server = try NotificationServer(on: scene.desktop)
        try scene.notify()
        try scene.end("egg")
        #expect(try server.next().summary == "tea")
        withExtendedLifetime(scene) {}
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
        #expect(try scene.summaries() == ["tea"])
    }
}
