import TestSupport
import Testing

@Suite("countdownctl watch, attach and wait")
struct FollowCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    @Test("watch [PATTERN…] prints the running countdowns, then changes, until it is stopped, with code 130")
    func watches() throws {
        _ = try typist.type("start tea 1h")
        _ = try typist.type("start coffee 1h")
        let watch = try typist.begin("watch t* --tick 0")
        #expect(try watch.line()?.hasPrefix("tea: running, ") == true)
        for line in [
            "pause tea", "pause coffee", "resume tea", "adjust tea +1m", "start tea 1h --restart", "cancel tea",
        ] {
            _ = try typist.type(line)
        }
        for beginning in ["paused, ", "resumed, ", "adjusted, ", "restarted, ", "cancelled at "] {
            #expect(try watch.line()?.hasPrefix("tea: \(beginning)") == true)
        }
        watch.interrupt()
        let run = try watch.finish()
        #expect(run.exitCode == 130)
        #expect(run.standardError.isEmpty)
    }

    @Test("watch prints the whole seconds that remain, and then the end")
    func ticks() throws {
        let watch = try typist.begin("watch")
        try typist.awaitWatchers(1)
        _ = try typist.type("start tea 2s")
        #expect(try watch.line()?.hasPrefix("tea: started, 0:02 left") == true)
        #expect(try watch.line() == "tea: 0:01 left")
        #expect(try watch.line()?.hasPrefix("tea: finished at ") == true)
    }

    @Test("watch --json prints an object per line, and resumes at a revision with --since")
    func watchesObjects() throws {
        let revision = try #require(
            try member("revision", of: typist.type("start tea 5ms --wait --json").standardOutput.lastLine)
        )
        _ = try typist.type("start coffee 5ms --wait")
        let watch = try typist.begin("watch --json --since \(revision)")
        let end = try #require(try watch.line())
        #expect(try member("type", of: end) == "finished" && member("key", of: end) == "coffee")
        #expect(try watch.line().map { try member("type", of: $0) } == "synced")
        watch.interrupt()
        #expect(try watch.finish().exitCode == 130)
    }

    @Test("watch from a trimmed revision begins again, and reports that ends may have been missed")
    func watchesTrimmed() throws {
        _ = try typist.type("start tea 1h")
        let watch = try typist.begin("watch --since 1")
        #expect(try watch.line()?.hasPrefix("tea: running, ") == true)
        watch.interrupt()
        #expect(
            try watch.finish().messages
                == ["the daemon no longer has the history since the last event; ends may be missing"]
        )
    }

    @Test("a watch whose reader has gone ends quietly")
    func endsUnread() throws {
        _ = try typist.type("start tea 1h")
        let run = try typist.type(shell: "{ countdownctl watch --tick 10ms; echo $? >&2; } | head -n 1")
        #expect(run.data.count == 1)
        #expect(run.messages == ["0"])
    }

    @Test("attach KEY follows one to its end: 0 finished, 3 cancelled, 4 unknown, at once if it has ended")
    func attaches() throws {
        _ = try typist.type("start tea 1h")
        let attached = try typist.begin("attach tea")
        #expect(try attached.line()?.hasPrefix("tea: running, ") == true)
        _ = try typist.type("pause tea")
        _ = try typist.type("finish tea")
        let run = try attached.finish()
        let changes = run.data.filter { !$0.hasSuffix(" left") || $0.contains(", ") }
        #expect(changes.map { $0.prefix { $0 != "," } } == ["tea: running", "tea: paused", "tea: finished at TIME"])
        #expect(run.exitCode == 0)
        let again = try typist.type("attach tea")
        #expect(again.data == ["tea: finished at TIME"])
        #expect(again.exitCode == 0)
        _ = try typist.type("start tea 1h")
        _ = try typist.type("cancel tea")
        #expect(try typist.type("attach tea").exitCode == 3)
        let unknown = try typist.type("attach coffee")
        #expect(unknown.messages == ["countdownctl: coffee: no such countdown"])
        #expect(unknown.exitCode == 4)
    }

    @Test("Ctrl-C during attach leaves the countdown running")
    func leaves() throws {
        _ = try typist.type("start tea 1h")
        let attached = try typist.begin("attach tea")
        _ = try attached.line()
        attached.interrupt()
        let run = try attached.finish()
        #expect(run.exitCode == 130)
        #expect(run.messages.count == 1)
        #expect(run.message.hasPrefix("tea: keeps running, ") && run.message.hasSuffix(" left, ends TIME"))
        #expect(try typist.type("is-running tea").exitCode == 0)
    }

    @Test("if a shell has it ignore Ctrl-C, as with &, it continues")
    func ignoresWhatIsIgnored() throws {
        _ = try typist.type("start tea 1h")
        let countdownctl = try BuiltProduct.path(of: "countdownctl")
        let waiting = try RunningCommand(
            ["-c", "trap '' INT; exec '\(countdownctl)' wait tea"],
            executable: "/bin/sh",
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath]
        )
        try typist.awaitWatchers(1)
        waiting.interrupt()
        _ = try typist.type("cancel tea")
        #expect(try waiting.finish().exitCode == 3)
    }

    @Test("wait KEY… waits for all, and the worst code counts")
    func waitsForAll() throws {
        _ = try typist.type("start tea 1h")
        _ = try typist.type("start coffee 1h")
        let waiting = try typist.begin("wait tea coffee tea")
        try typist.awaitWatchers(1)
        _ = try typist.type("cancel tea")
        _ = try typist.type("finish coffee")
        let run = try waiting.finish()
        #expect(run.data.map { $0.prefix(14) } == ["tea: cancelled", "coffee: finish"])
        #expect(run.exitCode == 3)
        #expect(try typist.type("wait coffee").exitCode == 0)
        #expect(try typist.type("wait coffee nothing").exitCode == 4)
    }

    @Test("wait --any waits for the first")
    func waitsForAny() throws {
        _ = try typist.type("start tea 1h")
        _ = try typist.type("start coffee 30ms")
        let run = try typist.type("wait tea coffee --any")
        #expect(run.data == ["coffee: finished at TIME"])
        #expect(run.exitCode == 0)
    }

    @Test("wait --timeout D gives up with 124, and names the live countdowns")
    func givesUp() throws {
        _ = try typist.type("start tea 1h")
        for timeout in ["0", "20ms"] {
            let run = try typist.type("wait tea --timeout \(timeout)")
            #expect(run.exitCode == 124)
            #expect(run.standardOutput.isEmpty)
        }
        let run = try typist.type("wait tea --timeout 1s")
        #expect(run.message.hasPrefix("tea: still running, "))
    }

    @Test("Ctrl-C during wait leaves the countdown running")
    func stopsWaiting() throws {
        _ = try typist.type("start tea 1h")
        let waiting = try typist.begin("wait tea")
        try typist.awaitWatchers(1)
        waiting.interrupt()
        #expect(try waiting.finish().exitCode == 130)
        #expect(try typist.type("is-running tea").exitCode == 0)
    }
}

extension String {
    /// The text behind the last newline, except the one at the end.
    fileprivate var lastLine: String { String(split(separator: "\n").last ?? "") }
}
