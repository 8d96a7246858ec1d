import TestSupport
import Testing

/// Screens of a daemon that belongs to a fleet and cannot say whether a change was made.
@Suite("Screens that are answered with Unreachable")
struct UnreachableScreenTests {
    private static let sentence = "the fleet did not answer, so a change may have been made"

    private let directory: TemporaryDirectory
    private let daemon: ListeningSocket

    init() throws {
        directory = try TemporaryDirectory()
        daemon = try ListeningSocket(path: directory.path(of: "socket"))
    }

    private func terminal(_ line: String) throws -> TerminalPane {
        try TerminalPane(line, environment: ["COUNTDOWND_SOCKET": daemon.path], columns: 120)
    }

    /// Accepts a watch and reports these events.
    private func watch(_ events: String) throws -> RawConnection {
        let watch = try daemon.accept()
        #expect(try watch.message().contains(#""io.countdownd.Watch""#))
        try report(events, to: watch)
        return watch
    }

    private func report(_ events: String, to watch: RawConnection) throws {
        try watch.send(message: #"{"parameters":{"events":[\#(events)]},"continues":true}"#)
    }

    /// Accepts a call and answers it with `Unreachable`.
    private func refuse(_ method: String) throws {
        let call = try daemon.accept()
        #expect(try call.message().contains(#""io.countdownd.\#(method)""#))
        try call.send(message: #"{"error":"io.countdownd.Unreachable","parameters":{"reason":"silent for 2 s"}}"#)
    }

    private let synced = #"{"type":"synced","revision":7}"#

    private func login(_ type: String) -> String {
        #"{"type":"\#(type)","key":"login","remainingUSec":59000000,"revision":8,"countdown":{"key":"login","#
            + #""state":"running","clock":"elapsed","durationUSec":59000000,"remainingUSec":59000000,"#
            + #""startedUSec":1,"deadlineUSec":2,"forget":false,"revision":8}}"#
    }

    @Test("a button says so, takes presses, and counts as soon as its countdown is reported")
    func button() throws {
        let terminal = try terminal("countdownctl button login")
        let watch = try watch(synced)
        try terminal.wait(for: "enter press")
        for _ in 1...2 {
            try terminal.type("\r")
            try refuse("Start")
            try terminal.wait(for: "\(Self.sentence): silent for 2 s")
            try terminal.wait(for: "enter press")
        }
        try report(login("started"), to: watch)
        try terminal.wait(for: "it counts") { $0.contains("59 s") && !$0.contains(Self.sentence) }
        try terminal.type("q")
        try terminal.waitForExit(0)
    }

    @Test("the button beside a code says so, and the code is still taken")
    func code() throws {
        let terminal = try terminal("countdownctl ask-code --key login --resend true")
        let watch = try watch(synced)
        try terminal.wait(for: "tab to the button")
        try terminal.type("\t\r")
        try refuse("Start")
        try terminal.wait(for: Self.sentence)
        try terminal.type("1234")
        try terminal.waitForExit(0)
        #expect(try terminal.picture().contains("1234"))
        withExtendedLifetime(watch) {}
    }

    @Test("a followed countdown stays, and the message leaves with the next key")
    func follow() throws {
        let terminal = try terminal("countdownctl attach login")
        let watch = try watch("\(login("attached")),\(synced)")
        try terminal.wait(for: "space pause")
        try terminal.type(" ")
        try refuse("Pause")
        try terminal.wait(for: Self.sentence) { $0.contains(Self.sentence) && $0.contains("login") }
        try terminal.type("x")
        try terminal.wait(for: "space pause") { $0.contains("space pause") && !$0.contains(Self.sentence) }
        try terminal.type("q")
        try terminal.waitForExit(130)
        withExtendedLifetime(watch) {}
    }
}
