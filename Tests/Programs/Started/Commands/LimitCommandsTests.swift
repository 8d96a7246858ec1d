import Foundation
import IPC
import TestSupport
import Testing
import Varlink

/// Some tests are named after what users of other projects asked for.
@Suite("Limits in countdownctl")
struct LimitCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist
    private let caller: Caller
    private let directory: TemporaryDirectory
    private var out: String { directory.path(of: "out") }

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
        caller = try Caller(of: daemon)
        directory = try TemporaryDirectory()
    }

    private func begin(_ words: String...) throws -> RunningCommand {
        let environment = ["COUNTDOWND_SOCKET": daemon.socketPath, "OUT": out]
        return try RunningCommand(words, environment: environment, input: nil)
    }

    private func lines() -> [String] {
        ((try? String(contentsOfFile: out, encoding: .utf8)) ?? "").split(separator: "\n").map(String.init)
    }

    private func keys() throws -> [String] { try caller.call(List()).countdowns.map(\.key).sorted() }

    // MARK: Several limits

    @Test("run with several rates uses all or none, and a failure gives each back")
    func severalRates() throws {
        let line = "run phone/138 --rate 2/1h --rate 3/1d --"
        #expect(try typist.type("\(line) false").exitCode == 1)
        #expect(try keys() == [])
        for _ in 0..<2 { #expect(try typist.type("\(line) echo sent").standardOutput == "sent\n") }
        #expect(try keys() == ["phone/138", "phone/138/1d"])
        let refused = try typist.type("\(line) echo sent")
        #expect(refused.exitCode == 75 && refused.standardOutput.isEmpty)
        #expect(refused.message.wholeMatch(of: #/phone/138: again in (30:00|29:[0-9]{2})/#) != nil)
        let left = try typist.type("show phone/138 --rate 2/1h --rate 3/1d")
        #expect(left.exitCode == 75)
        let shown = left.standardOutput.split(separator: "\n")
        #expect(shown.count == 2 && shown[0].hasPrefix("phone/138: none left, again in "))
        #expect(shown.last == "phone/138/1d: 1 left")
    }

    @Test("run with --also holds its key, and is refused if the other key has no room")
    func also() throws {
        let line = "run phone/138 1h --also 1/1h=ip/2001:db8::1 --"
        #expect(try typist.type("\(line) false").exitCode == 1)
        #expect(try keys() == [])
        #expect(try typist.type("\(line) true").exitCode == 0)
        #expect(try keys() == ["ip/2001:db8::1", "phone/138"])
        #expect(try caller.call(Get(key: "ip/2001:db8::1")).countdown.forget)
        let refused = try typist.type("run phone/139 1h --also 1/1h=ip/2001:db8::1 -- true")
        #expect(refused.exitCode == 75 && refused.message.hasPrefix("ip/2001:db8::1: again in "))
        #expect(try keys() == ["ip/2001:db8::1", "phone/138"])
    }

    @Test("show --rate says how many are left, and uses none")
    func showsRate() throws {
        #expect(try typist.type("show codes --rate 3/10m").standardOutput == "3 left\n")
        _ = try typist.type("start codes --rate 3/10m")
        for _ in 0..<2 {
            let run = try typist.type("show codes --rate 3/10m")
            #expect(run.standardOutput == "2 left\n" && run.exitCode == 0)
        }
        _ = try typist.type("pause codes")
        let none = try typist.type("show codes --rate 1/3m")
        #expect(none.standardOutput == "none left, it is paused\n" && none.exitCode == 75)
        #expect(try member("left", of: typist.type("show codes --rate 3/10m --json").standardOutput) == "2")
        #expect(try typist.type("show codes --rate 3/10m --format {key}").exitCode == 64)
        #expect(try typist.type("show @next --rate 3/10m").exitCode == 64)
    }

    // MARK: Waiting

    @Test("wait until the limit is over, then go on, also if there is none (codex#34188)")
    func missingOk() throws {
        #expect(try typist.type("wait api/openai --missing-ok").exitCode == 0)
        #expect(try typist.type("wait @next --missing-ok").exitCode == 0)
        #expect(try typist.type("wait api/openai").exitCode == 4)
        _ = try caller.call(Start(key: "over"))
        _ = try caller.call(Cancel(key: "over"))
        #expect(try typist.type("wait over --missing-ok").exitCode == 0)
        #expect(try typist.type("wait over").exitCode == 3)
        _ = try typist.type("start api/openai 1h --later --label limit")
        let bar = try begin("watch", "--format", "{label}")
        while try #require(try bar.line()) != "limit" {}
        #expect(try typist.type("wait api/openai over --any --missing-ok").exitCode == 0)
        let waiting = try begin("wait", "api/openai", "--missing-ok")
        try waitUntil("it waits") { try caller.call(GetStatus()).watchers == 2 }
        _ = try caller.call(Finish(key: "api/openai"))
        #expect(try waiting.finish().exitCode == 0)
        bar.interrupt()
        _ = try bar.finish()
    }

    @Test("at most one build at once, and one trailing run for all triggers that come meanwhile (systemd#41599)")
    func trailing() throws {
        let script = #"echo begin >> "$OUT"; read line; echo end >> "$OUT""#
        let first = try begin("run", "build", "1us", "--trailing", "--", "sh", "-c", script)
        try waitUntil("the first build runs") { lines() == ["begin"] }
        let second = try begin("run", "build", "1us", "--trailing", "--", "sh", "-c", script)
        try waitUntil("the second one waits") { try caller.call(GetStatus()).queuedStarts == 1 }
        for _ in 0..<5 {
            let other = try typist.type("run build 1us --trailing -- sh -c 'echo wrong'")
            #expect(other.exitCode == 0 && other.standardOutput.isEmpty)
            #expect(other.message == "build: another caller runs the command afterwards")
        }
        first.endInput()
        #expect(try first.finish().exitCode == 0)
        try waitUntil("the trailing build runs") { lines() == ["begin", "end", "begin"] }
        second.endInput()
        #expect(try second.finish().exitCode == 0)
        #expect(lines() == ["begin", "end", "begin", "end"])
    }

    @Test("an alert is said once per half hour, also after a restart of the daemon")
    func alert() throws {
        let line = "run alert/db 30m -- echo down"
        #expect(try typist.type(line).standardOutput == "down\n")
        #expect(try typist.type(line).standardOutput.isEmpty)
        try daemon.kill()
        let second = try DaemonProcess(in: daemon.directory)
        #expect(try typist.type(line).standardOutput.isEmpty)
        withExtendedLifetime(second) {}
    }

    // MARK: Failures

    @Test("after failures, the next run waits twice as long each time, up to the maximum, and a success resets it")
    func backoff() throws {
        func run(_ command: String, _ code: Int32) throws -> Countdown? {
            #expect(try typist.type("run mirror 1h --backoff 3h -- \(command)").exitCode == code)
            return try? caller.call(Get(key: "mirror")).countdown
        }
        for hours in [1, 2, 3, 3] as [Int64] {
            let countdown = try #require(try run("false", 1))
            #expect(countdown.metadata?["backoff"] == "\(hours)h" && countdown.metadata?["cooldown"] == "yes")
            #expect((hours * 3_600 - 60...hours * 3_600).contains(countdown.remainingUSec / 1_000_000 + 1))
            #expect(try typist.type("run mirror 1h --backoff 3h -- echo wrong").standardOutput.isEmpty)
            _ = try caller.call(Finish(key: "mirror"))
        }
        let success = try #require(try run("true", 0))
        #expect(success.metadata?["backoff"] == nil)
        #expect(success.remainingUSec <= .seconds(3_600))
        _ = try caller.call(Finish(key: "mirror"))
        #expect(try run("false", 1)?.metadata?["backoff"] == "1h")
    }

    // MARK: Claims

    @Test("of three watches with one name, one runs the command for an end, and of another name, one too")
    func claims() throws {
        let script = #"echo "$COUNTDOWN_KEY" >> "$OUT""#
        let watches = try ["mail", "mail", "mail", "log"].map { name in
            try begin(
                "watch",
                "-q",
                "--tick",
                "0",
                "--on",
                "finished",
                "--shell",
                "--exec",
                script,
                "--claim",
                name
            )
        }
        try waitUntil("they watch") { try caller.call(GetStatus()).watchers == 4 }
        let keys = (0..<10).map { "key/\($0)" }
        for key in keys {
            _ = try caller.call(Start(key: key))
            _ = try caller.call(Finish(key: key))
        }
        try waitUntil("each end has its commands") { lines().count >= 20 }
        try waitUntil("each end is claimed twice") { try self.keys().count == 20 }
        for watch in watches { watch.interrupt() }
        for watch in watches { _ = try watch.finish() }
        #expect(lines().sorted() == (keys + keys).sorted())
        #expect(try self.keys().allSatisfy { $0.hasPrefix("claim/mail/") || $0.hasPrefix("claim/log/") })
    }

    @Test(
        "--claim is refused with options that it has no meaning with",
        arguments: [
            ("watch --claim a", "--claim needs --exec"),
            ("watch --claim-for 1h --on finished --exec true", "--claim-for needs --claim"),
            (
                "watch --claim a --on started --exec true",
                "--claim is for ends: use --on finished or --on cancelled, not 'started'"
            ),
            ("watch --claim a --before 1m --on finished --exec true", "--before cannot be combined with --claim"),
            ("watch --claim a --claim-for 0s --on finished --exec true", "--claim-for must be at least 1us"),
        ]
    )
    func refusesClaims(_ line: String, _ sentence: String) throws {
        let run = try typist.type(line)
        #expect(run.exitCode == 64)
        #expect(run.messages.first == "countdownctl: \(sentence)")
    }
}
