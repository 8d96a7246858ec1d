import Foundation
import IPC
import TestSupport
import Testing
import Varlink

/// A daemon, a session bus and a notification service.
struct Scene {
    let daemon: DaemonProcess
    let desktop: Desktop
    let server: NotificationServer

    init(_ options: String...) throws {
        daemon = try DaemonProcess()
        desktop = try Desktop()
        server =
            try options.isEmpty
            ? NotificationServer(on: desktop) : NotificationServer(on: desktop, "--capabilities", options[0])
    }

    /// Starts countdown-notify.
    func notify(
        _ arguments: String...,
        until status: String = "everything is shown",
        environment: [String: String] = [:]
    ) throws -> NotifyProcess {
        try NotifyProcess(
            arguments,
            of: daemon.socketPath,
            on: desktop.address,
            in: desktop.directory,
            until: status,
            environment: environment
        )
    }

    /// Starts countdowns and finishes them, one after the other.
    func end(_ keys: String...) throws {
        let caller = try Caller(of: daemon)
        for key in keys {
            _ = try caller.call(Start(key: key, durationUSec: 3_600_000_000))
            _ = try caller.call(Finish(key: key))
        }
    }
}

@Suite("Ends on a desktop")
struct EndTrials {
    @Test("an end is shown with its label, its time and its actions")
    func tells() throws {
        let scene = try Scene()
        let notify = try scene.notify()
        let caller = try Caller(of: scene.daemon)
        _ = try caller.call(Start(key: "egg"))
        _ = try caller.call(Cancel(key: "egg"))
        _ = try caller.call(Start(key: "tea", durationUSec: 1_000, label: "<Earl> & Grey"))
        let shown = try scene.server.next()
        #expect(shown.summary == "<Earl> & Grey")
        #expect(shown.body?.hasPrefix("Ended at ") == true)
        #expect(shown.actions == ["default", "Dismiss", "again", "Again", "add-time", "+1 min", "dismiss", "Dismiss"])
        #expect(shown.hints?.urgency == 1)
        #expect(shown.hints?.category == "x-countdownd.ended")
        #expect(shown.hints?.desktopEntry == "countdown-notify")
        #expect(shown.replaces == 0)
        #expect(try notify.terminate() == .exited(code: 0))
        #expect(!notify.standardError.contains("Earl"))
    }

