import Foundation
import Glibc
import IPC
import TestSupport
import Testing

@Suite("countdownctl watch --exec with --cursor-file and --before")
struct HookCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist
    private let directory: TemporaryDirectory
    /// What the commands have written.
    private var out: String { directory.path(of: "out") }
    private var cursor: String { directory.path(of: "cursor") }

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
        directory = try TemporaryDirectory()
    }

    /// A watch that continues, whose commands are lines for sh(1).
    private func begin(
        _ script: String = #"echo "$COUNTDOWN_KEY" >> "$OUT""#,
        on event: String = "finished"
    ) throws
        -> RunningCommand
    {
        let words = ["watch", "-q", "--tick", "0", "--on", event, "--shell", "--exec", script, "--cursor-file", cursor]
        return try RunningCommand(words, environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out])
    }

    private func end(_ keys: String...) throws { try end(keys) }

    private func end(_ keys: [String]) throws {
        let caller = try Caller(of: daemon)
        for key in keys {
            _ = try caller.call(Start(key: key, durationUSec: .seconds(3600)))
            _ = try caller.call(Finish(key: key))
        }
    }

    /// Waits for the lines that commands have written.
    private func lines(_ count: Int) throws -> [String] {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let text = (try? String(contentsOfFile: out, encoding: .utf8)) ?? ""
            let lines = text.split(separator: "\n").map(String.init)
            if lines.count >= count { return lines }
        }
        throw NotWritten()
    }

    /// Waits until the file has the daemon's newest revision.
    private func awaitCursor() throws {
        let newest = try #require(try member("revision", of: typist.type("status --json").standardOutput))
        let deadline = ContinuousClock.now + .seconds(60)
        while (try? String(contentsOfFile: cursor, encoding: .utf8)) != "\(newest)\n" {
            guard ContinuousClock.now < deadline else { throw NotWritten() }
        }
    }

    private struct NotWritten: Error {}

    @Test("a missing file means now; ends that came while no watch ran have their commands in the next run, once")
    func resumes() throws {
        try end("before")
        let first = try begin()
        try awaitCursor()
        try end("tea")
        #expect(try lines(1) == ["tea"])
        try awaitCursor()
        first.interrupt()
        _ = try first.finish()
        try end("egg", "cake")
        for _ in 0..<2 {
            let watch = try begin()
            #expect(try lines(3).sorted() == ["cake", "egg", "tea"])
            try typist.awaitWatchers(1)
            try awaitCursor()
            watch.interrupt()
            #expect(try watch.finish().exitCode == 130)
        }
        #expect(try lines(3).count == 3)
    }

    @Test("the command that a kill interrupts runs again, and those that have exited, with whatever code, do not")
    func repeatsAfterKill() throws {
        let fifo = directory.path(of: "fifo")
        #expect(unsafe mkfifo(fifo, 0o600) == 0)
        let script = """
            echo "$COUNTDOWN_KEY" >> "$OUT"
            test "$COUNTDOWN_KEY" != egg || test -e "$OUT.2" || read -r line < "\(fifo)"
            exit 3
            """
        let first = try begin(script)
        try awaitCursor()
        try end("tea")
        _ = try lines(1)
        try awaitCursor()
        try end("egg", "cake")
        #expect(try Set(lines(3)) == ["tea", "egg", "cake"])
        first.process.send(signal: SIGKILL)
        _ = try first.finish()
        _ = try directory.write("", to: "out.2")
        let second = try begin(script)
        #expect(try lines(5).dropFirst(3).sorted() == ["cake", "egg"])
        try awaitCursor()
        second.interrupt()
        _ = try second.finish()
        #expect(try lines(5).count == 5)
        // Lets the command of the killed watch exit.
        let writing = unsafe open(fifo, O_RDWR | O_NONBLOCK)
        _ = unsafe write(writing, "\n", 1)
        close(writing)
    }

    @Test("many more events than commands may run, and than may wait, are all run, none is skipped")
    func skipsNothing() throws {
        let watch = try begin()
        try awaitCursor()
        watch.interrupt()
        _ = try watch.finish()
        try end((0..<1_200).map { "k\($0)" })
        let again = try begin()
        #expect(try Set(lines(1_200)).count == 1_200)
        try awaitCursor()
        again.interrupt()
        #expect(try again.finish().messages == [])
        #expect(try lines(1_200).count == 1_200)
    }

    @Test("if the history was trimmed, the watch says so and goes on with the ends that are kept")
    func trimmed() throws {
        try end("tea")
        _ = try directory.write("1\n", to: "cursor")
        let words = ["watch", "--tick", "0", "--on", "finished", "--exec", "true", "--cursor-file", cursor]
        let watch = try RunningCommand(words, environment: ["COUNTDOWND_SOCKET": daemon.socketPath])
        #expect(try watch.line()?.hasPrefix("tea: finished") == true)
        try awaitCursor()
        watch.interrupt()
        let message = "the daemon no longer has the history since the last event; ends may be missing"
        #expect(try watch.finish().messages == [message])
    }

    @Test("the file of another history, and one with another content, is refused with its name")
    func refuses() throws {
        _ = try directory.write("9007199254740991\n", to: "cursor")
        let ahead = try begin().finish()
        #expect(ahead.exitCode == 64)
        #expect(ahead.message.contains("its revision 9007199254740991 is later than the daemon's newest"))
        _ = try directory.write("#!/bin/sh\n", to: "cursor")
        let other = try begin().finish()
        #expect(other.exitCode == 64)
        #expect(other.message.hasPrefix("countdownctl: invalid --cursor-file '\(cursor)': "))
        #expect(try String(contentsOfFile: cursor, encoding: .utf8) == "#!/bin/sh\n")
        for line in [
            "watch --cursor-file x", "watch --on finished --exec true --cursor-file x --since 5",
            "watch --on finished --exec true --cursor-file x --format {key}", "watch --before 1m",
            "watch --before 0s --exec true",
        ] {
            #expect(try typist.type(line).exitCode == 64, "\(line)")
        }
        let unwritable = ["watch", "--on", "finished", "--exec", "true", "--cursor-file", "/proc/self/cmdline"]
        #expect(try typist.type(words: unwritable).exitCode == 74)
    }

    @Test("a second watch with the same file fails with its name, and a watch after the first continues")
    func locks() throws {
        let first = try begin()
        try awaitCursor()
        let second = try begin().finish()
        #expect(second.exitCode == 75)
        let sentence = "--cursor-file '\(cursor)' is in use by another watch: process "
        #expect(second.message.hasPrefix("countdownctl: \(sentence)"))
        let link = directory.path(of: "link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: cursor)
        let third = try typist.type(words: ["watch", "--on", "finished", "--exec", "true", "--cursor-file", link])
        #expect(third.exitCode == 75)
        #expect(third.message.hasPrefix("countdownctl: \(sentence)"))
        first.interrupt()
        _ = try first.finish()
        try end("tea")
        let next = try begin()
        #expect(try lines(1) == ["tea"])
        next.interrupt()
        _ = try next.finish()
    }

    @Test("a command has the event's variables alone, also if an outer value begins with a combining character")
    func replacesVariables() throws {
        let words = ["watch", "-q", "--tick", "0", "--on", "finished", "--cursor-file", cursor, "--shell", "--exec"]
        let watch = try RunningCommand(
            words + [#"env | grep ^COUNTDOWN_LABEL >> "$OUT""#],
            environment: [
                "COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out, "COUNTDOWN_LABEL": "\u{301}outer",
            ]
        )
        try awaitCursor()
        try end("tea")
        try awaitCursor()
        #expect(try lines(1) == ["COUNTDOWN_LABEL="])
        watch.interrupt()
        _ = try watch.finish()
    }

    /// A watch that writes the event, the metadata and the number of variables with metadata for `--before`.
    private func beginBefore() throws -> RunningCommand {
        let words = ["watch", "-q", "--tick", "0", "--before", "10m", "--cursor-file", cursor, "--shell", "--exec"]
        let script = #"echo "$COUNTDOWN_EVENT $COUNTDOWN_META_room $(env | grep -c ^COUNTDOWN_META) $(cat)" >> "$OUT""#
        return try RunningCommand(
            words + [script],
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out, "COUNTDOWN_META_stale": "1"]
        )
    }

    @Test("--before runs the command when this time is left, with the metadata whose names are valid in an environment")
    func before() throws {
        _ = try typist.type(words: ["start", "tea", "1h", "--meta", "room=kitchen", "--meta", "no-name=x"])
        _ = try typist.type("start short 5m")
        let watch = try beginBefore()
        try awaitCursor()
        // Now its instant is 1 s away.
        _ = try typist.type("adjust tea -2999s")
        let line = try #require(try lines(1).first)
        #expect(line.hasPrefix("before kitchen 1 {"))
        let event = String(line.drop { $0 != "{" })
        #expect(try member("type", of: event) == "before" && member("key", of: event) == "tea")
        let remaining = try #require(try member("remainingUSec", of: event).flatMap { Int($0) })
        #expect(1...600_000_000 ~= remaining)
        watch.interrupt()
        #expect(try watch.finish().messages == [])
        #expect(try lines(1).count == 1)
    }

    @Test("a watch that continues runs it also for a countdown that has not changed since")
    func beforeAfterResumption() throws {
        _ = try typist.type("start tea 610s")
        let first = try beginBefore()
        try awaitCursor()
        first.interrupt()
        _ = try first.finish()
        let second = try beginBefore()
        #expect(try lines(1).first?.hasPrefix("before  0 {") == true)
        second.interrupt()
        _ = try second.finish()
    }
}
