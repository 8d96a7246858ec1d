import Foundation
import IPC
import TestSupport
import Testing

/// The commands of docs/operations.md, over the store of a daemon that runs.
@Suite("Backup, and reading the store")
struct BackupTests {
    private let daemon: DaemonProcess
    private let home: TemporaryDirectory

    init() throws {
        daemon = try DaemonProcess()
        home = try TemporaryDirectory()
        let folder = home.path(of: ".local/state")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(folder)/countdownd",
            withDestinationPath: daemon.stateDirectory
        )
    }

    /// Runs the blocks for a shell between two headings.
    private func run(after heading: String, before next: String) throws -> CommandRun {
        let file = BuiltProduct.packageDirectory.appendingPathComponent("docs/operations.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: heading))
        let end = try #require(text.range(of: next, range: start.upperBound..<text.endIndex))
        let blocks = text[start.upperBound..<end.lowerBound].matches(of: #/```sh\n((?s).*?)```/#)
        let script = blocks.map { String($0.1) }.joined()
        return try RunningCommand(
            ["-ec", script],
            executable: "/bin/sh",
            environment: ["HOME": home.path, "PATH": "\(BuiltProduct.folder()):/usr/bin:/bin"]
        ).finish()
    }

    @Test("a copy that is made while the daemon runs has every answered change, and its countdowns can be printed")
    func works() throws {
        let started = try Caller(of: daemon).call(Start(key: "tea", durationUSec: .seconds(3600), label: "Green tea"))
        let run = try run(after: "**Backup.**", before: "If `cp` fails")
        #expect(run.exitCode == 0, "\(run.standardError)")
        #expect(run.standardOutput == "1\n")
        let other = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: other.path(of: "state"),
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.copyItem(
            atPath: home.path(of: "countdowns-backup"),
            toPath: other.path(of: "state/log")
        )
        let second = try DaemonProcess(in: other)
        let found = try Caller(of: second).call(Get(key: "tea")).countdown
        #expect(found.revision == started.countdown.revision && found.deadlineUSec == started.countdown.deadlineUSec)
    }
}