    @Test("a label or a key with a noncharacter is shown with an escape, and later ends are shown too")
    func noncharacters() throws {
        let scene = try Scene()
        let notify = try scene.notify()
        let caller = try Caller(of: scene.daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 1_000, label: "a\(try #require(Unicode.Scalar(0xFFFF)))"))
        #expect(try scene.server.next().summary == #"a\u{ffff}"#)
        try scene.end("b\(try #require(Unicode.Scalar(0xFDD0)))", "egg")
        #expect(try [scene.server.next(), scene.server.next()].map(\.summary) == [#"b\u{fdd0}"#, "egg"])
        withExtendedLifetime(notify) {}
    }

    @Test("a service without bodies and actions gets a summary only", arguments: ["", "body"])
    func poor(_ capabilities: String) throws {
        let scene = try Scene(capabilities)
        let notify = try scene.notify()
        let caller = try Caller(of: scene.daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 1_000, label: "<b>"))
        let shown = try scene.server.next()
        #expect(shown.actions == [])
        #expect((shown.body == "") == capabilities.isEmpty)
        #expect(shown.summary?.hasPrefix(capabilities.isEmpty ? "<b>: Ended at " : "<b>") == true)
        withExtendedLifetime(notify) {}
    }

    @Test("a click starts the countdown again, gives it a minute, or only closes the notification")
    func actions() throws {
        let scene = try Scene()
        let notify = try scene.notify()
        let follower = try Follower(of: scene.daemon, Watch(tick: .zero))
        try follower.events(through: .synced)
        let caller = try Caller(of: scene.daemon)
        let start = Start(key: "tea", durationUSec: 5_000_000_000, label: "Tea", metadata: ["cup": "blue"])
        _ = try caller.call(start)
        _ = try caller.call(Finish(key: "tea"))
        let first = try scene.server.next()
        try scene.server.choose("again", of: first.id)
        try follower.events(through: .finished)
        let again = try #require(try follower.next().countdown)
        #expect(again.state == .running && again.durationUSec == 5_000_000_000)
        #expect(again.label == "Tea" && again.metadata == ["cup": "blue"])
        #expect(try scene.server.next("CloseNotification").id == first.id)

        _ = try caller.call(Finish(key: "tea"))
        try scene.server.choose("add-time", of: try scene.server.next().id)
        try follower.events(through: .finished)
        #expect(try follower.next().countdown?.durationUSec == 60_000_000)

        _ = try caller.call(Finish(key: "tea"))
        let last = try scene.server.next()
        try scene.server.choose("dismiss", of: last.id)
        #expect(try scene.server.next("CloseNotification").id == last.id)
        #expect(try caller.call(Get(key: "tea")).countdown.state == .finished)
        withExtendedLifetime(notify) {}
    }

    @Test("an action that failed is shown with the reason")
    func trouble() throws {
        let scene = try Scene()
        let notify = try scene.notify()
        try scene.end("tea")
        let shown = try scene.server.next()
        try scene.daemon.kill()
        try scene.server.choose("again", of: shown.id)
        let trouble = try scene.server.next()
        #expect(trouble.summary == "tea")
        #expect(trouble.body?.hasPrefix("It could not be started again: no daemon at ") == true)
        withExtendedLifetime(notify) {}
    }

    @Test("patterns and keys choose whose ends are shown")
    func patterns() throws {
        let scene = try Scene()
        let notify = try scene.notify("tea", "login/*")
        try scene.end("egg", "login/1", "teapot", "tea")
        #expect(try [scene.server.next(), scene.server.next()].map(\.summary) == ["login/1", "tea"])
        withExtendedLifetime(notify) {}
    }

    @Test("progress has a notification of its own that is updated in its place and closed at the end")
    func progress() throws {
        let scene = try Scene()
        let notify = try scene.notify("--progress")
        let caller = try Caller(of: scene.daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 3_600_000_000))
        let first = try scene.server.next()
        #expect(first.summary == "tea" && first.hints?.value == 0 && first.timeout == 0)
        #expect(first.hints?.category == "x-countdownd.progress")
        _ = try caller.call(Pause(key: "tea"))
        let paused = try scene.server.next()
        #expect(paused.body == "Paused" && paused.replaces == first.id && paused.id == first.id)
        _ = try caller.call(Finish(key: "tea"))
        #expect(try scene.server.next().hints?.category == "x-countdownd.ended")
        withExtendedLifetime(notify) {}
    }

    @Test("progress is shown again after a restart though the countdown has not changed")
    func progressReturns() throws {
        let scene = try Scene()
        let first = try scene.notify("--progress")
        let caller = try Caller(of: scene.daemon)
        _ = try caller.call(Start(key: "tea", durationUSec: 3_600_000_000))
        _ = try scene.server.next()
        _ = try caller.call(Pause(key: "tea"))
        #expect(try scene.server.next().body == "Paused")
        try first.terminate()
        _ = try scene.server.next("CloseNotification")
        let second = try scene.notify("--progress")
        #expect(try scene.server.next().body == "Paused")
        withExtendedLifetime(second) {}
    }

    @Test("progress is closed if the countdown or countdown-notify ends")
    func progressGoes() throws {
        let scene = try Scene()
        let notify = try scene.notify("--progress")
        let caller = try Caller(of: scene.daemon)
        for end in ["cancel", "terminate"] {
            _ = try caller.call(Start(key: "tea", durationUSec: 3_600_000_000))
            let shown = try scene.server.next()
            // After an update in its place its number is known.
            _ = try caller.call(Pause(key: "tea"))
            #expect(try scene.server.next().replaces == shown.id)
            if end == "cancel" { _ = try caller.call(Cancel(key: "tea")) } else { try notify.terminate() }
            #expect(try scene.server.next("CloseNotification").id == shown.id)
        }
    }
}
