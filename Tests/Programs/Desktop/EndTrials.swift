import Foundation
import IPC
import TestSupport
import Testing
import Varlink

/// A daemon, a session bus and a notification service.
final class Scene {
    let daemon: DaemonProcess
    let desktop: Desktop
    let server: NotificationServer
    /// Every countdown-notify that was started, which runs as long as this object exists.
    private var started: [NotifyProcess] = []

    init(_ options: String..., history: Int? = nil) throws {
        daemon = try DaemonProcess(arguments: history.map { ["--history", "\($0)"] } ?? [])
        desktop = try Desktop()
        server =
            try options.isEmpty
            ? NotificationServer(on: desktop) : NotificationServer(on: desktop, "--capabilities", options[0])
    }

    /// Starts countdown-notify.
    @discardableResult
    func notify(
        _ arguments: String...,
        until status: String = "everything is shown",
        environment: [String: String] = [:]
    ) throws -> NotifyProcess {
        let process = try NotifyProcess(
            arguments,
            of: daemon.socketPath,
            on: desktop.address,
            in: desktop.directory,
            until: status,
            environment: environment
        )
        started.append(process)
        return process
    }

    /// Makes a call of the daemon.
    @discardableResult
    func call<M: Method>(_ method: M) throws -> M.Reply { try Caller(of: daemon).call(method) }

    /// Starts a countdown of an hour.
    func start(_ key: String, metadata: TextMap<String>? = nil) throws {
        try call(Start(key: key, durationUSec: .seconds(3600), metadata: metadata))
    }

    /// Starts countdowns and finishes them, one after the other.
    func end(_ keys: String..., metadata: TextMap<String>? = nil) throws {
        for key in keys {
            try start(key, metadata: metadata)
            try call(Finish(key: key))
        }
    }

    /// The summaries of the next notifications.
    func summaries(_ count: Int = 1) throws -> [String] {
        try (0..<count).map { _ in try server.next().summary ?? "" }
    }
}

@Suite("Ends on a desktop")
struct EndTrials {
    @Test("an end is shown with its label, its time and its actions")
    func tells() throws {
        let scene = try Scene()
        let notify = try scene.notify()
        try scene.call(Start(key: "egg"))
        try scene.call(Cancel(key: "egg"))
        try scene.call(Start(key: "tea", durationUSec: 1_000, label: "<Earl> & Grey"))
        let shown = try scene.server.next()
        #expect(shown.summary == "<Earl> & Grey")
        #expect(shown.body?.hasPrefix("Ended at ") == true)
        #expect(shown.actions == ["again", "Again", "add-time", "+1 min", "default", "Dismiss"])
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
        try scene.notify()
        try scene.call(Start(key: "tea", durationUSec: 1_000, label: "a\(try #require(Unicode.Scalar(0xFFFF)))"))
        #expect(try scene.server.next().summary == #"a\u{ffff}"#)
        try scene.end("b\(try #require(Unicode.Scalar(0xFDD0)))", "egg")
        #expect(try scene.summaries(2) == [#"b\u{fdd0}"#, "egg"])
    }

    @Test("a service without bodies and actions gets a summary only", arguments: ["", "body"])
    func poor(_ capabilities: String) throws {
        let scene = try Scene(capabilities)
        try scene.notify()
        try scene.call(Start(key: "tea", durationUSec: 1_000, label: "<b>"))
        let shown = try scene.server.next()
        #expect(shown.actions == [])
        #expect((shown.body == "") == capabilities.isEmpty)
        #expect(shown.summary?.hasPrefix(capabilities.isEmpty ? "<b>: Ended at " : "<b>") == true)
    }

    @Test("a click starts the countdown again, gives it a minute, or only closes the notification")
    func actions() throws {
        let scene = try Scene()
        try scene.notify()
        let follower = try scene.daemon.watch()
        let start = Start(key: "tea", durationUSec: 5_000_000_000, label: "Tea", metadata: ["cup": "blue"])
        try scene.call(start)
        try scene.call(Finish(key: "tea"))
        let first = try scene.server.next()
        try scene.server.choose("again", of: first.id)
        try follower.events(through: .finished)
        let again = try #require(try follower.next().countdown)
        #expect(again.state == .running && again.durationUSec == 5_000_000_000)
        #expect(again.label == "Tea" && again.metadata == ["cup": "blue"])
        #expect(try scene.server.next("CloseNotification").id == first.id)

        try scene.call(Finish(key: "tea"))
        try scene.server.choose("add-time", of: try scene.server.next().id)
        try follower.events(through: .finished)
        #expect(try follower.next().countdown?.durationUSec == 60_000_000)

        try scene.call(Finish(key: "tea"))
        let last = try scene.server.next()
        try scene.server.choose("default", of: last.id)
        #expect(try scene.server.next("CloseNotification").id == last.id)
        #expect(try scene.call(Get(key: "tea")).countdown.state == .finished)
    }

    @Test("an action that failed is shown with the reason")
    func trouble() throws {
        let scene = try Scene()
        try scene.notify()
        try scene.end("tea")
        let shown = try scene.server.next()
        try scene.daemon.kill()
        try scene.server.choose("again", of: shown.id)
        let trouble = try scene.server.next()
        #expect(trouble.summary == "tea")
        #expect(trouble.body?.hasPrefix("It could not be started again: no daemon at ") == true)
    }

    @Test("patterns and keys choose whose ends are shown")
    func patterns() throws {
        let scene = try Scene()
        try scene.notify("tea", "login/*")
        try scene.end("egg", "login/1", "teapot", "tea")
        #expect(try scene.summaries(2) == ["login/1", "tea"])
    }

    @Test("progress has a notification of its own that is updated in its place and closed at the end")
    func progress() throws {
        let scene = try Scene()
        try scene.notify("--progress")
        try scene.start("tea")
        let first = try scene.server.next()
        #expect(first.summary == "tea" && first.hints?.value == 0 && first.timeout == 0)
        #expect(first.hints?.category == "x-countdownd.progress")
        try scene.call(Pause(key: "tea"))
        let paused = try scene.server.next()
        #expect(paused.body == "Paused" && paused.replaces == first.id && paused.id == first.id)
        try scene.call(Finish(key: "tea"))
        #expect(try scene.server.next().hints?.category == "x-countdownd.ended")
    }

    @Test("progress is shown again after a restart though the countdown has not changed")
    func progressReturns() throws {
        let scene = try Scene()
        let first = try scene.notify("--progress")
        try scene.start("tea")
        _ = try scene.server.next()
        try scene.call(Pause(key: "tea"))
        #expect(try scene.server.next().body == "Paused")
        try first.terminate()
        _ = try scene.server.next("CloseNotification")
        try scene.notify("--progress")
        #expect(try scene.server.next().body == "Paused")
    }

    @Test("progress is closed if the countdown or countdown-notify ends")
    func progressGoes() throws {
        let scene = try Scene()
        let notify = try scene.notify("--progress")
        for end in ["cancel", "terminate"] {
            try scene.start("tea")
            let shown = try scene.server.next()
            // After an update in its place its number is known.
            try scene.call(Pause(key: "tea"))
            #expect(try scene.server.next().replaces == shown.id)
            if end == "cancel" { try scene.call(Cancel(key: "tea")) } else { try notify.terminate() }
            #expect(try scene.server.next("CloseNotification").id == shown.id)
        }
    }
}
