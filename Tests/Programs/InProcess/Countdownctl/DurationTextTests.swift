import TestSupport
import Testing
import Text

@testable import countdownctl

@Suite("Durations on the command line")
struct DurationTextTests {
    @Test(
        "valid durations are parsed",
        arguments: [
            ("90", 90_000_000), ("90s", 90_000_000), ("1h30m", 5_400_000_000), ("1:30", 90_000_000),
            ("1:02:03", 3_723_000_000), ("1.5h", 5_400_000_000), ("250ms", 250_000), ("0", 0), ("1us", 1),
            ("3\u{B5}s", 3), ("3\u{3BC}s", 3), ("1h 30m", 5_400_000_000), (" 5 min ", 300_000_000), (".5s", 500_000),
            ("90:00", 5_400_000_000), ("100:00:00", 360_000_000_000), ("1w2d", 777_600_000_000), ("2.5", 2_500_000),
            ("0.0000019s", 1), ("007", 7_000_000), ("2 hours", 7_200_000_000),
            ("1.000000000000000000000001s", 1_000_000), ("1,5h", 5_400_000_000), ("0,250s", 250_000),
            ("1 hour, 30 minutes and 5 secs", 5_405_000_000), ("5 mins", 300_000_000), ("2hrs", 7_200_000_000),
            ("1½ h", 5_400_000_000), ("1 ½ h", 5_400_000_000), ("½ h", 1_800_000_000), ("2¼h", 8_100_000_000),
            ("1d 2:30:00", 95_400_000_000), ("1w 0:00:01", 604_801_000_000), ("5 min.", 300_000_000),
            ("3Hours", 10_800_000_000), ("half an hour", 1_800_000_000), ("an hour and a half", 5_400_000_000),
            ("one and a half hours", 5_400_000_000), ("twenty-five minutes", 1_500_000_000),
            ("forty five minutes", 2_700_000_000), ("quarter of an hour", 900_000_000),
            ("2 Std. 5 Min.", 7_500_000_000),
            ("eine halbe Stunde", 1_800_000_000), ("anderthalb Stunden", 5_400_000_000), ("zehn Minuten", 600_000_000),
            ("1 Stunde und 5 Minuten", 3_900_000_000), ("5分钟", 300_000_000), ("1小时30分钟", 5_400_000_000),
            ("半小时", 1_800_000_000), ("半个小时", 1_800_000_000), ("一个半小时", 5_400_000_000), ("2个半小时", 9_000_000_000),
            ("一小时半", 5_400_000_000), ("四十五分", 2_700_000_000), ("十五秒钟", 15_000_000), ("2天3小时", 183_600_000_000),
            ("5分钟后", 300_000_000), ("1,25", 1_250_000), ("1h and 30m", 5_400_000_000),
            ("3155760000", 3_155_760_000_000_000),
        ] as [(String, Int64)]
    )
    func reads(_ text: String, _ microseconds: Int64) throws {
        #expect(try DurationParser.parse(text) == microseconds)
    }

    @Test(
        "invalid durations are refused with the reason",
        arguments: [
            ("", .empty), ("  ", .empty), ("tea", .notADuration("tea")), ("-5m", .signed("-5m")),
            ("+5m", .signed("+5m")), ("1h30", .missingUnit("1h30", previous: .hour)),
            ("2m 30", .missingUnit("2m 30", previous: .minute)), ("5M", .calendarUnit("5M", unit: "M")),
            ("1month", .calendarUnit("1month", unit: "month")), ("1y", .calendarUnit("1y", unit: "y")),
            ("5H", .unknownUnit("5H", unit: "H")), ("5x", .unknownUnit("5x", unit: "x")),
            ("1:75", .clockField("1:75")), ("1:5", .clockField("1:5")), ("1:02:03:04", .clockField("1:02:03:04")),
            ("1:30s", .clockField("1:30s")), ("5m and", .notADuration("5m and")), ("and 5m", .notADuration("and 5m")),
            (":30", .notADuration(":30")), ("5m,", .notADuration("5m,")),
            ("1,5,5h", .notADuration("1,5,5h")), ("1,500s", .groupedDigits("1,500s", readings: ["1500s", "1.5s"])),
            ("1.000s", .groupedDigits("1.000s", readings: ["1000s", "1s"])),
            ("2.125h", .groupedDigits("2.125h", readings: ["2125h", "2.1250h"])),
            ("30m1h", .unordered("30m1h", sum: 5_400_000_000)), ("5m5m", .unordered("5m5m", sum: 600_000_000)),
            ("1 30", .notADuration("1 30")),
            ("5.m", .notADuration("5.m")),
            ("3155760001", .tooLong("3155760001")), ("99999999999999999999", .tooLong("99999999999999999999")),
            ("999999999999999999:00", .tooLong("999999999999999999:00")), ("0x5", .unknownUnit("0x5", unit: "x")),
            ("\u{663}m", .notADuration("\u{663}m")),
        ] as [(String, DurationError)]
    )
    func refuses(_ text: String, _ reason: DurationError) {
        #expect(throws: reason) { try DurationParser.parse(text) }
    }

