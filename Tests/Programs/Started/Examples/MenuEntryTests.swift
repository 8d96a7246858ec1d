import Foundation
import IPC
import TestSupport
import Testing

@Suite("The entry in the menu of a desktop")
struct MenuEntryTests {
    /// The commands of the entry and of its actions, with the program that was built.
    private func commands() throws -> [String] {
        let program = try BuiltProduct.path(of: "countdownctl")
        let entry = try BuiltProduct.text(of: "packaging/desktop/io.countdownd.countdownctl.desktop")
        return entry.matches(of: /Exec=sh -c "(.*)"/).map {
            String($0.1).replacing("/usr/bin/countdownctl", with: program)
        }
    }

    @Test("an action starts its timer and follows it to its end")
    func actions() throws {
        let daemon = try DaemonProcess()
        let caller = try Caller(of: daemon)
        let commands = try commands()
        #expect(commands.count == 6)
        for (command, minutes) in zip(commands.dropFirst(), [3, 5, 10, 25]) {
            let action = try RunningCommand(
                ["-c", command],
                executable: "/bin/sh",
                environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
            )
            let key = "timer/\(minutes)m"
            try waitUntil("\(key) to run") {
                try caller.call(List(keys: [key])).countdowns.first?.durationUSec == Int64(minutes) * 60_000_000
            }
            _ = try caller.call(Finish(key: key))
            #expect(try action.finish().exitCode == 0)
        }
    }

    @Test("without a daemon the terminal stays until Enter, with the reason")
    func fault() throws {
        let list = try RunningCommand(
            ["-c", try #require(commands().last)],
            executable: "/bin/sh",
            environment: ["COUNTDOWND_SOCKET": "/nonexistent/socket"],
            input: nil
        )
        try list.type("\n")
        let run = try list.finish()
        #expect(run.exitCode == 0 && run.standardError.contains("no daemon at /nonexistent/socket"))
    }
}
