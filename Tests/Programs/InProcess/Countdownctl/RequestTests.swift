import ArgumentParser
import IPC
import Testing
import Varlink

@testable import countdownctl

@Suite("Requests of subcommands")
struct RequestTests {
    private let clock = ClockText(zone: TestZone.utc, now: noon)

    private func start(_ words: String...) throws -> StartRequest {
        try StartCommand.parse(words).request(clock)
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
        let words = "a 1s --label L --meta k=v --meta e= --meta x=a=b --forget --meta \u{E9}=1 --meta e\u{301}=2"
        let typed = try StartCommand.parse(words.split(separator: " ").map(String.init)).request(clock)
        let metadata: TextMap = ["k": "v", "e": "", "x": "a=b", "\u{E9}": "1", "e\u{301}": "2"]
        let expected = Start(key: "a", durationUSec: 1_000_000, label: "L", metadata: metadata, forget: true)
        #expect(typed.call == expected)
        #expect(try start("a", "--restart").call.ifRunning == .restart)
        #expect(try start("a", "--extend").call.ifRunning == .extend)
        #expect(try start("a", "--fail").call.ifRunning == .fail)
        let later = Start(key: "a", durationUSec: 42_000_000, ifRunning: .later, maxDurationUSec: 600_000_000)
        #expect(try start("a", "42s", "--later", "--max", "10m").call == later)
        #expect(try start("a", "--until", "12:01", "--later").call.ifRunning == .later)
    }

    @Test("for a time that has passed today, there is a note that it is tomorrow's")
    func notesTomorrow() throws {
        #expect(try start("tea", "--until", "9:00").notes == ["'9:00' has passed today; using tomorrow"])
        #expect(try start("tea", "--until", "17:00").notes == [])
    }

    @Test("--rate gives the interval, rounded up, and all intervals together")
    func startsWithRate() throws {
        let call = try start("codes", "--rate", "3/10m").call
        #expect(call.durationUSec == 200_000_000 && call.upToUSec == 600_000_000)
        #expect(call.key == "codes" && call.ifRunning == .extend && call.forget == true)
        #expect(try Rate("7/1s").interval == 142_858)
        #expect(try Rate("7/1s").limit == 1_000_006)
        #expect(try start("codes", "--rate", "1/1us").call.upToUSec == 1)
        #expect(try start("codes", "--rate", "2/10s", "--queue", "--queue-timeout", "1m").call.ifRunning == .wait)
        let queued = try start("tea", "5m", "--queue").call
        #expect(queued == Start(key: "tea", durationUSec: 300_000_000, ifRunning: .wait))
    }

