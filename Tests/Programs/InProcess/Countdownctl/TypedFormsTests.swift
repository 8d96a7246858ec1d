import ArgumentParser
import Foundation
import System
import TestSupport
import Testing

@testable import countdownctl

/// The forms in which people type a time and a label, put together in every way.
@Suite("Typed times and labels, as products of their forms")
struct TypedFormsTests {
    /// 2026-03-01 12:00 at UTC, a Sunday.
    private static let now = Date(timeIntervalSince1970: 1_772_366_400)

    /// A day as it is typed, and the date that a calendar has for it.
    private static let days: [(texts: [String], date: @Sendable (Calendar) -> Date?)] = [
        (["today", "heute", "今天"], { $0.startOfDay(for: now) }),
        (["tomorrow", "Tomorrow", "morgen", "明天"], { day(1, $0) }),
        (["the day after tomorrow", "day after tomorrow", "übermorgen", "后天"], { day(2, $0) }),
        (["Friday", "fri", "Fri.", "Freitag", "周五", "星期五", "this Friday"], { weekday(6, $0) }),
        (["Monday", "mon", "montag"], { weekday(2, $0) }), (["sunday", "Sonntag", "周日"], { weekday(1, $0) }),
        (
            [
                "2026-12-24", "20261224", "2026/12/24", "24 December", "24 Dec", "Dec 24", "Dec. 24th",
                "December 24, 2026",
                "24th of December 2026", "24. Dezember", "24.12.2026", "24.12.", "12月24日", "2026年12月24日",
            ],
            { $0.date(from: DateComponents(year: 2026, month: 12, day: 24)) }
        ),
        (["Feb 28", "28 february"], { $0.date(from: DateComponents(year: 2027, month: 2, day: 28)) }),
    ]

    /// A time of day, and its hour, minute and second.
    private static let times: [(texts: [String], fields: [Int])] = [
        (
            ["18:00", "6pm", "6 PM", "6:00 p.m.", "18:00:00", "18 Uhr", "18.00 Uhr", "6:00 in the evening", "18点"],
            [18, 0, 0]
        ),
        (["21:30:05", "9:30:05pm", "9:30:05 in the evening"], [21, 30, 5]),
        (["noon", "12 noon", "12:00", "12pm", "midday"], [12, 0, 0]), (["24:00"], [24, 0, 0]),
        (["0:30", "12:30am", "00:30"], [0, 30, 0]),
        (["17点30分", "17:30", "5:30 in the afternoon"], [17, 30, 0]),
    ]

    private static let zones: [(texts: [String], name: String)] = [
        ([""], "local"), (["UTC", "GMT", "utc", "UTC+0"], "UTC"),
        (["+02:00", "UTC+2", "GMT+02:00", "UTC +2"], "GMT+2"),
        (["UTC-5", "UTC-05:00"], "GMT-5"), (["Europe/Berlin"], "Europe/Berlin"),
        (["America/New_York"], "America/New_York"),
        (["Asia/Kolkata"], "Asia/Kolkata"),
    ]

    private static func day(_ number: Int, _ calendar: Calendar) -> Date? {
        calendar.date(byAdding: .day, value: number, to: calendar.startOfDay(for: now))
    }

    /// 1 is Sunday.
    private static func weekday(_ number: Int, _ calendar: Calendar) -> Date? {
        (0..<7).compactMap { day($0, calendar) }.first { calendar.component(.weekday, from: $0) == number }
    }

    /// What a calendar has for a day and a time, a week later for the name of a day that has passed; nil if it has passed.
    private static func instant(_ day: Int, _ time: Int, _ zone: String, local: String) -> Date? {
        var calendar = Calendar(identifier: .gregorian)
        guard let found = TimeZone(identifier: zone == "local" ? local : zone) else { return nil }
        calendar.timeZone = found
        let fields = times[time].fields
        guard let start = days[day].date(calendar) else { return nil }
        for weeks in (3...5).contains(day) ? [0, 7] : [0] {
            guard let date = calendar.date(byAdding: .day, value: weeks + fields[0] / 24, to: start) else { continue }
            var parts = calendar.dateComponents([.year, .month, .day], from: date)
            (parts.hour, parts.minute, parts.second) = (fields[0] % 24, fields[1], fields[2])
            if let instant = calendar.date(from: parts), instant > now { return instant }
        }
        return nil
    }

    private static let labels = [
        "", "Tea for two", "Call on Monday", "on hold", "next bus", "May report", "second coffee",
    ]

