import Foundation
import TestSupport
import Testing

/// A user with a daemon and the service that undoes changes, as a session without systemd starts them.
@Suite("countdownctl temporarily, keep and undo")
struct TemporarilyCommandsTests {
    private let home: TemporaryDirectory
    private let daemon: DaemonProcess
    private let service: RunningCommand

    init() throws {
        home = try TemporaryDirectory()
        daemon = try DaemonProcess(in: home)
        let runtime = home.path(of: "run/countdownd")
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: home.path(of: "run"))
        try FileManager.default.createSymbolicLink(
            atPath: "\(runtime)/io.countdownd",
            withDestinationPath: daemon.socketPath
        )
        service = try RunningCommand(["undo-service", "--stay"], environment: Self.environment(home))
        try waitUntil("the service") { try run("undo nothing").exitCode != 69 }
    }

    private static func environment(_ home: TemporaryDirectory) -> [String: String] {
        ["HOME": home.path, "XDG_RUNTIME_DIR": home.path(of: "run"), "PATH": "/usr/bin:/bin"]
    }

    /// Runs the words of a line; `~` stands for the home directory.
    private func run(_ line: String, _ environment: [String: String] = [:]) throws -> CommandRun {
        try begin(line, environment).finish()
    }

    private func begin(_ line: String, _ environment: [String: String] = [:]) throws -> RunningCommand {
        let words = line.replacing("~", with: home.path)
        return try RunningCommand(
            ["-c", "exec '\(BuiltProduct.path(of: "countdownctl"))' \(words)"],
            executable: "/bin/sh",
            environment: Self.environment(home).merging(environment) { $1 }
        )
    }

    private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: home.path(of: name)) }

    private var directory: String { home.path(of: ".local/state/countdown-undo") }

    private var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? [] }

    /// Stops the service while it holds no lock, for which a command would wait.
    private func pauseService() throws {
        try waitUntil("the service to stop without a lock") {
            service.process.send(signal: SIGSTOP)
            let isUnlocked = ([""] + files).allSatisfy { name in
                let file = unsafe open("\(directory)/\(name)", O_RDONLY | O_CLOEXEC)
                defer { close(file) }
                return file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0
            }
            if !isUnlocked { service.process.send(signal: SIGCONT) }
            return isUnlocked
        }
    }

    /// When the only file says that its change is undone.
    private func deadline() throws -> Date {
        // A file with .new is being written.
        let name = try #require(files.first { !$0.hasSuffix(".new") })
        let text = try String(contentsOfFile: "\(directory)/\(name)", encoding: .utf8)
        let microseconds = try #require(text.firstMatch(of: #/"deadlineUSec":([0-9]+)/#).flatMap { Double($0.1) })
        return Date(timeIntervalSince1970: microseconds / 1_000_000)
    }

    @Test("the change is undone at the end of the countdown, and status, list and the file say it before")
    func undoes() throws {
        let run = try run("temporarily dnd 1h --undo 'rm ~/on' -- touch ~/on")
        #expect(run.exitCode == 0 && run.message.hasPrefix("dnd: until "))
        #expect(run.message.contains(", then: rm \(home.path)/on"))
        #expect(exists("on") && files.count == 1)
        #expect(try self.run("list").standardOutput.contains("rm \(home.path)/on"))
        #expect(try self.run("status").standardOutput.contains("Undo: dnd at "))
        _ = try self.run("adjust undo/dnd -1h")
        try waitUntil("it to be undone") { !exists("on") && files.isEmpty }
    }

    @Test("a kept change stays, and an end by any client undoes it")
    func keeps() throws {
        _ = try run("temporarily firewall 1h --undo 'rm ~/new' -- touch ~/new")
        #expect(try run("keep firewall").message == "firewall: kept")
        #expect(exists("new") && files.isEmpty)
        #expect(try run("list").standardError == "no countdowns\n")
        for verb in ["cancel undo/c", "finish undo/c", "undo c", "undo undo/c"] {
            _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/c")
            #expect(exists("c"))
            #expect(try run(verb).exitCode == 0)
            try waitUntil("\(verb) to undo it") { !exists("c") && files.isEmpty }
        }
    }

    @Test("if the command fails, the change is undone at once, and the code is the command's")
    func undoesFailures() throws {
        let run = try run("temporarily c 1h --undo 'touch ~/undone' -- sh -c 'exit 3'")
        #expect(run.exitCode == 3 && run.standardError.hasSuffix("c: undone\n"))
        #expect(exists("undone") && files.isEmpty)
        #expect(try self.run("temporarily c 1h --undo 'touch ~/again' -- /no/such").exitCode == 127)
        #expect(exists("again") && files.isEmpty)
        let both = try self.run("temporarily c 1h --undo false -- sh -c 'exit 3'")
        #expect(both.exitCode == 3 && both.standardError.contains("c: the undo failed: exit code 1; it is tried again"))
        _ = try self.run("keep c")
    }

    @Test("for the same undo the later deadline wins and the command does not run again; another undo is refused")
    func prolongs() throws {
        _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/c")
        _ = try run("temporarily c 2h --undo 'rm ~/c' -- touch ~/second")
        _ = try run("temporarily c 1m --undo 'rm ~/c' -- touch ~/second")
        #expect(!exists("second") && files.count == 1)
        #expect(try run("show undo/c --format '{remaining}'").standardOutput.contains(#/^(2:00:00|1:59:)/#))
        let other = try run("temporarily c 1h --undo 'rm ~/other' -- touch ~/second")
        #expect(other.exitCode == 75 && other.message.contains("c has another undo: rm "))
        #expect(!exists("second"))
    }

    @Test("an undo that fails is tried again, is shown, becomes a notification, and can be kept")
    func retries() throws {
        _ = try run("temporarily c 1h --shell --undo 'echo no such mode; test -e ~/ready && touch ~/undone' -- true")
        let failed = try run("undo c")
        #expect(failed.exitCode == 75 && failed.message.contains("the undo failed: exit code 1: no such mode"))
        #expect(try run("status").standardOutput.contains("Undo: c failed: exit code 1: no such mode"))
        #expect(try run("show undo-failed/c --json").standardOutput.contains("\"undo-failure\":\"exit code 1"))
        _ = try home.write("", to: "ready")
        #expect(try run("undo c").message == "c: undone")
        #expect(exists("undone") && files.isEmpty)
        _ = try run("temporarily d 1us --undo false -- true")
        try waitUntil("the failure to be shown") { try run("status").standardOutput.contains("Undo: d failed") }
        #expect(try run("keep d").exitCode == 0 && files.isEmpty)
    }

    @Test("an undo that takes too long is ended, and counts as failed")
    func endsLongUndos() throws {
        _ = try run("temporarily c 1h --undo 'sleep 1000' --undo-timeout 10ms -- true")
        #expect(try run("undo c").message.contains("c: the undo failed: it took longer than 10ms"))
        _ = try run("keep c")
    }

    @Test("what cannot be undone is refused before anything changes")
    func refuses() throws {
        let missing = try run("temporarily c 1h --undo no-such-program -- touch ~/c")
        #expect(missing.exitCode == 127 && missing.message.contains("cannot run --undo: 'no-such-program'"))
        let other = try run("temporarily c 1h --undo true -- touch ~/c", ["COUNTDOWND_SOCKET": daemon.socketPath])
        #expect(other.exitCode == 64 && other.message.contains("`env -u COUNTDOWND_SOCKET countdownctl …`"))
        let remote = try run("temporarily c 1h --undo true -- touch ~/c", ["COUNTDOWND_HOST": "there"])
        #expect(remote.exitCode == 64 && remote.message.contains("`ssh there countdownctl …`"))
        for line in [
            "temporarily", "temporarily c 1h -- true", "temporarily c --undo true -- true",
            "temporarily c 1h --undo true", "temporarily c 1h --until 17:30 --undo true -- true",
        ] {
            #expect(try run(line).exitCode == 64, "\(line)")
        }
        let undone = try run("undo c")
        #expect(undone.exitCode == 4 && undone.message.contains("c: nothing is to be undone"))
        _ = try service.stop()
        let off = try run("temporarily c 1h --undo true -- touch ~/c")
        #expect(off.exitCode == 69 && off.message.contains("no countdown-undo runs"))
        #expect(!exists("c") && files.isEmpty)
    }

    @Test("a directory of another user, or one that others can write, is refused before anything changes")
    func refusesForeignDirectories() throws {
        let path = directory
        let manager = FileManager.default
        try manager.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        let open = try run("temporarily c 1h --undo true -- touch ~/c")
        #expect(open.exitCode == 77 && open.message.contains("can be written by others (mode 0777); as root: `chown"))
        try manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
        if geteuid() == 0 {
            try manager.setAttributes([.ownerAccountID: 65_534], ofItemAtPath: path)
            let foreign = try run("temporarily c 1h --undo true -- touch ~/c")
            #expect(foreign.exitCode == 77 && foreign.message.contains("belongs to UID 65534; as root: `chown -R 0"))
        }
        #expect(!exists("c"))
    }

    @Test("while the command runs, its change is neither undone nor kept, also after the deadline")
    func locks() throws {
        let line = "temporarily c 1us --undo 'rm ~/c' -- sh -c 'touch ~/c; until test -e ~/go; do sleep 0.01; done'"
        let command = try begin(line)
        try waitUntil("the command to run") { exists("c") }
        let kept = try run("keep c")
        #expect(kept.exitCode == 75 && kept.message.contains("c: its command still runs"))
        #expect(exists("c"))
        _ = try home.write("", to: "go")
        #expect(try command.finish().exitCode == 0)
        try waitUntil("it to be undone") { !exists("c") && files.isEmpty }
    }

    @Test("after the loss of the store and of the service the change is undone at its time")
    func survivesLosses() throws {
        _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/c")
        _ = try service.stop()
        _ = try run("start undo/c 2h --restart")
        let second = try begin("undo-service")
        try waitUntil("the service to start its countdown again") {
            try run("show undo/c --json").standardOutput.contains("\"undo\":")
        }
        #expect(exists("c"))
        #expect(try run("undo c").exitCode == 0)
        #expect(!exists("c"))
        // Without --stay it ends when nothing remains to be undone.
        #expect(try second.finish().exitCode == 0)
    }

    @Test("an undo that is asked for runs, although the daemon has lost its countdown and the service has not noticed")
    func undoesWithoutCountdown() throws {
        _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/c")
        try pauseService()
        _ = try run("start undo/c 2h --restart")
        let command = try begin("undo c")
        try waitUntil("the file to say that its undo is due") { try deadline() <= Date() }
        service.process.send(signal: SIGCONT)
        #expect(try command.finish().message == "c: undone")
        #expect(!exists("c") && files.isEmpty)
    }

    @Test("a countdown that another program has restarted does not move the end of the change")
    func ignoresForeignEnds() throws {
        try pauseService()
        defer { service.process.send(signal: SIGCONT) }
        for time in ["9h", "1h"] {
            _ = try run("temporarily c 2h --undo 'rm ~/c' -- touch ~/c")
            _ = try run("start undo/c \(time) --restart")
            _ = try run("temporarily c 3h --undo 'rm ~/c' -- touch ~/second")
            #expect(try abs(deadline().timeIntervalSinceNow - 3 * 3_600) < 600, "\(time)")
            #expect(try run("show undo/c --json").standardOutput.contains("\"undo\":"))
            _ = try run("start undo/c \(time) --restart")
            _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/second")
            #expect(try abs(deadline().timeIntervalSinceNow - 3 * 3_600) < 600, "\(time)")
            _ = try run("keep c")
        }
        #expect(!exists("second"))
    }

    @Test("after a failed undo the same call runs its command again; from another directory it is refused")
    func changesAgain() throws {
        let line = "temporarily c 1h --undo 'test -e ~/ready' -- sh -c 'echo >> ~/count'"
        #expect(try run(line).exitCode == 0)
        #expect(try run(line).message.hasSuffix("; it was changed before"))
        let elsewhere = try RunningCommand(
            ["-c", "cd /tmp; exec '\(BuiltProduct.path(of: "countdownctl"))' \(line.replacing("~", with: home.path))"],
            executable: "/bin/sh",
            environment: Self.environment(home)
        ).finish()
        #expect(elsewhere.exitCode == 75 && elsewhere.message.contains("c has another undo: test -e"))
        #expect(try run("undo c").exitCode == 75)
        #expect(try run(line).exitCode == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: home.path(of: "count"))).count == 2)
        #expect(try run("status").standardOutput.contains("Undo: c at "))
        _ = try run("keep c")
    }

    @Test("names and outputs of any length become a notification, and an undo of any length has a label")
    func longTexts() throws {
        for length in [1, 243, 244, 250] {
            let name = String(repeating: "n", count: length)
            let undo = "for i in $(seq 300); do printf \\U1F469\\u200D\\U1F469\\u200D\\U1F467; done; exit 1"
            _ = try run("temporarily \(name) 1us --undo 'bash -c \"\(undo)\"' -- true")
            try waitUntil("the failure to be told") {
                try run("list --all --json 'undo-failed/*'").standardOutput.contains("\"label\":\"\(name)\"")
            }
            _ = try run("keep \(name)")
        }
        for letter in ["a", "é", "👩‍👩‍👧"] {
            let long = String(repeating: letter, count: 2_000)
            let run = try run("temporarily c 1h --undo 'true \(long)' -- true")
            #expect(run.exitCode == 0, "\(run.message)")
            _ = try self.run("keep c")
        }
    }

    @Test("names that Unicode calls equivalent are two, and a name may be typed as its key")
    func names() throws {
        _ = try run("temporarily \u{E9} 1h --undo 'rm ~/one' -- touch ~/one")
        _ = try run("temporarily e\u{301} 1h --undo 'rm ~/two' -- touch ~/two")
        #expect(exists("one") && exists("two") && files.count == 2)
        #expect(try run("undo \u{E9}").exitCode == 0)
        #expect(!exists("one") && exists("two"))
        #expect(try run("keep undo/e\u{301}").exitCode == 0)
        _ = try run("temporarily undo/dnd 1h --undo 'rm ~/dnd' -- touch ~/dnd")
        #expect(try run("list").standardOutput.contains("undo/dnd"))
        #expect(try run("keep undo/dnd").exitCode == 0 && files.isEmpty)
    }

    @Test("a directory that is gone or has no name in UTF-8 is refused; one that goes later is told with the undo")
    func directories() throws {
        let program = try BuiltProduct.path(of: "countdownctl")
        func inDirectory(_ commands: String) throws -> CommandRun {
            try RunningCommand(
                ["-c", "cd '\(home.path)'; \(commands)"],
                executable: "/bin/sh",
                environment: Self.environment(home).merging(["CTL": program]) { $1 }
            ).finish()
        }
        let call = "exec $CTL temporarily c 1h --undo true -- touch '\(home.path(of: "c"))'"
        let gone = try inDirectory("mkdir d; cd d; rmdir ../d; \(call)")
        #expect(gone.exitCode == 69 && gone.message.contains("the working directory was removed"))
        let bytes = try inDirectory("d=$(printf 'd\\377'); mkdir \"$d\"; cd \"$d\"; \(call)")
        #expect(bytes.exitCode == 69 && bytes.message.contains("is not UTF-8"))
        #expect(!exists("c") && files.isEmpty)
        _ = try inDirectory("mkdir e; cd e; $CTL temporarily e 1h --undo false -- true; rmdir ../e")
        let failed = try run("undo e")
        #expect(failed.message.contains("exit code 1: the directory \(home.path)/e is gone; the undo runs in the home"))
        _ = try run("keep e")
    }

    @Test("a paused change whose countdown the daemon has lost stays paused")
    func keepsPauses() throws {
        _ = try run("temporarily c 1s --undo 'rm ~/c' -- touch ~/c")
        _ = try run("pause undo/c")
        try waitUntil("the pause to be noted") { try run("status").standardOutput.contains("after resume: rm ") }
        // As if the store was lost: the file alone knows of the pause.
        _ = try run("start undo/c 1us --restart")
        try waitUntil("the service to start it again") {
            let countdown = try run("show undo/c --json").standardOutput
            return countdown.contains("\"undo\":") && countdown.contains("paused")
        }
        letPass(.seconds(1))
        #expect(exists("c"))
        _ = try run("resume undo/c")
        try waitUntil("it to be undone") { !exists("c") && files.isEmpty }
    }

    @Test("if keep was killed before it had cancelled the countdown, the service cancels it and removes the file")
    func finishesKilledKeep() throws {
        _ = try run("temporarily c 1h --undo 'rm ~/c' -- touch ~/c")
        _ = try service.stop()
        let file = ".local/state/countdown-undo/\(try #require(files.first))"
        let text = try String(contentsOfFile: home.path(of: file), encoding: .utf8)
        _ = try home.write(text.replacing("\"changed\"", with: "\"kept\""), to: file)
        let second = try begin("undo-service")
        try waitUntil("the file to go") { files.isEmpty }
        #expect(try second.finish().exitCode == 0)
        #expect(exists("c"))
        #expect(try run("show undo/c").standardOutput.contains("cancelled"))
    }
}
