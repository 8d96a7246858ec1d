import ArgumentParser
import IPC
import Testing

@testable import countdownctl

@Suite("Requests of subcommands")
struct RequestTests {
    /// 2026-03-01 12:00:00 at UTC.
    private let clock = ClockText(zone: TestZone.utc, now: 1_772_366_400_000_000)

    private func start(_ words: String...) throws -> StartRequest {
        try StartRequest(try StartCommand.parse(words), clock: clock)
    }

    /// The error for invalid arguments.
    private func refusal(_ body: () throws -> Void) -> CommandFailure? {
        do {
            try body()
            return nil
        } catch {
            return error as? CommandFailure
        }
    }

    @Test("start takes a key and a duration, in all forms")
    func starts() throws {
        #expect(try start("tea").call == Start(key: "tea"))
        #expect(try start("tea", "5m").call == Start(key: "tea", durationUSec: 300_000_000))
        #expect(try start("tea", "--for", "5m").call == Start(key: "tea", durationUSec: 300_000_000))
        #expect(try start("--key", "5m").call == Start(key: "5m"))
        #expect(try start("--key", "5m", "10m").call == Start(key: "5m", durationUSec: 600_000_000))
        #expect(try start("tea", "--until", "12:01").call == Start(key: "tea", deadlineUSec: 1_772_366_460_000_000))
        #expect(try start("13800138000").call == Start(key: "13800138000"))
    }

    @Test("start takes a label, metadata, forget, and what to do if the key is running")
    func startsWithMore() throws {
        let typed = try start("a", "1s", "--label", "L", "--meta", "k=v", "--meta", "e=", "--meta", "x=a=b", "--forget")
        #expect(
            typed.call
                == Start(
                    key: "a",
                    durationUSec: 1_000_000,
                    label: "L",
                    metadata: ["k": "v", "e": "", "x": "a=b"],
                    forget: true
                )
        )
        #expect(try start("a", "--restart").call.ifRunning == .restart)
        #expect(try start("a", "--extend").call.ifRunning == .extend)
        #expect(try start("a", "--fail").call.ifRunning == .fail)
    }

    @Test("for a time that has passed today, there is a note that it is tomorrow's")
    func notesTomorrow() throws {
        #expect(try start("tea", "--until", "9:00").notes == ["'9:00' has passed today; using tomorrow"])
        #expect(try start("tea", "--until", "17:00").notes == [])
    }

    @Test(
        "start refuses invalid arguments with what is expected",
        arguments: [
            (["5m"], "missing key; for example `countdownctl start tea 5m` (--key 5m is a key of that name)"),
            (
                ["5m", "--for", "5m"],
                "missing key; for example `countdownctl start tea 5m` (--key 5m is a key of that name)"
            ),
            (["1h30"], "missing key; for example `countdownctl start tea 5m` (--key 1h30 is a key of that name)"),
            ([], "missing key; for example `countdownctl start tea 5m`"),
            (["5m", "tea"], "the key comes first: `countdownctl start tea 5m`"),
            (["tea", "5m", "--for", "5m"], "use only one of DURATION, --for and --until"),
            (["tea", "--for", "5m", "--until", "17:30"], "use only one of DURATION, --for and --until"),
            (["tea", "0"], "the duration must be at least 1us"),
            (["tea", "1h30"], "invalid duration '1h30': missing unit; did you mean '1h30m' or '1h30s'?"),
            (["tea", "5", "m"], "unexpected argument m: start takes a key and a duration"),
            (["tea", "--meta", "x"], "invalid --meta 'x': use NAME=VALUE"),
            (["tea", "--meta", "=x"], "invalid --meta '=x': use NAME=VALUE"),
            (["tea", "--meta", "x=1", "--meta", "x=2"], "duplicate --meta name 'x'"),
            (
                ["tea", "--until", "17:30", "--extend"],
                "--extend needs a duration; `countdownctl adjust KEY --until TIME` sets another end"
            ),
            (["tea", "--until", "5m"], "'5m' is a duration; --until takes a time such as 17:30"),
        ]
    )
    func refusesStarts(_ words: [String], _ sentence: String) throws {
        let verb = try StartCommand.parse(words)
        #expect(refusal { _ = try StartRequest(verb, clock: clock) } == .usage(sentence))
    }

    private func adjust(_ words: String...) throws -> (Adjust, notes: [String]) {
        try AdjustCommand.parse(Array(ArgumentNormalizer.normalize(["adjust"] + words).dropFirst())).request(clock)
    }

    @Test("adjust takes a signed duration, or a time")
    func adjusts() throws {
        #expect(try adjust("tea", "+1m").0 == Adjust(key: "tea", byUSec: 60_000_000))
        #expect(try adjust("tea", "-1m").0 == Adjust(key: "tea", byUSec: -60_000_000))
        #expect(try adjust("-q", "tea", "-1:30").0 == Adjust(key: "tea", byUSec: -90_000_000))
        #expect(try adjust("--", "-tea", "-1m").0 == Adjust(key: "-tea", byUSec: -60_000_000))
        #expect(try adjust("tea", "--until", "12:01").0 == Adjust(key: "tea", deadlineUSec: 1_772_366_460_000_000))
        #expect(try adjust("tea", "+1s", "--if-revision", "7").0.ifRevision == 7)
        #expect(try adjust("tea", "--until", "9:00").notes.count == 1)
    }

    @Test("adjust refuses invalid arguments with what is expected")
    func refusesAdjustments() {
        #expect(
            refusal { _ = try adjust("tea", "1m") }
                == .usage("the amount needs a sign: `countdownctl adjust tea +1m` or `countdownctl adjust tea -1m`")
        )
        #expect(
            refusal { _ = try adjust("tea") } == .usage("missing amount; for example `countdownctl adjust tea +1m`")
        )
        #expect(
            refusal { _ = try adjust("tea", "+1m", "--until", "17:30") }
                == .usage("use only one of +DURATION, -DURATION and --until")
        )
        #expect(refusal { _ = try adjust("tea", "--1m") } == nil)
        #expect(refusal { _ = try adjust("tea", "+1h30") }?.sentence.contains("'1h30m'") == true)
    }

    @Test("list takes patterns and states")
    func lists() throws {
        #expect(try ListCommand.parse([]).request() == List())
        #expect(try ListCommand.parse(["a*", "b"]).request() == List(match: ["a*"], keys: ["b"]))
        #expect(try ListCommand.parse(["-a"]).request() == List(states: State.allCases))
        #expect(
            try ListCommand.parse(["--state", "finished,cancelled", "--state", "paused"]).request()
                == List(states: [.finished, .cancelled, .paused])
        )
        #expect(
            refusal { _ = try ListCommand.parse(["--state", "done"]).request() }
                == .usage("invalid state 'done': use running, paused, finished or cancelled")
        )
        #expect(
            refusal { _ = try ListCommand.parse(["-a", "--state", "paused"]).request() }
                == .usage("use either --all or --state")
        )
    }
}
