import Foundation
import TestSupport
import Testing

@Suite("Errors of countdownctl")
struct RefusedCommandsTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(
        "a usage error exits with 64, names what is expected, and asks no daemon",
        arguments: [
            ("start", "missing key; for example `countdownctl start tea 5m`"),
            (
                "start tea 1h30",
                "invalid duration '1h30': missing unit; did you mean `countdownctl start tea 1h30m` or `countdownctl start tea 1h30s`?"
            ),
            (
                "start tea 5M",
                "invalid duration '5M': M means months, which differ in length; minutes are `countdownctl start tea 5m`"
            ),
            ("start tea -5m", "invalid duration '-5m': it must not have a sign, as in 5m"),
            ("run tea -5x -- true", "invalid duration '-5x': it must not have a sign, as in 5m"),
            ("wait tea --timeout -1h", "invalid duration '-1h': it must not have a sign, as in 1h"),
            ("start 5m tea", "the key comes first: `countdownctl start tea 5m`"),
            ("start tea --until 25:00", "invalid time '25:00': no such day or time of day"),
            (
                "adjust tea 1m",
                "the amount needs a sign: `countdownctl adjust tea +1m` or `countdownctl adjust tea -1m`"
            ),
            ("cancel", "missing key; for example `countdownctl cancel tea`"),
            ("wait --any", "missing key; for example `countdownctl wait tea`"),
            ("attach", "missing key; for example `countdownctl attach tea`"),
            ("is-running", "missing key; for example `countdownctl is-running tea`"),
            ("show", "missing key; for example `countdownctl show tea`"),
            ("restart tea 5m", "unknown command 'restart'; `countdownctl start tea 5m --restart` starts it again"),
            ("rm tea", "unknown command 'rm'; `countdownctl cancel tea` ends it"),
            ("list --frobnicate", "unknown option '--frobnicate'"), ("--frobnicate", "unknown option '--frobnicate'"),
            ("list --sotr end", "unknown option '--sotr'; did you mean '--sort'?"),
            ("list --color", "--color needs a value: --color WHEN"), ("list --quiet=1", "--quiet takes no value"),
            ("list --color red", "invalid --color 'red': use auto, always or never"),
            ("start tea --restart --fail", "--restart cannot be combined with --fail"),
            ("help strat", "unknown command 'strat'; did you mean `countdownctl start KEY`?"),
            ("watch --tick x", "invalid duration 'x'; use for example 5m, 90s or 1:30"),
            ("wait tea --timeout 1h30", "invalid duration '1h30': missing unit; did you mean '1h30m' or '1h30s'?"),
        ]
    )
    func refusesWhatIsTyped(_ line: String, _ message: String) throws {
        let run = try Typist(at: directory.path(of: "none")).type(line)
        #expect(run.messages.first == "countdownctl: \(message)")
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
            ["list", "--sort", "\u{1B}[31m"], ["show", "a", "b\u{1B}[31m"], ["cancel", "--if-revision", "\u{1B}[31m"],
            ["help", "\u{1B}[31m"], ["--host", "", "\u{1B}[31m"], ["list", "--x\u{1B}\ncountdownctl: fine"],
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
            "is-running tea", "status", "start tea --wait",
        ]
    )
    func missesDaemon(_ line: String) throws {
        let socket = directory.path(of: "none")
        let run = try Typist(at: socket).type(line)
        #expect(
            run.messages
                == [
                    "countdownctl: no daemon at \(socket) (from COUNTDOWND_SOCKET): "
                        + "start it with `countdownd --socket \(socket)`, or unset the variable"
                ]
        )
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

    /// Types a line for a daemon that answers its first call so.
    private func answer(_ line: String, with reply: String) throws -> CommandRun {
        let socket = try ListeningSocket(path: directory.path(of: "socket"))
        let command = try Typist(at: socket.path).begin(line)
        let connection = try socket.accept()
        _ = try connection.message()
        try connection.send(message: reply)
        return try command.finish()
    }

    @Test(
        "each error of the daemon has its code and its sentence",
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
        let run = try answer("start tea 5m", with: reply)
        #expect(run.exitCode == code)
        #expect(run.message.hasPrefix("countdownctl: "))
        #expect(run.message.contains(part))
    }

    @Test("a daemon of another version is named as such")
    func tellsVersions() throws {
        let run = try answer(
            "status",
            with: #"{"parameters":{"version":"99.0","startedUSec":0,"running":0,"paused":0,"watchers":0,"#
                + #""connections":1,"revision":0,"oldestRevision":0,"limits":{},"counters":{}}}"#
        )
        #expect(run.data[0].hasPrefix("countdownd 99.0, since "))
        #expect(run.data[1].contains(" Version: differs from countdownctl "))
        #expect(run.exitCode == 0)
    }

    @Test("a daemon that hangs up before it answers is 69")
    func tellsOfHangUp() throws {
        let socket = try ListeningSocket(path: directory.path(of: "socket"))
        let command = try Typist(at: socket.path).begin("list")
        do { _ = try socket.accept().message() }
        let run = try command.finish()
        #expect(run.messages == ["countdownctl: the daemon closed the connection before it answered"])
        #expect(run.exitCode == 69)
    }

    @Test("a full disk under the output is 74")
    func failsToWrite() throws {
        let run = try Typist(at: "").type(shell: "countdownctl --help > /dev/full")
        #expect(run.messages == ["countdownctl: cannot write to standard output: No space left on device"])
        #expect(run.exitCode == 74)
    }
}
