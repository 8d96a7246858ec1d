import Foundation
import IPC
import TestSupport
import Testing

private let qmllint = "/usr/lib/qt6/bin/qmllint"
private let isThere = FileManager.default.isExecutableFile(atPath: qmllint) && hasPyQt
private let hasPyQt =
    (try? RunningCommand(["-c", "import PyQt6.QtQml"], executable: "/usr/bin/python3").finish().exitCode) == 0

/// The component for shells made with Quickshell, in an engine for QML with a stand-in for Quickshell's types.
@Suite("The example for Quickshell", .enabled(if: isThere, "Qt 6 with QML and PyQt is not installed"))
struct QuickshellTests {
    private static let root = BuiltProduct.packageDirectory.path
    private static let component = "\(root)/examples/quickshell/Countdowns.qml"

    @Test("qmllint has no remark")
    func lint() throws {
        // Debian's Qt lacks a file that qmllint has inside as well, and says so.
        let words = [
            "--import", "info", "-I", "\(Self.root)/Tests/Programs/Started/Examples/Quickshell", Self.component,
        ]
        let run = try RunningCommand(words, executable: qmllint).finish()
        #expect(run.exitCode == 0, "\(run)")
    }

    @Test("it lists countdowns and their ends, makes calls, and misses and repeats nothing when the daemon restarts")
    func runs() throws {
        let daemon = try DaemonProcess()
        let shell = try RunningCommand(
            ["\(Self.root)/Tests/Programs/Started/Examples/Quickshell/shell.py", Self.component, "t*"],
            executable: "/usr/bin/python3",
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath],
            input: nil
        )
        var seen: [String] = []
        func line(_ wanted: String) throws {
            while let line = try shell.line() {
                seen.append(line)
                if line == wanted { return }
            }
            Issue.record("the shell has not said \(wanted): \(seen)")
        }
        try line(#"{"connected": true}"#)
        try shell.type("Start {\"key\": \"tea\", \"durationUSec\": 3600000000}\n")
        try line(#"{"list": [["tea", "running", true]]}"#)
        try shell.type("Cancel {\"key\": \"nothing\"}\n")
        try line(#"{"failed": "io.countdownd.NoSuchCountdown", "parameters": {"key": "nothing"}}"#)
        let caller = try Caller(of: daemon)
        _ = try caller.call(Start(key: "egg", durationUSec: 3_600_000_000))
        _ = try caller.call(Start(key: "toast", durationUSec: 7_200_000_000))
        try line(#"{"list": [["tea", "running", true], ["toast", "running", true]]}"#)
        try shell.type("Pause {\"key\": \"tea\"}\n")
        try line(#"{"list": [["toast", "running", true], ["tea", "paused", true]]}"#)
        _ = try caller.call(Finish(key: "tea"))
        try line(#"{"finished": "tea"}"#)
        try daemon.kill()
        try line(#"{"connected": false}"#)
        seen = []
        let second = try DaemonProcess(in: daemon.directory)
        _ = try Caller(of: second).call(Finish(key: "toast"))
        try line(#"{"finished": "toast"}"#)
        try line(#"{"list": []}"#)
        // An end that was reported before the restart is not reported again.
        #expect(!seen.contains(#"{"finished": "tea"}"#))
    }
}