    @Test(
        "an error names what is expected",
        arguments: [
            ("1h30", "invalid duration '1h30': missing unit; did you mean '1h30m' or '1h30s'?"),
            ("1m30", "invalid duration '1m30': missing unit; did you mean '1m30s'?"),
            (
                "5M",
                "invalid duration '5M': months and years differ in length; M means months, and m minutes; did you mean '5m'?"
            ),
            ("5H", "invalid duration '5H': units are lower case; did you mean '5h'?"),
            ("1H30M", "invalid duration '1H30M': units are lower case; did you mean '1h30m'?"),
            ("1.000s", "invalid duration '1.000s': three digits may be thousands; did you mean '1000s' or '1s'?"),
            ("5m5m", "invalid duration '5m5m': each unit must be smaller than the one before; did you mean '10m'?"),
        ]
    )
    func explains(_ text: String, _ sentence: String) {
        let error = #expect(throws: DurationError.self) { try DurationParser.parse(text) }
        #expect(error?.description == sentence)
    }

    @Test(
        "a key that looks like a duration is recognized",
        arguments: [
            ("5m", true), ("90", true), ("1:30", true), ("1h30", true), ("5M", true), ("tea", false), ("2fa", false),
            ("login/+8613800138000", false), ("13800138000", false), ("", false), ("1:75", false),
        ]
    )
    func tellsKeysFromLengths(_ text: String, _ isMeant: Bool) {
        #expect(DurationParser.isMeant(by: text) == isMeant)
    }

    @Test("a printed duration is parsed as the same duration")
    func isReadAsItIsShown() throws {
        var generator = SeededGenerator(seed: 7)
        for exponent in 0..<52 {
            for _ in 0..<40 {
                let length = min(Int64(generator.next() >> (63 - UInt64(exponent))), DurationParser.longest)
                #expect(try DurationParser.parse(DurationFormat.render(length)) == length)
            }
        }
    }

    @Test(
        "a length is shown in its largest units",
        arguments: [
            (0, "0s"), (1, "1us"), (250_000, "250ms"), (1_500, "1.5ms"), (1_234, "1234us"), (59_125_000, "59125ms"),
            (90_000_000, "1m30s"), (300_000_000, "5m"),
            (90_500_000, "1m30.5s"), (5_400_000_000, "1h30m"), (86_400_000_001, "1d0.000001s"), (-5, "0s"),
        ] as [(Int64, String)]
    )
    func shows(_ microseconds: Int64, _ text: String) {
        #expect(DurationFormat.render(microseconds) == text)
    }

    @Test(
        "for people a length is rounded to digits that tell them something",
        arguments: [
            (0, "0s"), (310, "310us"), (12_345, "12.35ms"), (10_003_000, "10s"), (1_250_000, "1.25s"),
            (59_999_000, "1m"), (90_500_000, "1m31s"), (86_400_000_001, "1d"), (-5, "0s"),
        ] as [(Int64, String)]
    )
    func rounds(_ microseconds: Int64, _ text: String) {
        #expect(DurationFormat.rounded(microseconds) == text)
    }
}
