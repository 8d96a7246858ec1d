import Foundation
import TestSupport
import Testing

@Suite("Errors of countdownctl")
final class RefusedCommandsTests: DirectorySuite {
    @Test(
        "a usage error exits with 64, names what is expected, and asks no daemon; … is the rest of a sentence",
        arguments: [
            ("cancel", "missing key; for example `countdownctl cancel tea`"),
            ("wait --any", "missing key; for example `countdownctl wait tea`"),
            ("attach", "missing key; for example `countdownctl attach tea`"),
            ("is-running", "missing key; for example `countdownctl is-running tea`"),
            ("show", "missing key; for example `countdownctl show tea`"),
            ("start tea -5m", "invalid duration '-5m': it must not have a sign, as in 5m"),
            ("rm", "missing key; for example `countdownctl cancel tea`"),
            ("list --frobnicate", "Unknown option '--frobnicate'"), ("--frobnicate", "Unknown option '--frobnicate'"),
            ("list --sotr end", "Unknown option '--sotr'. Did you mean '--sort'?"),
            ("list --color", "Missing value for '--color <when>'"),
            ("list --quiet=1", "The option '--quiet' does not take any value, but '1' was specified."),
            ("list --color red", "The value 'red' is invalid for '--color <when>': use auto, always or never"),
            (
                "start tea --restart --fail",
                "Value to be set with flag '--fail' had already been set with flag '--restart'"
            ),
            ("help strat", "unknown command 'strat'; did you mean `countdownctl start KEY`?"),
            ("watch --tick x", "invalid duration 'x'; use for example 5m, 90s or 1:30"),
            ("wait tea --timeout 1h30", "invalid duration '1h30': missing unit; did you mean '1h30m' or '1h30s'?"),
            ("run", "missing key; for example `countdownctl run backup 1d -- COMMAND`"),
            ("run tea 5m", "missing command; for example `countdownctl run tea 1h -- COMMAND`"),
            ("run tea 5m --for 5m -- true", "use either DURATION or --for"),
            ("run tea 0 -- true", "the duration must be at least 1us"),
            ("run tea 1h --from middle -- true", "The value 'middle' is invalid for '--from <when>'. Please…"),
            ("run tea 5m -E 256 -- true", "invalid --conflict-exit-code '256': use 0 to 255"),
            ("watch --format wayber", "invalid --format 'wayber': use json, waybar, i3bar or a template…"),
            ("watch --format {kye}", "unknown field '{kye}' in a template; the fields are {key} {label}…"),
            ("watch --soon 5m", "--soon and --urgent need --format"), ("watch --on finished", "missing --exec…"),
            ("watch --exec true", "missing --on…"), ("watch --before 1m", "missing --exec…"),
            ("watch --cursor-file x", "missing --exec…"),
            ("watch --on tick --exec true", "invalid --on 'tick': use attached…"),
            ("watch --on finished --exec 'a", "invalid --exec ''a': unmatched quote"),
            ("watch --format {s} --json", "use either --json or --format"),
            ("show tea --format x", "template 'x' has no field; the fields are {key} {label}…"),
            ("show tea --format {s} --json", "use either --json or --format"),
            ("watch --on finished --exec true --cursor-file x --since 5", "use either --since or --cursor-file"),
            ("watch --on finished --exec true --cursor-file x --format {key}", "use either --format or --cursor-file"),
            ("watch --before 0s --exec true", "--before must be at least 1us"),
            ("watch --claim a", "--claim needs --exec"),
            ("watch --claim-for 1h --on finished --exec true", "--claim-for needs --claim"),
            (
                "watch --claim a --on started --exec true",
                "--claim is for ends: use --on finished or --on cancelled, not 'started'"
            ),
            ("watch --claim a --before 1m --on finished --exec true", "--before cannot be combined with --claim"),
            ("watch --claim a --claim-for 0s --on finished --exec true", "--claim-for must be at least 1us"),
            ("--host", "missing host; for example `countdownctl --host alice@example.org list`"),
            ("--host=", "missing host; for example `countdownctl --host alice@example.org list`"),
            ("--host -oProxyCommand=x list", "missing host; for example `countdownctl --host alice@example.org list`"),
        ]
    )
    func refusesWhatIsTyped(_ line: String, _ sentence: String) throws {
        let run = try Typist(at: directory.path(of: "none")).type(line)
        let beginning = "countdownctl: \(sentence.prefix { $0 != "…" })"
        #expect(sentence.hasSuffix("…") ? run.message.hasPrefix(beginning) : run.message == beginning)
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 64)
    }

    @Test(
        "an argument that is not UTF-8 is refused, because the daemon would get another one",
        arguments: [
            "start \"$name\" 5s", "run \"$name\" 5s -- true", "cancel -- \"$name\"", "list --x\"$name\"", "\"$name\"",
        ]
    )
    func refusesOtherEncodings(_ line: String) throws {
        let typist = Typist(at: directory.path(of: "none"))
        let run = try typist.type(shell: "name=$(printf 'Z\\374rich'); countdownctl \(line)")
        #expect(run.messages.first?.hasSuffix("Z\u{FFFD}rich': it is not UTF-8") == true)
        #expect(run.messages.first?.hasPrefix("countdownctl: invalid argument '") == true)
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 64)
    }

    @Test(
        "an error never repeats a character that a terminal obeys or a reader cannot see",
        arguments: [
            ["list", "--x\u{1B}[31m"], ["--x\u{1B}[31m"], ["start", "a", "b\u{1B}[31m"], ["st\u{1B}[31m", "tea"],
            ["list", "--sort", "\u{1B}[31m"], ["help", "\u{1B}[31m"], ["cancel", "--if-revision", "\u{1B}[31m"],
            ["attach", "a", "b\u{1B}[31m"], ["--host", "", "\u{1B}[31m"], ["list", "--x\u{1B}\ncountdownctl: fine"],
            ["watch", "--exec", "\u{1B}[31m'"], ["show", "tea", "--format", "{\u{1B}[31m}"],
        ]
    )
    func printsTypedText(_ words: [String]) throws {
        let run = try Typist(at: directory.path(of: "none")).type(words: words)
        #expect(run.exitCode == 64)
        #expect(!run.standardError.contains("\u{1B}"))
        #expect(!run.messages.contains("countdownctl: fine"))
        #expect(run.standardOutput.isEmpty)
    }

    @Test(
        "help and version are data, and 0",
        arguments: [
            "--help", "--version", "help start", "start --help", "", "-h", "-V", "version", "start tea 5m -h", "5m -h",
        ]
    )
    func helps(_ line: String) throws {
        let run = try Typist(at: "").type(line)
        #expect(!run.standardOutput.isEmpty)
        #expect(run.standardError.isEmpty)
        #expect(run.exitCode == 0)
    }

    @Test(
        "without a daemon the code is 69, and the error names the command that starts one",
        arguments: [
            "start tea 5m", "show tea", "list", "watch", "attach tea", "wait tea", "cancel tea", "adjust tea +1m",
            "is-running tea", "status", "start tea --wait", "run tea 1h -- echo ran",
        ]
    )
    func missesDaemon(_ line: String) throws {
        let socket = directory.path(of: "none")
        let run = try Typist(at: socket).type(line)
        let remedy = "start it with `countdownd --socket \(socket)`, or unset the variable"
        #expect(run.messages == ["countdownctl: no daemon at \(socket) (from COUNTDOWND_SOCKET): \(remedy)"])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 69)
    }

    @Test("if no directory can hold the socket, the code is 69, and the error says why")
    func missesDirectory() throws {
        let missing = directory.path(of: "missing")
        let run = try CommandRun(["list"], environment: ["XDG_RUNTIME_DIR": missing])
        #expect(
            run.messages == [
                "countdownctl: XDG_RUNTIME_DIR is \(missing), which is missing; correct it, "
                    + "or set COUNTDOWND_SOCKET to the path of a socket"
            ]
        )
        #expect(run.exitCode == 69)
    }

    @Test(
        "each answer of the daemon that is no reply has its code and its sentence",
        arguments: [
            (#"{"error":"org.varlink.service.PermissionDenied"}"#, 77, "another user"),
            (#"{"error":"io.countdownd.StorageFailed","parameters":{"reason":"disk full"}}"#, 74, "disk full"),
            (
                #"{"error":"io.countdownd.LimitReached","parameters":{"limit":"countdowns","maximum":7}}"#, 75,
                "'countdowns' (7)"
            ),
            (#"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"key"}}"#, 64, "255 bytes"),
            (#"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"x.Y"}}"#, 76, "newer"),
            (
                #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"forget"}}"#, 76,
                "this needs a newer countdownd; restart it after the upgrade: `systemctl --user restart countdownd`"
            ),
            (#"{"error":"x.Y"}"#, 76, "x.Y"), (#"{"parameters":{}}"#, 76, "outcome"), ("nonsense", 76, "Varlink"),
        ] as [(String, Int32, String)]
    )
    func tellsRefusals(_ reply: String, _ code: Int32, _ part: String) throws {
        let daemon = try ScriptedDaemon()
        let command = try daemon.typist.begin("start tea 5m")
        try daemon.answer("Start", reply)
        let run = try command.finish()
        #expect(run.exitCode == code)
        #expect(run.message.hasPrefix("countdownctl: ") && run.message.contains(part))
    }

    @Test("a daemon of another version is named as such")
    func tellsVersions() throws {
        let daemon = try ScriptedDaemon()
        let command = try daemon.typist.begin("status")
        try daemon.answer(
            "GetStatus",
            #"{"parameters":{"version":"99.0","startedUSec":0,"running":0,"paused":0,"watchers":0,"#
                + #""connections":1,"revision":0,"oldestRevision":0,"limits":{},"counters":{}}}"#
        )
        let run = try command.finish()
        #expect(run.data[0].hasPrefix("countdownd 99.0, since "))
        #expect(run.data[1].contains(" Version: differs from countdownctl "))
        #expect(run.exitCode == 0)
    }

    @Test("a daemon that hangs up before it answers is 69")
    func tellsOfHangUp() throws {
        let daemon = try ScriptedDaemon()
        let command = try daemon.typist.begin("list")
        _ = try daemon.accept().message()
        let run = try command.finish()
        #expect(run.messages == ["countdownctl: the daemon closed the connection before it answered"])
        #expect(run.exitCode == 69)
    }
}
