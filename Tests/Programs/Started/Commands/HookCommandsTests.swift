import Foundation
import Glibc
import IPC
import TestSupport
import Testing

@Suite("countdownctl watch --exec with --cursor-file and --before")
final class HookCommandsTests: CommandSuite {
    private var cursor: String { directory.path(of: "cursor") }

    /// A watch that continues, whose commands are lines for sh(1).
    private func begin(
        _ script: String = #"echo "$COUNTDOWN_KEY" >> "$OUT""#,
        _ options: [String] = ["--on", "finished"],
        _ environment: [String: String] = [:]
    ) throws -> RunningCommand {
        let words = ["watch", "-q", "--tick", "0", "--shell", "--exec", script, "--cursor-file", cursor]
        return try begin(words + options, environment)
    }

    /// Waits until the file has the daemon's newest revision.
    private func awaitCursor() throws {
        let newest = try Caller(of: daemon).call(GetStatus()).revision
        try waitUntil("the cursor to be at \(newest)") {
            (try? String(contentsOfFile: cursor, encoding: .utf8)) == "\(newest)\n"
        }
    }

    @Test("a missing file means now; ends that came while no watch ran have their commands in the next run, once")
    func resumes() throws {
        try end(["before"])
        let first = try begin()
        try awaitCursor()
        try end(["tea"])
        #expect(try lines(1) == ["tea"])
        try awaitCursor()
        _ = try first.stop()
        try end(["egg", "cake"])
        for _ in 0..<2 {
            let watch = try begin()
            #expect(try lines(3).sorted() == ["cake", "egg", "tea"])
            try typist.awaitWatchers(1)
            try awaitCursor()
            #expect(try watch.stop().exitCode == 130)
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
        try end(["tea"])
        _ = try lines(1)
        try awaitCursor()
        try end(["egg", "cake"])
        #expect(try Set(lines(3)) == ["tea", "egg", "cake"])
        first.process.send(signal: SIGKILL)
        _ = try first.finish()
        _ = try directory.write("", to: "out.2")
        let second = try begin(script)
        #expect(try lines(5).dropFirst(3).sorted() == ["cake", "egg"])
        try awaitCursor()
        _ = try second.stop()
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
        _ = try watch.stop()
        try end((0..<1_200).map { "k\($0)" })
        let again = try begin()
        #expect(try Set(lines(1_200)).count == 1_200)
        try awaitCursor()
        #expect(try again.stop().messages == [])
        #expect(try lines(1_200).count == 1_200)
    }

    @Test("if the history was trimmed, the watch says so and goes on with the ends that are kept")
    func trimmed() throws {
        try end(["tea"])
        _ = try directory.write("1\n", to: "cursor")
        let watch = try begin(["watch", "--tick", "0", "--on", "finished", "--exec", "true", "--cursor-file", cursor])
        #expect(try watch.line()?.hasPrefix("tea: finished") == true)
        try awaitCursor()
        let message = "the daemon no longer has the history since the last event; ends may be missing"
        #expect(try watch.stop().messages == [message])
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
        let unwritable = ["watch", "--on", "finished", "--exec", "true", "--cursor-file", "/proc/self/cmdline"]
        #expect(try typist.type(words: unwritable).exitCode == 74)
    }

    @Test("a second watch with the same file fails with its name, and a watch after the first continues")
    func locks() throws {
        let first = try begin()
        try awaitCursor()
        let link = directory.path(of: "link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: cursor)
        for path in [cursor, link] {
            let other = try typist.type(words: ["watch", "--on", "finished", "--exec", "true", "--cursor-file", path])
            #expect(other.exitCode == 75)
            let sentence = "countdownctl: --cursor-file '\(cursor)' is in use by another watch: process "
            #expect(other.message.hasPrefix(sentence))
        }
        _ = try first.stop()
        try end(["tea"])
        let next = try begin()
        #expect(try lines(1) == ["tea"])
        _ = try next.stop()
    }

    @Test("a command has the event's variables alone, also if an outer value begins with a combining character")
    func replacesVariables() throws {
        let script = #"env | grep ^COUNTDOWN_LABEL >> "$OUT""#
        let watch = try begin(script, ["--on", "finished"], ["COUNTDOWN_LABEL": "\u{301}outer"])
        try awaitCursor()
        try end(["tea"])
        try awaitCursor()
        #expect(try lines(1) == ["COUNTDOWN_LABEL="])
        _ = try watch.stop()
    }

    /// A watch that writes the event, the metadata and the number of variables with metadata for `--before`.
    private func beginBefore() throws -> RunningCommand {
        let script = #"echo "$COUNTDOWN_EVENT $COUNTDOWN_META_room $(env | grep -c ^COUNTDOWN_META) $(cat)" >> "$OUT""#
        return try begin(script, ["--before", "10m"], ["COUNTDOWN_META_stale": "1"])
    }

    @Test("--before runs the command when this time is left, with the metadata whose names are valid in an environment")
    func before() throws {
        try prepare("start tea 1h --meta room=kitchen --meta no-name=x", "start short 5m")
        let watch = try beginBefore()
        try awaitCursor()
        // Now its instant is 1 s away.
        try prepare("adjust tea -2999s")
        let line = try #require(try lines(1).first)
        #expect(line.hasPrefix("before kitchen 1 {"))
        let event = String(line.drop { $0 != "{" })
        #expect(try member("type", of: event) == "before" && member("key", of: event) == "tea")
        let remaining = try #require(try member("remainingUSec", of: event).flatMap { Int($0) })
        #expect(1...600_000_000 ~= remaining)
        #expect(try watch.stop().messages == [])
        #expect(try lines(1).count == 1)
    }

    @Test("a watch that continues runs it also for a countdown that has not changed since")
    func beforeAfterResumption() throws {
        try prepare("start tea 610s")
        let first = try beginBefore()
        try awaitCursor()
        _ = try first.stop()
        let second = try beginBefore()
        #expect(try lines(1).first?.hasPrefix("before  0 {") == true)
        _ = try second.stop()
    }
}
