import Text

@testable import countdownctl

/// Durations and clock times as users type them: parsed, or refused with a sentence.
public enum ClockHarness: Harness {
    private struct AlwaysUTC: Zone {
        func civilTime(at seconds: Int64) -> CivilTime { CivilTime(year: 2026, month: 2, day: 28, hour: 23) }
        func instants(of time: CivilTime) -> CivilInstants { .once(time.secondsAtUTC) }
    }

    /// Checks one input.
    public static func check(_ input: inout Input) {
        let text = String(decoding: input.rest().bytes, as: UTF8.self)
        checkLength(text)
        checkTimer(text)
        let now: Int64 = 1_772_319_600_000_000
        do throws(ClockTimeError) {
            let time = try ClockTimeParser(now: now, zone: AlwaysUTC()).parse(text)
            expect(time.instant > now, "\(time) is ahead")
        } catch {
            expect(!"\(error)".isEmpty, "a refusal says something")
        }
    }

    /// The words of a timer and of its label are all words, the same words in one text have the same length, and every command
    /// that a refusal proposes is accepted.
    private static func checkTimer(_ text: String) {
        let words = text.split(separator: " ").map(String.init)
        let clock = ClockText(zone: AlwaysUTC(), now: 1_772_319_600_000_000)
        guard !words.isEmpty else { return }
        let typed: TimerWords
        do throws(CommandFailure) {
            typed = try TimerWords(words, clock)
        } catch {
            if !text.contains("`") { checkProposals(error.sentence, clock) }
            return
        }
        expect(typed.text.split(separator: " ").map(String.init) + typed.label == words, "no word is lost")
        expect((try? TypedTiming(typed.text, clock)) == typed.timing, "the label does not change the length")
    }

    private static func checkProposals(_ sentence: String, _ clock: ClockText) {
        for command in sentence.split(separator: "`") where command.hasPrefix("countdownctl ") {
            // Quotes, and the label behind its option, are for the shell and for ArgumentParser.
            guard !command.contains("'"), !command.contains("--label") else { continue }
            let words = command.split(separator: " ").dropFirst().map(String.init)
            expect((try? TimerWords(words, clock)) != nil, "\(command) is accepted")
        }
    }

    private static func checkLength(_ text: String) {
        do throws(DurationError) {
            let length = try DurationParser.parse(text)
            expect((0...DurationParser.longest).contains(length), "\(length) is a length")
            expect((try? DurationParser.parse(" \(text) ")) == length, "spaces around a length mean nothing")
        } catch {
            expect(!"\(error)".isEmpty, "a refusal says something")
        }
    }
}
