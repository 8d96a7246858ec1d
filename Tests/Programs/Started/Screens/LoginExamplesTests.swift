import Foundation
import IPC
import TestSupport
import Testing

/// The example is compiled by scripts/test-examples, which `make acceptance` and `.ci/run` call.
@Suite("The login page in Swift", .enabled(if: isCompiled, "scripts/test-examples compiles it"))
final class LoginExamplesTests: TerminalSuite {
    private func page(_ arguments: String = "login/138") throws -> TerminalPane {
        try terminal("'\(program)' \(arguments)")
    }

    private func code(in picture: String) throws -> String {
        String(try #require(picture.firstMatch(of: #/Your phone shows: code ([0-9]{4}),/#)).1)
    }

    @Test("a press sends and counts, further presses are ignored, and at the end it can be pressed again")
    func counts() throws {
        let terminal = try page("login/138 4")
        try terminal.wait(for: "< Send code >")
        try terminal.wait(for: "Enter presses")
        try terminal.type("\r")
        let picture = try terminal.wait(for: "a second") { $0.contains(#/< Again in 0:0[1-4] >/#) }
        #expect(!picture.contains("Enter presses"))
        try terminal.type("\r\r")
        try terminal.wait(for: "another second") { $0.contains(#/< Again in 0:0[1-4] >/#) && $0 != picture }
        try terminal.wait(for: "< Send a new code >")
        try terminal.type("\r", until: "< Again in 0:0")
        try terminal.type("q", until: "[exit 0]")
    }

    @Test("left and opened again it counts on; the right code logs in and cancels the countdown")
    func logsIn() throws {
        let first = try page("login/138 3600")
        try first.wait(for: "Enter presses")
        try first.type("\r")
        let sent = try code(in: first.wait(for: "Your phone shows"))
        try first.type("12", until: "[1] [2] [ ] [ ]")
        try first.type("\u{7F}\u{3}", until: "[exit 0]")

        let second = try page()
        let third = try page()
        for terminal in [second, third] {
            try terminal.wait(for: "the hour") { $0.contains(#/< Again in (1:00:00|59:[0-9]{2}) >/#) }
        }
        try second.type(sent == "1111" ? "2222" : "1111", until: "That is not the code")
        try second.paste("Your code is \(sent), valid 10 min")
        try second.wait(for: "Welcome back\n[exit 0]")
        try third.wait(for: "< Send a new code >")
    }

    @Test("while the daemon is away it counts on, and if the daemon has lost its store, it can be pressed again")
    func losesDaemon() throws {
        let terminal = try page("login/138 3600")
        try terminal.wait(for: "Enter presses")
        try terminal.type("\r", until: "< Again in 59:")
        try daemon.terminate()
        let picture = try terminal.picture()
        try terminal.wait(for: "another second") { $0.contains("< Again in 59:") && $0 != picture }
        try FileManager.default.removeItem(atPath: daemon.stateDirectory)
        let second = try DaemonProcess(in: daemon.directory)
        try terminal.wait(for: "Enter presses")
        #expect(try terminal.picture().contains("< Send code >"))
        try terminal.type("\r", until: "< Again in")
        #expect(try Caller(of: second).call(Get(key: "login/138")).countdown.state == .running)
    }
}

private let program =
    BuiltProduct.source(".build/test-examples/swift/debug/login")
private var isCompiled: Bool { FileManager.default.isExecutableFile(atPath: program) }
