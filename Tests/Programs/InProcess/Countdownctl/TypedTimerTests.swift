import ArgumentParser
import IPC
import System
import TestSupport
import Testing

@testable import countdownctl

/// What people type, and what starts.
@Suite("Durations and times as people type them")
struct TypedTimerTests {
    private static var clock: ClockText { ClockText(zone: TestZone.utc, now: noon) }

    /// What a command line starts, adjusts or refuses, in one line.
    static func outcome(_ line: String) -> String {
        var words = shellWords(line)
        do {
            let invocation = ArgumentNormalizer.normalize(Invocation(arguments: words).arguments)
            words = Array(invocation.dropFirst())
            switch invocation.first {
            case "timer": return shown(try TimerCommand.parse(words).request(clock).call)
            case "start": return shown(try StartCommand.parse(words).request(clock).call)
            case "run": return shown(try RunCommand.parse(words).request())
            case "snooze":
                let (word, duration) = try SnoozeCommand.parse(words).request()
                return "\(word?.text ?? "the last one") for \(duration.map(DurationFormat.render) ?? "the default")"
            case "adjust":
                let call = try AdjustCommand.parse(words).request(clock).call
                if let end = call.deadlineUSec { return "\(call.key) until \(shown(until: end))" }
                let amount = call.byUSec ?? 0
                return "\(call.key) by \(amount < 0 ? "-" : "+")\(DurationFormat.render(abs(amount)))"
            case "list": return "\(try ListCommand.parse(words).request())"
            case "show": return "\(try ShowCommand.parse(words).argument.required(by: ""))"
            case "wait": return "within \(try WaitCommand.parse(words).timeout ?? "")"
            case "watch": return "every \(try WatchCommand.parse(words).tick ?? "")"
            default: return "unknown command"
            }
        } catch let failure as CommandFailure {
            return failure.sentence
        } catch {
            return "wrong arguments"
        }
    }

    private static func shown(_ call: Start) -> String {
        let name = call.key + (call.label.map { " (\($0))" } ?? "")
        if let end = call.deadlineUSec { return "\(name) until \(shown(until: end))" }
        return "\(name) for \(call.durationUSec.map(DurationFormat.render) ?? "the default")"
    }

    private static func shown(until instant: Int64) -> String { clock.render(instant) }

