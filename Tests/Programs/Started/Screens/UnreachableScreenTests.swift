import TestSupport
import Testing

/// Screens of a daemon that belongs to a fleet and cannot say whether a change was made.
@Suite("Screens that are answered with Unreachable")
struct UnreachableScreenTests {
    private static let sentence = "the fleet did not answer, so a change may have been made"

    private let daemon: ScriptedDaemon

    init() throws { daemon = try ScriptedDaemon() }

    private func terminal(_ line: String) throws -> TerminalPane {
        try TerminalPane(line, environment: ["COUNTDOWND_SOCKET": daemon.path], columns: 120)
    }

    private func login(_ type: String) -> String {
        #"{"type":"\#(type)","key":"login","remainingUSec":59000000,"revision":8,"countdown":"#
            + Answer.countdown("login", seconds: 59, revision: 8) + "}"
    }

    @Test("a button says so, takes presses, and counts as soon as its countdown is reported")
    func button() throws {
        let terminal = try terminal("countdownctl button login")
        let watch = try daemon.answer("Watch", Answer.events(Answer.synced(7)))
        try terminal.wait(for: "enter press")
        for _ in 1...2 {
            try terminal.type("\r")
            try daemon.answer("Start", Answer.unreachable)
            try terminal.wait(for: "\(Self.sentence): silent for 2 s")
            try terminal.wait(for: "enter press")
        }
        try watch.send(message: Answer.events(login("started")))
        try terminal.wait(for: "it counts") { $0.contains("59 s") && !$0.contains(Self.sentence) }
        try terminal.type("q", untilExit: 0)
    }

    @Test("the button beside a code says so, and the code is still taken")
    func code() throws {
        let terminal = try terminal("countdownctl ask-code --key login --resend true")
        let watch = try daemon.answer("Watch", Answer.events(Answer.synced(7)))
        try terminal.wait(for: "tab to the button")
        try terminal.type("\t\r")
        try daemon.answer("Start", Answer.unreachable)
        try terminal.wait(for: Self.sentence)
        try terminal.type("1234", untilExit: 0)
        #expect(try terminal.picture().contains("1234"))
        withExtendedLifetime(watch) {}
    }

    @Test("a followed countdown stays, and the message leaves with the next key")
    func follow() throws {
        let terminal = try terminal("countdownctl attach login")
        let watch = try daemon.answer("Watch", Answer.events(login("attached"), Answer.synced(7)))
        try terminal.wait(for: "space pause")
        try terminal.type(" ")
        try daemon.answer("Pause", Answer.unreachable)
        try terminal.wait(for: Self.sentence) { $0.contains(Self.sentence) && $0.contains("login") }
        try terminal.type("x")
        try terminal.wait(for: "space pause") { $0.contains("space pause") && !$0.contains(Self.sentence) }
        try terminal.type("q", untilExit: 130)
        withExtendedLifetime(watch) {}
    }
}
