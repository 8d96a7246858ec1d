import Foundation
import TestSupport
import Testing

/// A daemon and a user with terminals, new for each test.
class TerminalSuite {
    let daemon: DaemonProcess

    init() throws { daemon = try DaemonProcess() }

    var environment: [String: String] { ["COUNTDOWND_SOCKET": daemon.socketPath] }

    /// A terminal on which a line is typed.
    func terminal(
        _ line: String,
        _ environment: [String: String] = [:],
        columns: Int = 80,
        rows: Int = 12
    ) throws -> TerminalPane {
        try TerminalPane(
            line,
            environment: self.environment.merging(environment) { _, given in given },
            columns: columns,
            rows: rows
        )
    }

    /// Runs a command to its end.
    @discardableResult
    func run(_ words: String...) throws -> CommandRun {
        try CommandRun(words, environment: environment.merging(["TZ": "UTC0"]) { $1 })
    }
}

extension TerminalPane {
    /// Waits until the terminal looks like a picture in Tests/Programs/Pictures, with HH:MM:SS for each time of day and #
    /// for each digit of the seconds on a button.
    func wait(toLookLike name: String) throws {
        let kept = try BuiltProduct.text(of: "Tests/Programs/Pictures/\(name).txt")
        try wait(for: "the picture \(name):\n\(kept)") { normalized($0) + "\n" == kept }
    }

    /// Waits until the program has ended with a code, and checks that the terminal is as it was before.
    func waitForExit(_ code: Int) throws {
        try wait(for: "[exit \(code)]")
        #expect(try state("#{cursor_flag} #{mouse_any_flag}") == "1 0")
    }

    /// Types text, and waits until the terminal looks like a picture.
    func type(_ text: String, untilItLooksLike name: String) throws {
        try type(text)
        try wait(toLookLike: name)
    }

    /// Types text, and waits until the program has ended with a code.
    func type(_ text: String, untilExit code: Int) throws {
        try type(text)
        try waitForExit(code)
    }

    private func normalized(_ picture: String) -> String {
        picture.replacing(#/[0-9]{2}:[0-9]{2}:[0-9]{2}/#, with: "HH:MM:SS")
            .replacing(#/[0-9](?=[0-9]* s|\) Resend)/#, with: "#")
            .replacing(#/\(([0-9])#\)/#, with: "(##)")
    }
}
