import ArgumentParser
import IPC
import System
import TestSupport
import Testing
import Text

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
            case "show": return "\(try ShowCommand.parse(words).requiredKey())"
            case "wait": return "within \(try WaitCommand.parse(words).timeout ?? "")"
            case "watch": return "every \(try WatchCommand.parse(words).tick ?? "")"
            default:
                if let unknown = UnknownCommand(Invocation(arguments: shellWords(line)).arguments) {
                    return unknown.sentence
                }
                _ = try Countdownctl.parseAsRoot(invocation)
                return "accepted"
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
            ("1 hour thirty minutes x", "timer/x (x) for 1h30m"), ("5 Minuten Tee", "timer/tee (Tee) for 5m"),
            ("5 Min. Tee", "timer/tee (Tee) for 5m"), ("1 Stunde Brot", "timer/brot (Brot) for 1h"),
            ("5分钟 茶", "timer/茶 (茶) for 5m"),
            ("1h and a half", "timer/1h30m for 1h30m"), ("half an hour nap", "timer/nap (nap) for 30m"),
            ("an hour x", "timer/x (x) for 1h"), ("25 min. pasta", "timer/pasta (pasta) for 25m"),
            ("start tea half an hour", "tea for 30m"), ("run tea 1½ h -- true", "tea for 1h30m"),
            ("adjust tea +half an hour", "tea by +30m"), ("snooze zehn Minuten", "the last one for 10m"),
            ("wait tea --timeout half an hour", "within half an hour"), ("wait tea --timeout 5 min", "within 5 min"),
            ("wait tea --timeout=5 min", "within --timeout=5 min"),
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
            ("timer --until 17:30 tomorrow Call", "timer/call (Call) until tomorrow 17:30:00"),
            ("in 2 days at 10:00 x", "timer/x (x) until 2026-03-03 10:00:00"),
            ("24.3. x", "timer/x (x) until 2026-03-24 00:00:00"),
            ("at 24:00 x", "timer/x (x) until tomorrow 00:00:00"),
            ("at midnight x", "timer/x (x) until tomorrow 00:00:00"),
            ("at noon tomorrow x", "timer/x (x) until tomorrow 12:00:00"),
            ("tonight at 8 x", "timer/x (x) until 20:00:00"),
            ("at 8:00 tonight x", "timer/x (x) until 20:00:00"), ("heute Abend um 8 x", "timer/x (x) until 20:00:00"),
            ("morgen früh um 8 x", "timer/x (x) until tomorrow 08:00:00"),
            ("23:30 Uhr x", "timer/x (x) until 23:30:00"),
            ("明天下午5点半 x", "timer/x (x) until tomorrow 17:30:00"), ("晚上8点 x", "timer/x (x) until 20:00:00"),
            ("17 Uhr 30 x", "timer/x (x) until 17:30:00"),
            ("at 23:00 UTC-2 x", "timer/x (x) until tomorrow 01:00:00"),
            ("17:00 am Dienstag x", "timer/x (x) until 2026-03-03 17:00:00"),
            ("9:00 am Dienstag x", "timer/x (x) until 2026-03-03 09:00:00"),
            ("start call in 2 days at 10:00", "call until 2026-03-03 10:00:00"),
            ("adjust call at 9am tomorrow", "call until tomorrow 09:00:00"),
            ("start call --until '24 December 18:00'", "call until 2026-12-24 18:00:00"),
            ("start call --until 24 December 2090 18:00 --fail", "call until 2090-12-24 18:00:00"),
            ("adjust call --until=24 December 2090 18:00", "call until 2090-12-24 18:00:00"),
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
            ("5 tea", ["5m tea", "5s tea", "5 --label tea"]), ("in 5 tea", ["5m tea", "5s tea", "in 5 --label tea"]),
            ("1:30 h bread", ["1h30m bread", "1:30 --label 'h bread'"]),
            ("1h 1/2 bread", ["1h --label '1/2 bread'"]),
            ("1:30 5min eggs", ["1:30 --label '5min eggs'"]), ("at 8:00 5 eggs", ["at 8:00 --label '5 eggs'"]),
            ("5m at 17:30", ["5m --label 'at 17:30'"]), ("1h less 5 minutes", ["1h --label 'less 5 minutes'"]),
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
            5m 2m cable → invalid duration '5m 2m': each unit must be smaller than the one before; did you mean `countdownctl 7m cable` \
            or `countdownctl 5m --label '2m cable'`?
            5 m 2 m cable → invalid duration '5 m 2 m': each unit must be smaller than the one before; did you mean \
            `countdownctl 7m cable` or `countdownctl 5 m --label '2 m cable'`?
            1h 30 bread → invalid duration '1h 30': missing unit; did you mean `countdownctl 1h 30m bread` or \
            `countdownctl 1h 30s bread` or `countdownctl 1h --label '30 bread'`?
            1h 30 → invalid duration '1h 30': missing unit; did you mean `countdownctl 1h 30m` or `countdownctl 1h 30s` or \
            `countdownctl 1h --label 30`?
            at 9:00 next Friday tea → invalid time '9:00 next Friday': 'next Friday' is the coming one or the one after it; did you \
            mean `countdownctl at 9:00 Friday tea` or `countdownctl at 9:00 --label 'next Friday tea'`?
            9:00 sunday → invalid time '9:00 sunday': '9:00' may be a duration; did you mean `countdownctl at 9:00 sunday` or \
            `countdownctl 9:00 --label sunday`?
            at 8:00 evening news → invalid time '8:00 evening': a part of the day or a label; did you mean \
            `countdownctl at 8:00 in the evening news` or `countdownctl at 8:00 --label 'evening news'`?
            at 17:30 -05:00 → invalid time '17:30 -05:00': an offset needs UTC before it; did you mean \
            `countdownctl at 17:30 UTC-05:00`?
            at 17:30 CET call → invalid time '17:30 CET': 'CET' has several meanings; use a name such as Europe/Berlin, or UTC and \
            an offset; did you mean `countdownctl at 17:30 --label 'CET call'`?
            at Friday midnight → invalid time 'Friday midnight': midnight begins a day and ends it; did you mean \
            `countdownctl at Friday 0:00` or `countdownctl at Friday 24:00`?
            tomorrow dentist → invalid time 'tomorrow': missing time of day; did you mean `countdownctl tomorrow 9:00 dentist`?
            1H30M tea → invalid duration '1H30M': units are lower case; did you mean `countdownctl 1h30m tea`?
            tea 5m → unknown command 'tea'; did you mean `countdownctl 5m tea`?
            set 5m tea → unknown command 'set'; `countdownctl 5m tea` starts a countdown, `countdownctl adjust tea +5m` adds time
            strat 5m tea → unknown command 'strat'; did you mean `countdownctl 5m tea`?
            start tea 5m Green tea → unexpected argument 'Green tea': a label needs --label, as in `countdownctl start tea 5m \
            --label 'Green tea'`
            start tea 5m --label Green tea → unexpected argument 'tea': a label of several words needs quotes, as in \
            `countdownctl start tea 5m --label 'Green tea'`
            adjust +5m tea → the key comes first: `countdownctl adjust tea +5m`
            start tea at 17 → invalid time '17': missing minutes; did you mean `countdownctl start tea at 17:00`?
            start tea 1h 30 → invalid duration '1h 30': missing unit; did you mean `countdownctl start tea 1h 30m` or \
            `countdownctl start tea 1h 30s`?
            1,500s tea → invalid duration '1,500s': three digits may be thousands; did you mean `countdownctl 1500s tea` or \
            `countdownctl 1.5s tea`?
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
            let isRight = [" for ", " until ", " by ", "accepted"].contains { outcome.contains($0) }
            #expect(isRight && !outcome.contains("`"), "\(command): \(outcome)")
        }
    }

    @Test(
        "a wrong duration or time starts nothing",
        arguments: rows(
            """
            5 M tea → invalid duration '5 M': months and years differ in length; M means months, and m minutes; did you mean \
            `countdownctl 5 m tea` or `countdownctl 5 --label 'M tea'`?
            5x tea → invalid duration '5x': unknown unit 'x'; use us, ms, s, m, h, d or w
            1:75 tea → invalid duration '1:75': minutes and seconds have two digits up to 59, as in 1:05 or 1:02:03
            17pm tea → invalid time '17pm': no such day or time of day
            17:30 pm → invalid time '17:30 pm': no such day or time of day; did you mean `countdownctl 17:30 --label pm`?
            at 25:00 tea → invalid time '25:00': no such day or time of day
            at 9:00 today → time '9:00 today' has passed; use a time in the future; did you mean `countdownctl at 9:00 \
            --label today`?
            at 5m → '5m' is a duration; use a time such as 17:30
            in tea → invalid duration 'tea'; use for example 5m, 90s or 1:30
            in → missing duration; use for example 5m, 90s or 1:30
            at 17:30 Europe/Atlantis → invalid time '17:30 Europe/Atlantis': this machine has no zone file 'Europe/Atlantis'; names \
            are like Europe/Berlin; did you mean `countdownctl at 17:30 --label Europe/Atlantis`?
            at 9:00 next week → invalid time '9:00 next week': use a day, such as Friday or 24 December; did you mean \
            `countdownctl at 9:00 --label 'next week'`?
            at 20:00 in the morning → invalid time '20:00 in the morning': no such time in the morning; did you mean \
            `countdownctl at 20:00 --label 'in the morning'`?
            Dec 32 → invalid time 'Dec 32': no such day or time of day
            29 Feb 2027 → invalid time '29 Feb 2027': no such day or time of day; did you mean `countdownctl 29 Feb --label 2027`?
            start '' 5m → the key is empty; use a key such as tea
            timer --until 17:30 9:00 tea → use either DURATION or --until; --label takes a label that begins with a number
            start 5 min → missing key; for example `countdownctl start tea 5 min`
            start 5 min tea → the key comes first: `countdownctl start tea 5 min`
            start 5 m → missing key; for example `countdownctl start tea 5 m`
            start 5pm → missing key; for example `countdownctl start tea 5pm` (`countdownctl start --key=5pm` has the key '5pm')
            start tea 5 cups → invalid duration '5 cups': unknown unit 'cups'; use us, ms, s, m, h, d or w
            run 5 min -- true → missing key; for example `countdownctl run backup 5 min -- COMMAND`
            run tea 5pm -- true → '5pm' is a time; use a duration such as 5m
            5m tea --until 17:30 → use either DURATION or --until; --label takes a label that begins with a number
            snooze 5pm → '5pm' is a time; use a duration such as 5m
            start tea 5m 5m → invalid duration '5m 5m': each unit must be smaller than the one before; did you mean \
            `countdownctl start tea 10m`?
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
        let others = ["tea", "and", "in", "at", "eggs", "2nd", "tomorrow", "sunday", "+", "-"]
        var generator = SeededGenerator(seed: 29)
        var accepted = 0
        for _ in 0..<5_000 {
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
        #expect(accepted > 300)
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
        "s": 1, "sec": 1, "m": 60, "min": 60, "minutes": 60, "Min": 60, "h": 3_600, "hours": 3_600, "d": 86_400,
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
        while let match = rest.prefixMatch(of: /(?:and )?([\d.,]+) ?([A-Za-z]+)(?: |$)/) {
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