    @Test("the remaining time of a rate says how many starts are left, and when the next one is possible")
    func countsRate() throws {
        let rate = try Rate("3/10m")
        #expect([200_000_000, 400_000_000, 599_999_999].map(rate.left) == [2, 1, 0])
        #expect([400_000_000, 400_000_001, 600_000_000].map(rate.delay) == [0, 1, 200_000_000])
        for number in [Int64.min, -1, 0, 1, .max] { #expect(rate.left(number) >= 0 && rate.delay(number) >= 0) }
    }

    @Test(
        "a wrong rate is refused with its value and what is expected",
        arguments: [
            ("3", "use a number and a period, such as 3/10m"), ("x/10m", "use a number and a period, such as 3/10m"),
            ("/10m", "use a number and a period, such as 3/10m"),
            ("-3/10m", "use a number and a period, such as 3/10m"), ("0/10m", "the number must be at least 1"),
            ("3/0s", "the period must be at least 1us"), ("3/2us", "at most one per 1us is possible"),
            ("3/", "missing duration; use for example 5m, 90s or 1:30"),
            ("3/x", "invalid duration 'x'; use for example 5m, 90s or 1:30"),
            ("99999999999999999999/1s", "use a number and a period, such as 3/10m"),
        ]
    )
    func refusesRates(_ text: String, _ expected: String) throws {
        let refused = CommandFailure.usage("invalid --rate '\(text)': \(expected)")
        #expect(refusal { _ = try Rate(text) } == refused)
        let run = try RunCommand.parse(["tea", "--rate=\(text)", "--", "true"])
        #expect(refusal { _ = try run.request() } == refused)
    }

    @Test(
        "invalid arguments are refused with what is expected",
        arguments: rows(
            """
            start 5m → missing key; for example `countdownctl start tea 5m` (`countdownctl start --key=5m` has the key '5m')
            start 5m --for 5m → missing key; for example `countdownctl start tea 5m` (`countdownctl start --key=5m` has the key \
            '5m')
            start 1h30 → missing key; for example `countdownctl start tea 5m` (`countdownctl start --key=1h30` has the key '1h30')
            start → missing key; for example `countdownctl start tea 5m`
            start 5m tea → the key comes first: `countdownctl start tea 5m`
            start tea 5m --for 5m → use only one of DURATION, --for and --until
            start tea --for 5m --until 17:30 → use only one of DURATION, --for and --until
            start tea 0 → the duration must be at least 1us
            start tea 5m x → unexpected argument 'x': a label needs --label, as in `countdownctl start tea 5m --label x`
            start tea --meta x → invalid --meta 'x': use NAME=VALUE
            start tea --meta =x → invalid --meta '=x': use NAME=VALUE
            start tea --meta x=1 --meta x=2 → duplicate --meta name 'x'
            start tea --until 17:30 --extend → --extend needs a duration; `countdownctl adjust KEY --until TIME` sets another end
            start tea --until 5m → '5m' is a duration; use a time such as 17:30
            start @next 5m → invalid key '@next': it stands for another countdown; use a key such as tea
            run @next -- true → invalid key '@next': it stands for another countdown; use a key such as tea
            timer → missing duration; for example `countdownctl timer 5m Green tea`
            timer 0s tea → the duration must be at least 1us
            timer tea 5m → invalid duration 'tea'; use for example 5m, 90s or 1:30
            snooze tea 1m x → invalid duration '1m x'; use for example 5m, 90s or 1:30
            snooze tea 0 → the duration must be at least 1us
            adjust tea → missing amount; for example `countdownctl adjust tea +1m`
            adjust tea +1m --until 17:30 → use only one of +DURATION, -DURATION and --until
            adjust tea +1h30 → invalid duration '1h30': missing unit; did you mean `countdownctl adjust tea +1h30m` or \
            `countdownctl adjust tea +1h30s`?
            list --state done → invalid state 'done': use running, paused, finished or cancelled
            list -a --state paused → use either --all or --state
            show tea --key tea → use either KEY or --key
            run tea --on-lost TERMINATE -- true → invalid --on-lost 'TERMINATE': use the name or the number of a signal, such \
            as TERM or 15
            run tea --rate 3/1h --on-lost TERM -- true → --on-lost cannot be combined with --rate 3/1h: a rate does not hold \
            the key
            start tea 5m --rate 3/10m → unexpected duration '5m': --rate 3/10m sets the duration
            start tea --for 5m --rate 3/10m → unexpected duration '5m': --rate 3/10m sets the duration
            start tea --until 17:30 --rate 3/10m → unexpected --until '17:30': --rate 3/10m sets the duration
            start tea --restart --rate 3/10m → --restart cannot be combined with --rate 3/10m
            start tea --later --rate 3/10m → --later cannot be combined with --rate 3/10m
            start tea --later --queue → --later cannot be combined with --queue
            start tea --max 10m → --max needs --later
            start tea --extend --max 10m → --max needs --later
            start tea --later --max 59s → invalid --max '59s': it is shorter than the duration
            start tea --later --max soon → invalid duration 'soon'; use for example 5m, 90s or 1:30
            start tea --until 17:30 --later --max 10m → --max needs a duration, not a time
            start tea --queue --fail → --fail cannot be combined with --queue
            start tea --queue --until 17:30 → unexpected --until '17:30': --queue needs a duration
            start tea --queue --attach → --attach cannot be combined with --queue; use `countdownctl attach` after it
            start tea --queue --queue-timeout 0s → the timeout must be at least 1us
            run tea 5m --rate 3/10m -- true → unexpected duration '5m': --rate 3/10m sets the duration
            run tea --also 3/10m -- true → invalid --also '3/10m': use RATE=KEY, such as 20/1h=ip/1.2.3.4
            run tea --also =a -- true → invalid --also '=a': use RATE=KEY, such as 20/1h=ip/1.2.3.4
            run tea --also 3/10m=@next -- true → invalid key '@next': it stands for another countdown; use a key such as tea
            run tea --rate 3/60m --rate 4/1h -- true → the period 1h has two limits of the key 'tea': use each period once
            run tea 5s --also 3/5s=tea -- true → the period 5s has two limits of the key 'tea': use each period once
            run tea --rate 1/1s --rate 1/1d --also 1/1h=tea/1d -- true → the key 'tea/1d' has two limits: use another key
            run tea --wait --also 3/10m=a -- true → --wait cannot be combined with --also
            run tea --wait --rate 3/10m --rate 3/1d -- true → --wait cannot be combined with several --rate
            run tea --wait --trailing -- true → --wait cannot be combined with --trailing
            run tea --trailing --backoff 1h -- true → --trailing cannot be combined with --backoff
            run tea --trailing --rate 3/10m -- true → --trailing cannot be combined with --rate 3/10m
            run tea --backoff 1h --rate 3/10m -- true → --backoff cannot be combined with --rate 3/10m
            run tea --backoff 1h --also 3/10m=a -- true → --backoff cannot be combined with --also
            run tea --backoff 1h --forget -- true → --forget cannot be combined with --backoff: the end keeps the wait
            run tea --backoff 1h --keep-on-failure -- true → --keep-on-failure cannot be combined with --backoff
            run tea 5m --backoff 4m -- true → invalid --backoff '4m': it is shorter than the duration
            run tea --from end --rate 3/10m -- true → --from end cannot be combined with --rate 3/10m
            start tea --queue-timeout 1m → --queue-timeout needs --queue
            run tea --queue-timeout 1m -- true → --queue-timeout needs --wait
            run tea --wait --queue-timeout soon -- true → invalid duration 'soon'; use for example 5m, 90s or 1:30
            """
        )
    )
    func refuses(_ line: String, _ sentence: String) { #expect(TypedTimerTests.outcome(line) == sentence) }

    @Test("run --trailing queues for the only place, with a token")
    func trailing() throws {
        let call = try RunCommand.parse(["build", "1s", "--trailing", "--", "make"]).request()
        #expect(call.ifRunning == .wait && call.queueUpTo == 1 && call.metadata?["run"] != nil)
    }

    private func adjust(_ words: String...) throws -> (Adjust, notes: [String]) { try adjust(words) }

    private func adjust(_ words: [String]) throws -> (Adjust, notes: [String]) {
        let typed = Array(ArgumentNormalizer.normalize(["adjust"] + words).dropFirst())
        let request = try AdjustCommand.parse(typed).request(clock)
        return (request.call, request.notes)
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
        #expect(try adjust("--key", "@next", "-1m").0 == Adjust(key: "@next", byUSec: -60_000_000))
        #expect(try AdjustCommand.parse(["@next", "+1m"]).request(clock).word == .reference(.next))
        #expect(try AdjustCommand.parse(["--key", "@next", "+1m"]).request(clock).word == .key("@next"))
    }

    @Test(
        "adjust takes a label in several words, whatever they are, before each form of an amount",
        arguments: ["tea", "Green tea", "Dinner at eight", "until dawn", "C + D", "lap 2"],
        [
            "+1m", "+1 min", "-1m", "at 12:01", "until 12:01", "tomorrow 9:00", "5pm", "in 2 days at 10:00",
            "--until 12:01",
        ]
    )
    func adjustsByLabels(label: String, amount: String) throws {
        let words = (label + " " + amount).split(separator: " ").map(String.init)
        #expect(try adjust(words).0.key == label)
    }

    @Test("the label of a timer becomes its key: small letters and digits of every script, joined by hyphens")
    func timers() throws {
        func key(_ label: String) -> String? { TimerKey.make(from: label) }
        #expect(key("Green tea") == "timer/green-tea")
        #expect(key("  Mom's  1.5 kg cake! ") == "timer/mom-s-1-5-kg-cake")
        #expect(key("Grüner Tee") == "timer/grüner-tee" && key("抹茶　二杯") == "timer/抹茶-二杯")
        #expect(key("🍵 茶\u{202E}\u{7F}道") == "timer/🍵-茶-道")
        #expect(key("a/b*?[c]") == "timer/a-b-c")
        for nothing in ["", " ", "!?", "\u{202E}"] { #expect(key(nothing) == nil) }
        for long in [String(repeating: "茶", count: 400), String(repeating: "ab ", count: 400)] {
            #expect(try #require(key(long)).utf8.count <= 206)
        }
    }

    @Test("timer takes a duration and the words of a label; without a label the duration makes the key")
    func startsTimers() throws {
        func timer(_ words: String...) throws -> Start { try TimerCommand.parse(words).request(clock).call }
        let tea = Start(key: "timer/green-tea", durationUSec: 300_000_000, ifRunning: .fail, label: "Green tea")
        #expect(try timer("5m", "Green", "tea") == tea && timer("5m", "Green tea") == tea)
        #expect(try timer("300") == Start(key: "timer/5m", durationUSec: 300_000_000, ifRunning: .fail))
        #expect(try timer("90s", "!?").key == "timer/1m30s" && timer("90s", "!?").label == "!?")
        #expect(try timer("5m", "tea", "--meta", "ring=once").metadata == ["ring": "once"])
    }

    @Test("snooze takes a key and a duration, and both can be left out")
    func snoozes() throws {
        func snooze(_ words: String...) throws -> (word: KeyWord?, duration: Int64?) {
            try SnoozeCommand.parse(words).request()
        }
        #expect(try snooze() == (nil, nil) && snooze("10m") == (nil, 600_000_000))
        #expect(try snooze("tea") == (.name("tea"), nil) && snooze("tea", "10m") == (.name("tea"), 600_000_000))
        #expect(try snooze("--key", "5m", "10m") == (.key("5m"), 600_000_000))
    }

    @Test("@next and @last stand for countdowns, unless --key has them")
    func references() throws {
        #expect(
            try CancelCommand.parse(["tea", "@next"]).arguments.required(by: "") == [.name("tea"), .reference(.next)]
        )
        #expect(try CancelCommand.parse(["--key", "@next"]).arguments.required(by: "") == [.key("@next")])
        #expect(try ShowCommand.parse(["@last"]).requiredKey() == .reference(.last))
        #expect(try ShowCommand.parse(["--key", "@last"]).requiredKey() == .key("@last"))
        #expect(try start("--key", "@next").call.key == "@next")
        #expect(
            refusal { _ = try RevisionOption.parse(["--if-revision", "7"]).check([.reference(.last)]) }
                == .usage("--if-revision needs a key, not @last")
        )
        #expect(try ListCommand.parse(["--key", "a*", "b"]).request() == List(keys: ["a*", "b"]))
    }

    @Test("run and button mark their countdowns as cooldowns")
    func marksCooldowns() throws {
        let mark: TextMap<String> = ["cooldown": "yes"]
        #expect(try RunCommand.parse(["tea", "1h", "--", "true"]).request().metadata == mark)
        let button = try ButtonOptions.parse([]).button(key: "tea", title: "", counting: "", command: nil)
        #expect(button.control.start.metadata == mark)
    }

    @Test("run --wait marks its start with a token, by which it recognizes it; a rate needs none")
    func marksOwnStart() throws {
        func token(_ words: String...) throws -> String? {
            try RunCommand.parse(
                ArgumentNormalizer.normalize(["run", "tea"] + words + ["--", "x"]).dropFirst().map(\.self)
            )
            .request().metadata?["run"]
        }
        let tokens = [try token("--wait"), try token("--wait", "--queue-timeout", "5m")]
        #expect(tokens[0] != nil && tokens[1] != nil && tokens[0] != tokens[1])
        #expect(try token() == nil && token("--rate", "3/1h", "--wait") == nil)
    }

    @Test("--on-lost takes the name or the number of a signal")
    func namesSignals() throws {
        func number(_ text: String) throws -> Int32 { try SignalName.read(text, of: "--on-lost") }
        #expect(try ["TERM", "SIGTERM", "term", "15"].map(number) == [15, 15, 15, 15])
        #expect(try ["HUP", "SIGKILL", "USR2", "SYS", "64"].map(number) == [1, 9, 12, 31, 64])
        for wrong in ["", "SIG", "TERMINATE", "0", "65", "-1", "1.5", "STOPP"] {
            let sentence = "invalid --on-lost '\(wrong)': use the name or the number of a signal, such as TERM or 15"
            #expect(refusal { _ = try number(wrong) } == .usage(sentence))
        }
    }

    @Test("list takes patterns and states")
    func lists() throws {
        #expect(try ListCommand.parse([]).request() == List())
        #expect(try ListCommand.parse(["a*", "b"]).request() == List(match: ["a*"], keys: ["b"]))
        #expect(try ListCommand.parse(["-a"]).request() == List(states: Countdown.State.allCases))
        #expect(
            try ListCommand.parse(["--state", "finished,cancelled", "--state", "paused"]).request()
                == List(states: [.finished, .cancelled, .paused])
        )
    }
}