    /// Divides a line at spaces outside of single quotes.
    private static func shellWords(_ line: String) -> [String] {
        var words: [String] = []
        for (place, part) in line.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            if place % 2 == 1 {
                words.append(String(part))
            } else {
                words += part.split(separator: " ").map(String.init)
            }
        }
        return words
    }

    @Test(
        "a number and its unit belong together, in one word or in several",
        arguments: [
            ("5m tea", "timer/tea (tea) for 5m"), ("5 min tea", "timer/tea (tea) for 5m"),
            ("5 m tea", "timer/tea (tea) for 5m"), ("5 mins Green tea", "timer/green-tea (Green tea) for 5m"),
            ("'5 min' tea", "timer/tea (tea) for 5m"), ("5 minute eggs", "timer/eggs (eggs) for 5m"),
            ("1 h 30 m bread", "timer/bread (bread) for 1h30m"), ("1h 30m bread", "timer/bread (bread) for 1h30m"),
            ("1 hour and 30 minutes bread", "timer/bread (bread) for 1h30m"),
            ("1 hour, 30 min", "timer/1h30m for 1h30m"),
            ("2 hrs 5 secs", "timer/2h5s for 2h5s"), ("in 20 minutes", "timer/20m for 20m"),
            ("in 5m tea", "timer/tea (tea) for 5m"), ("5 minutes", "timer/5m for 5m"),
            ("1,5h", "timer/1h30m for 1h30m"),
            ("1,5 h rice", "timer/rice (rice) for 1h30m"), ("1.5 hours", "timer/1h30m for 1h30m"),
            ("0,250s", "timer/250ms for 250ms"), ("90", "timer/1m30s for 1m30s"), ("5", "timer/5s for 5s"),
            ("17:30", "timer/17m30s for 17m30s"), ("17:30 tea", "timer/tea (tea) for 17m30s"),
            ("timer 5 min tea", "timer/tea (tea) for 5m"), ("5m 2nd batch", "timer/2nd-batch (2nd batch) for 5m"),
            ("5m '2 eggs'", "timer/2-eggs (2 eggs) for 5m"), ("5m m", "timer/m (m) for 5m"),
            ("5 --label tea", "timer/tea (tea) for 5s"), ("1h --label '30 rolls'", "timer/30-rolls (30 rolls) for 1h"),
            ("start tea 5 min", "tea for 5m"), ("start tea 1 h 30 m", "tea for 1h30m"), ("start tea 5 m", "tea for 5m"),
            ("start tea in 20 minutes", "tea for 20m"), ("start tea 1,5h", "tea for 1h30m"),
            ("start tea --for 5 min", "tea for 5m"), ("start tea --for=5 min --forget", "tea for 5m"),
            ("start m 5m", "m for 5m"), ("start --key=m 5 m", "m for 5m"), ("start --key=min 5 min", "min for 5m"),
            ("start --key=5 5 min", "5 for 5m"), ("start 12345 60s", "12345 for 1m"), ("start tea 90", "tea for 1m30s"),
            ("start tea 17:30", "tea for 17m30s"), ("start in", "in for the default"),
            ("start 2026-03-02 5m", "2026-03-02 for 5m"), ("start tea --rate 3/10 min", "tea for 3m20s"),
            ("run tea 5 min -- true", "tea for 5m"), ("run tea 1 h 30 m -- true 5 min", "tea for 1h30m"),
            ("run tea in 5 min -- true", "tea for 5m"), ("run tea --for 5 min -- true", "tea for 5m"),
            ("run m 5 m -- true", "m for 5m"), ("adjust tea +5 min", "tea by +5m"), ("adjust tea -5 min", "tea by -5m"),
            ("adjust tea -1 h 30 m", "tea by -1h30m"), ("adjust tea + 5 min", "tea by +5m"),
            ("adjust --key=m +5 m", "m by +5m"), ("snooze 5 min", "the last one for 5m"),
            ("snooze tea 5 min", "tea for 5m"),
            ("snooze in 10 minutes", "the last one for 10m"), ("snooze m", "m for the default"),
            ("wait tea --timeout 5 min", "within 5 min"), ("wait tea --timeout=5 min", "within --timeout=5 min"),
            ("watch --tick 5 s", "every 5 s"),
        ]
    )
    func startsLengths(_ line: String, _ outcome: String) {
        #expect(Self.outcome(line) == outcome.replacing("--timeout=", with: ""))
    }

    @Test(
        "at, am and pm, and a day make a time of day",
        arguments: [
            ("at 17:30 Call the bank", "timer/call-the-bank (Call the bank) until 17:30:00"),
            ("at 17:30", "timer/17:30 until 17:30:00"), ("until 17:30 tea", "timer/tea (tea) until 17:30:00"),
            ("5pm", "timer/17:00 until 17:00:00"), ("5 pm tea", "timer/tea (tea) until 17:00:00"),
            ("5:30pm tea", "timer/tea (tea) until 17:30:00"), ("5:30 PM tea", "timer/tea (tea) until 17:30:00"),
            ("12am", "timer/00:00 until tomorrow 00:00:00"), ("12:30pm", "timer/12:30 until 12:30:00"),
            ("tomorrow 9:00", "timer/09:00 until tomorrow 09:00:00"),
            ("tomorrow at 9am dentist", "timer/dentist (dentist) until tomorrow 09:00:00"),
            ("9:00 tomorrow dentist", "timer/dentist (dentist) until tomorrow 09:00:00"),
            ("9am tomorrow", "timer/09:00 until tomorrow 09:00:00"), ("today 13:00", "timer/13:00 until 13:00:00"),
            ("at 9:00 tea", "timer/tea (tea) until tomorrow 09:00:00"),
            ("2026-03-02 18:00 party", "timer/party (party) until tomorrow 18:00:00"),
            ("timer --until 17:30 Call", "timer/call (Call) until 17:30:00"),
            ("start call at 17:30", "call until 17:30:00"), ("start call 5pm", "call until 17:00:00"),
            ("start call tomorrow 9:00", "call until tomorrow 09:00:00"),
            ("start --key=tomorrow 9:00", "tomorrow for 9m"), ("start --key=at 17:30", "at for 17m30s"),
            ("adjust call at 17:45", "call until 17:45:00"), ("adjust call 5 pm", "call until 17:00:00"),
        ]
    )
    func startsTimes(_ line: String, _ outcome: String) { #expect(Self.outcome(line) == outcome) }

    @Test(
        "words with several meanings start nothing: all are shown, each as a command that works",
        arguments: [
            ("5 tea", ["5m tea", "5s tea"]), ("in 5 tea", ["5m tea", "5s tea"]),
            ("5 Minuten Tee", ["5m Minuten Tee", "5s Minuten Tee"]),
            ("1h 30 bread", ["1h 30m bread", "1h 30s bread", "1h --label '30 bread'"]),
            ("5m 2m cable", ["7m cable", "5m --label '2m cable'"]),
            ("5 m 2 m cable", ["7m cable", "5 m --label '2 m cable'"]),
            ("1:30 h bread", ["1h30m bread", "1:30 --label 'h bread'"]),
            ("1h and a half", ["1h --label 'and a half'"]), ("1h 1/2 bread", ["1h --label '1/2 bread'"]),
            ("1:30 5min eggs", ["1:30 --label '5min eggs'"]), ("9:00 sunday", ["9:00 --label sunday"]),
        ]
    )
    func showsAll(_ line: String, _ meanings: [String]) {
        let commands = meanings.map { "`countdownctl \($0)`" }.joined(separator: " or ")
        expectWorkingCommands(in: "ambiguous '\(line)': use \(commands)", for: line)
    }

    @Test(
        "a mistake with an obvious correction is answered with the correction, which works",
        arguments: rows(
            """
            at 5 tea → invalid time '5': missing minutes; did you mean `countdownctl at 5am tea` or `countdownctl at 5pm tea`?
            start tea at 17 → invalid time '17': missing minutes; did you mean `countdownctl start tea at 17:00`?
            start tea 1h 30 → invalid duration '1h 30': missing unit; did you mean `countdownctl start tea 1h 30m` or \
            `countdownctl start tea 1h 30s`?
            1,500s tea → invalid duration '1,500s': the comma is ambiguous; did you mean `countdownctl 1500s tea` or \
            `countdownctl 1.500s tea`?
            start 1h 30m → missing key; for example `countdownctl start tea 1h 30m` (`countdownctl start --key=1h 30m` has the \
            key '1h')
            start tomorrow 9:00 → missing key; for example `countdownctl start tea tomorrow 9:00` (`countdownctl start \
            --key=tomorrow 9:00` has the key 'tomorrow')
            adjust tea 5 min → the amount needs a sign: `countdownctl adjust tea +5 min` or `countdownctl adjust tea -5 min`
            """
        )
    )
    func corrects(_ line: String, _ sentence: String) { expectWorkingCommands(in: sentence, for: line) }

    private func expectWorkingCommands(in sentence: String, for line: String) {
        #expect(Self.outcome(line) == sentence)
        for command in sentence.split(separator: "`").filter({ $0.hasPrefix("countdownctl ") }) {
            let outcome = Self.outcome(String(command.dropFirst("countdownctl ".count)))
            #expect(outcome.contains(" for ") || outcome.contains(" until ") || outcome.contains(" by "), "\(outcome)")
        }
    }

    @Test(
        "a wrong duration or time starts nothing",
        arguments: rows(
            """
            5 Min tea → invalid duration '5 Min': units are lower case; did you mean `countdownctl 5 m tea`?
            5 M tea → invalid duration '5 M': M means months, which differ in length; minutes are `countdownctl 5 m tea`
            5x tea → invalid duration '5x': unknown unit 'x'; use us, ms, s, m, h, d or w
            1:75 tea → invalid duration '1:75': minutes and seconds have two digits up to 59, as in 1:05 or 1:02:03
            17pm tea → invalid time '17pm': no such day or time of day
            17:30 pm → invalid time '17:30 pm': no such day or time of day
            at 25:00 tea → invalid time '25:00': no such day or time of day
            at 9:00 today → time '9:00 today' has passed; --until takes a time in the future
            at 5m → '5m' is a duration; --until takes a time such as 17:30
            in tea → invalid duration 'tea'; use for example 5m, 90s or 1:30
            in → missing duration; use for example 5m, 90s or 1:30
            tea 5m → unknown command
            0 tea → ambiguous '0 tea': use `countdownctl 0m tea` or `countdownctl 0s tea`
            start 5 min → missing key; for example `countdownctl start tea 5 min`
            start 5 min tea → the key comes first: `countdownctl start tea 5 min`
            start 5 m → missing key; for example `countdownctl start tea 5 m`
            start 5pm → missing key; for example `countdownctl start tea 5m` (`countdownctl start --key=5pm` has the key '5pm')
            start tea 5 cups → invalid duration '5 cups': unknown unit 'cups'; use us, ms, s, m, h, d or w
            run 5 min -- true → missing key; for example `countdownctl run backup 5 min -- COMMAND`
            run tea 5pm -- true → '5pm' is a time; use a duration such as 5m
            5m tea --until 17:30 → use either DURATION or --until; --label takes a label that begins with a number
            snooze 5pm → '5pm' is a time; use a duration such as 5m
            adjust tea +1h -30m → invalid duration '30m +1h'; use for example 5m, 90s or 1:30
            adjust tea -1m -30s → use only one of +DURATION, -DURATION and --until
            """
        )
    )
    func refuses(_ line: String, _ sentence: String) { #expect(Self.outcome(line) == sentence) }

    @Test("a duration that looks like a time of day gets a note about --until")
    func notesTheTime() throws {
        let note = "'17:30' is the duration 17m30s; --until 17:30 is the time of day"
        #expect(try TimerCommand.parse(["17:30", "tea"]).request(Self.clock).notes == [note])
        #expect(try StartCommand.parse(["tea", "17:30"]).request(Self.clock).notes == [note])
        #expect(try TimerCommand.parse(["90:00", "tea"]).request(Self.clock).notes == [])
        #expect(try TimerCommand.parse(["1:02:03"]).request(Self.clock).notes == [])
    }

    @Test(
        "whatever words are accepted, all numbers and units before the label are in the length, and none are in the label"
    )
    func neverStartsAnotherLength() throws {
        let numbers = ["1", "2", "5", "30", "90", "1.5", "2,5", "1:30", "17:30", "1h", "30m", "5min", "10s"]
        let units = ["s", "sec", "m", "min", "Min", "minutes", "h", "hours", "d", "pm", "M"]
        let others = ["tea", "and", "in", "at", "eggs", "2nd", "tomorrow", "sunday", "+", "-", "half"]
        var generator = SeededGenerator(seed: 29)
        var accepted = 0
        for _ in 0..<20_000 {
            let words = (0..<Int.random(in: 1...6, using: &generator)).compactMap { _ in
                [numbers, numbers, units, others].randomElement(using: &generator)?.randomElement(using: &generator)
            }
            guard let typed = try? TimerWords(words, Self.clock), case .length(let length) = typed.timing else {
                continue
            }
            accepted += 1
            let line = words.joined(separator: " ")
            #expect(IndependentReading.length(typed.text) == length, "\(line)")
            #expect(!IndependentReading.continues(typed.label.joined(separator: " ")), "\(line)")
        }
        #expect(accepted > 1_000)
    }
}

/// The rows of a table: a command line, an arrow, and what comes of it.
func rows(_ table: String) -> [(String, String)] {
    table.split(separator: "\n").map { row in
        let parts = row.split(separator: " → ").map(String.init)
        return (parts[0], parts[1])
    }
}

/// Reads durations in another way than the program: all numbers with their units, by a regular expression.
private enum IndependentReading {
    private static let seconds: [String: Double] = [
        "s": 1, "sec": 1, "m": 60, "min": 60, "minutes": 60, "h": 3_600, "hours": 3_600, "d": 86_400,
    ]

    /// In microseconds; nil if the text has anything else.
    static func length(_ text: String) -> Int64? {
        var rest = text[...]
        if rest.hasPrefix("in ") { rest = rest.dropFirst(3) }
        if let match = rest.wholeMatch(of: /(\d+):(\d\d)/), let minutes = Double(match.1), let seconds = Double(match.2)
        {
            return Int64((minutes * 60 + seconds) * 1_000_000)
        }
        if let number = Double(rest.replacing(",", with: ".")) { return Int64(number * 1_000_000) }
        var sum = 0.0
        while let match = rest.prefixMatch(of: /(?:and )?([\d.,]+) ?([a-z]+)(?: |$)/) {
            guard let number = Double(match.1.replacing(",", with: ".")), let unit = seconds[String(match.2)] else {
                return nil
            }
            sum += number * unit
            rest = rest[match.range.upperBound...]
        }
        return rest.isEmpty ? Int64(sum * 1_000_000) : nil
    }

    /// Whether a label begins like more of a duration.
    static func continues(_ label: String) -> Bool {
        label.prefixMatch(of: /(?:and |\+ |- )?[\d.,:]+ ?(?:s|sec|m|min|Min|minutes|h|hours|d|M)?(?: |$)/) != nil
    }
}