    /// The words of a time in an order, with or without prepositions.
    private static func line(_ day: String, _ time: String, _ zone: String, order: Int) -> String {
        let parts =
            switch order {
            case 0: ["at", day, time, zone]
            case 1: ["at", time, day, zone]
            case 2: [day, "at", time, zone]
            case 3: ["at", time, zone, "on", day]
            case 4: ["until", time, zone, day]
            default: ["um", time, day, zone]
            }
        return parts.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Types a part of the product, and returns how many lines started another time or label or were refused without need.
    static func faults(in local: String, zone: any Zone, one part: Int) -> [String] {
        let clock = ClockText(zone: zone, now: Int64(now.timeIntervalSince1970) * 1_000_000)
        var faults: [String] = []
        var number = 0
        for (dayPlace, day) in days.enumerated() {
            for dayText in day.texts {
                for (timePlace, time) in times.enumerated() {
                    for timeText in time.texts {
                        for zone in zones {
                            number += 1
                            guard number % part == 0 else { continue }
                            let zoneText = zone.texts[number % zone.texts.count]
                            let label = labels[number / part % labels.count]
                            let typed = line(dayText, timeText, zoneText, order: number / part % 6)
                            let expected = instant(dayPlace, timePlace, zone.name, local: local)
                            let words = "\(typed) \(label)".split(separator: " ").map(String.init)
                            if let fault = fault(words, label, expected, clock) { faults.append(fault) }
                        }
                    }
                }
            }
        }
        return faults
    }

    private static func fault(_ words: [String], _ label: String, _ expected: Date?, _ clock: ClockText) -> String? {
        let line = words.joined(separator: " ")
        do {
            let typed = try TimerWords(words, clock)
            guard case .time(let time) = typed.timing else { return "\(line): a duration" }
            let found = Date(timeIntervalSince1970: Double(time.instant) / 1_000_000)
            guard found == expected else { return "\(line): \(found), not \(expected.map { "\($0)" } ?? "refused")" }
            return typed.label.joined(separator: " ") == label ? nil : "\(line): the label \(typed.label)"
        } catch {
            return expected == nil ? nil : "\(line): \(error.sentence)"
        }
    }

    @Test(
        "every form of a day, a time and a zone in any order is the instant that a calendar has, in a process of its own"
    )
    func startsWhatIsTyped() async {
        let child = await #expect(processExitsWith: .success, observing: [\.standardOutputContent]) {
            for (zone, part) in [("Europe/Berlin", 13), ("UTC", 17)] {
                unsafe setenv("TZ", zone, 1)
                for fault in TypedFormsTests.faults(in: zone, zone: LocalZone(), one: part) { print(fault) }
            }
        }
        #expect(String(decoding: child?.standardOutputContent ?? [], as: UTF8.self) == "")
    }

