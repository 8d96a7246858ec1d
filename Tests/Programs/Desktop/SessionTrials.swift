import Foundation
import IPC
import TestSupport
import Testing

private let hideSystemd = "mount -t tmpfs none /run"
private let hasNamespaces = (try? inNamespaces(hideSystemd).finish().exitCode) == 0

/// A line of sh(1) in namespaces, which end with their processes if the command is stopped.
private func inNamespaces(_ line: String, environment: [String: String] = [:]) throws -> RunningCommand {
    try RunningCommand(
        ["--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", line],
        executable: "/usr/bin/unshare",
        environment: environment
    )
}

/// The script that the autostart entry names, in a mount namespace whose /run has no systemd, or one.
@Suite(
    "A desktop without systemd",
    .enabled(if: hasNamespaces, "users cannot have namespaces here")
)
struct SessionTrials {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try directory.makeDirectory("runtime", mode: 0o700)
    }

    /// Starts the script after a command that prepares the namespaces.
    private func session(after preparation: String = hideSystemd) throws -> RunningCommand {
        let programs = URL(fileURLWithPath: try BuiltProduct.path(of: "countdown-notify")).deletingLastPathComponent()
        let script = BuiltProduct.source("packaging/desktop/session")
        return try inNamespaces(
            "\(preparation) && exec \(script)",
            environment: [
                "PATH": "\(programs.path):/usr/bin:/bin:/usr/sbin:/sbin", "HOME": directory.path,
                "XDG_RUNTIME_DIR": directory.path(of: "runtime"),
                "DBUS_SESSION_BUS_ADDRESS": Desktop.address(in: directory),
            ]
        )
    }

    private func countdownctl(_ arguments: String...) throws -> CommandRun {
        let socket = directory.path(of: "runtime/countdownd/io.countdownd")
        return try CommandRun(arguments, environment: ["COUNTDOWND_SOCKET": socket])
    }

    private func revision(of key: String) throws -> Int64 {
        let text = try countdownctl("show", key, "--json").standardOutput
        return try #require(text.firstMatch(of: /"revision": ?(\d+)/).flatMap { Int64($0.1) })
    }

    /// The revision up to which countdown-notify has shown everything.
    private func delivered() throws -> Int64 {
        let path = directory.path(of: ".local/state/countdown-notify/delivered")
        let words = try String(contentsOfFile: path, encoding: .utf8).split(separator: " ")
        return words.first.flatMap { Int64($0) } ?? 0
    }

    @Test("the daemon and the notifications run until the session bus ends, and again in the next session")
    func sessions() throws {
        for key in ["tea", "egg"] {
            let desktop = try Desktop(in: directory)
            let server = try NotificationServer(on: desktop)
            let session = try session()
            try waitUntil("countdown-notify and the service that undoes changes watch") {
                try countdownctl("status", "--json").standardOutput.contains("\"watchers\":2,")
            }
            let countdown = try countdownctl("start", key, "1ms")
            #expect(countdown.exitCode == 0, "\(countdown.standardError)")
            #expect(try server.next().summary == key)
            // Otherwise the next session shows it again.
            try waitUntil("the end is saved as shown") { try delivered() >= revision(of: key) }
            try desktop.end()
            let run = try session.finish()
            #expect(run.exitCode == 0, "\(run.standardError)")
        }
    }

    @Test(
        "where systemd runs, the service of notifications is started if it is enabled, and failed undos are tried again",
        arguments: [0, 1]
    )
    func systemd(isDisabled: Int) throws {
        let record = directory.path(of: "calls")
        try directory.write(program: "echo $* >> \(record)\n[ $3 = start ] || exit \(isDisabled)", to: "systemctl")
        let preparation = "\(hideSystemd) && mkdir -p /run/systemd/system && PATH=\(directory.path):$PATH"
        let run = try session(after: preparation).finish()
        #expect(run.exitCode == 0 && run.standardOutput.isEmpty && run.standardError.isEmpty)
        let calls = [
            "--user --quiet is-enabled countdown-notify.service", "--user --no-block start countdown-notify.service",
        ]
        let retry = "--user kill --kill-who=main --signal=USR1 countdown-undo.service"
        let expected = (calls.dropLast(isDisabled) + [retry]).map { "\($0)\n" }.joined()
        #expect(try String(contentsOfFile: record, encoding: .utf8) == expected)
    }

    @Test("the programs beside the script are found, whatever the PATH of the desktop")
    func path() throws {
        for folder in ["installed/bin", "installed/libexec/countdownd"] {
            try directory.makeDirectory(folder)
        }
        let script = directory.path(of: "installed/libexec/countdownd/session")
        let source = BuiltProduct.source("packaging/desktop/session")
        try FileManager.default.copyItem(atPath: source, toPath: script)
        let pipe = directory.path(of: "pipe")
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        for (name, line) in [
            "countdownd": "echo daemon > \(pipe)", "countdown-notify": "cat \(pipe); echo notifier $*",
        ] {
            try directory.write(program: line, to: "installed/bin/\(name)")
        }
        let run = try inNamespaces("\(hideSystemd) && exec \(script)", environment: ["PATH": "/usr/bin:/bin:/usr/sbin"])
            .finish()
        #expect(run.standardOutput == "daemon\nnotifier --session\n", "\(run)")
    }
}