    @Test(
        "clocks of another zone skip a time and show a time twice as those of the local zone, in a process of its own"
    )
    func followsOtherClocks() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TZ", "Asia/Tokyo", 1)
            let march = ClockText(zone: LocalZone(), now: 1_774_700_000_000_000)
            let skipped = try TimerWords(["2026-03-29", "2:30", "Europe/Berlin"], march)
            #expect(skipped.timing == .time(ClockTime(instant: 1_774_747_800_000_000, notes: [.skipped])))
            let october = ClockText(zone: LocalZone(), now: 1_792_800_000_000_000)
            let twice = try TimerWords(["2026-10-25", "2:30", "Europe/Berlin"], october)
            #expect(twice.timing == .time(ClockTime(instant: 1_792_888_200_000_000, notes: [.firstOfTwo])))
            // It is the next day there.
            let later = ClockText(zone: LocalZone(), now: 1_774_715_000_000_000)
            #expect(throws: CommandFailure.self) { try TimerWords(["tomorrow", "9:00", "America/Los_Angeles"], later) }
            #expect(Environment.value(of: "TZ") == "Asia/Tokyo")
        }
    }

    private static let durations: [(text: String, seconds: Double)] = [
        ("5m", 300), ("5 min", 300), ("5 Min.", 300), ("90s", 90), ("1h30m", 5_400), ("1 h 30 m", 5_400),
        ("1½ h", 5_400),
        ("1.5 hours", 5_400), ("1,5h", 5_400), ("half an hour", 1_800), ("an hour", 3_600), ("in 20 minutes", 1_200),
        ("in an hour and a half", 5_400), ("1 hour and 30 minutes", 5_400), ("1d 2:30:00", 95_400), ("1 Stunde", 3_600),
        ("zwei Stunden", 7_200), ("5分钟", 300), ("半小时", 1_800), ("1小时30分钟", 5_400), ("2 weeks", 1_209_600),
        ("250ms", 0.25),
        ("twenty minutes", 1_200),
    ]

    /// Labels that no duration goes on with, though they begin like words of times.
    private static let plain = [
        "tea", "Tea for two", "pomodoro 3", "second coffee", "Call Mon team", "May report", "on hold", "half time",
        "next bus",
        "before lunch", "Call on Monday", "midnight snack", "noon nap", "Monday report", "minute steak",
        "a minute steak",
        "two eggs", "2nd batch", "7-up", "in the oven", "this one", "until done", "UTC talk", "and tea", "less sugar",
        "the 5th element", "会议", "Sonntagsbraten", "tomorrow never dies", "evening news", "the end",
    ].filter { $0 != "a minute steak" }

    /// Labels that a duration could go on with.
    private static let carrying = [
        "5 eggs", "30", "10m eggs", "2 min eggs", "three minutes eggs", "17:30 call", "at 17:30 call", "at 5pm call",
        "5pm call",
        "less 5 minutes", "before 17:30", "on 2026-12-24", "in 5 minutes", "drei Minuten Eier", "and 5", "half an hour",
    ]

    /// What a time could go on with beside these.
    private static let carryingTimes = [
        "EST call", "CET", "Europe/Atlantis call", "evening news", "next Friday call", "next week call",
        "on the 24th call",
        "-05:00 call", "+1 guest",
    ]

    private static let clock = ClockText(zone: TestZone.utc, now: Int64(now.timeIntervalSince1970) * 1_000_000)

    private func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

    @Test("a label that a duration does not go on with is the label of each duration, whatever its form")
    func keepsLabels() throws {
        for (text, seconds) in Self.durations {
            for label in Self.plain {
                let line = "\(text) \(label)"
                let typed = Result { try TimerWords(words(line), Self.clock) }
                guard case .success(let timer) = typed else {
                    Issue.record("\(line): \(typed)")
                    continue
                }
                #expect(timer.timing == .length(Int64(seconds * 1_000_000)) && timer.label == words(label), "\(line)")
            }
        }
    }

    @Test("words that could carry a duration or a time on start nothing, and --label is offered and works")
    func refusesWhatGoesOn() throws {
        let times = [
            "at 9:00", "at 5:30 pm", "tomorrow 9:00", "at 18:00 on 24 December", "2026-12-24 at 6pm", "um 17 Uhr",
        ]
        let durations = Self.durations.map(\.text).filter { !$0.contains("hour") || $0.contains("in") }
        let lines =
            durations.flatMap { text in Self.carrying.map { (text, $0) } }
            + times.flatMap { text in (Self.carrying + Self.carryingTimes).map { (text, $0) } }
        for (text, label) in lines {
            let line = "\(text) \(label)"
            do {
                let typed = try TimerWords(words(line), Self.clock)
                // All of it in one reading is right as well.
                let whole = typed.label.first.map { label.hasSuffix($0) } ?? true
                #expect(whole && typed.label.count < words(label).count, "\(line): \(typed.text), \(typed.label)")
            } catch {
                let offer =
                    "`countdownctl \(text.contains("½") ? ShellWord.quote("1½") + " h" : Self.quoted(text)) --label "
                #expect(
                    error.sentence.replacing("'--label=", with: "--label ").contains(offer),
                    "\(line): \(error.sentence)"
                )
                for command in Self.commands(in: error.sentence) {
                    let outcome = TypedTimerTests.outcome(command)
                    #expect(outcome.contains(" for ") || outcome.contains(" until "), "\(line): \(command): \(outcome)")
                    guard let place = command.firstRange(of: /--label[ =]/) else { continue }
                    let kept = command[place.upperBound...].replacing("'", with: "")
                    #expect(outcome.contains("(\(kept))"), "\(line): \(outcome)")
                }
            }
        }
    }

    private static func quoted(_ text: String) -> String {
        text.split(separator: " ").map { ShellWord.quote(String($0)) }.joined(separator: " ")
    }

    private static func commands(in sentence: String) -> [String] {
        sentence.split(separator: "`").filter { $0.hasPrefix("countdownctl ") }.map { String($0.dropFirst(13)) }
    }

    @Test("every proposal of every refusal can be typed, and starts or changes something")
    func proposesWhatWorks() {
        let timings = [
            "5m", "5", "1h30", "1H30M", "5M", "1.000s", "1,500 s", "5m5m", "5m 5m", "1h 30", "17:30", "at 5", "at 17",
            "tomorrow",
            "next Friday 9:00", "at 9:00 next Friday", "Friday midnight", "at 8:00 evening", "at 17:30 -05:00",
            "at 9:00-10:00",
            "at 17:30 EST", "30m1h", "5 Hours 3 Min", "at 5点", "24:00 Friday", "half an hour", "1:30 h", "1:30 min",
            "in 2 days at 5",
        ]
        let frames = [
            "@", "@ tea", "tea @", "set @ tea", "add tea @", "strat @ tea", "strat tea @", "start tea @", "start @",
            "start @ tea", "start tea @ x", "start tea @ --label Green x", "adjust tea @", "adjust tea +@",
            "adjust +@ tea",
            "snooze tea @", "run tea @ true", "restart tea @", "extend tea @",
        ]
        var proposals = 0
        for timing in timings {
            for frame in frames {
                let line = frame.replacing("@", with: timing)
                let sentence = TypedTimerTests.outcome(line)
                for command in Self.commands(in: sentence) where !command.contains("COMMAND") && command != "-h" {
                    proposals += 1
                    let outcome = TypedTimerTests.outcome(command)
                    #expect(!outcome.contains("`") && !outcome.contains("invalid"), "\(line): \(command): \(outcome)")
                    #expect(
                        outcome != "wrong arguments" && !outcome.hasPrefix("missing"),
                        "\(line): \(command): \(outcome)"
                    )
                }
            }
        }
        #expect(proposals > 200)
    }
}
