import Testing

@testable import countdownctl

@Suite("Times on the command line")
struct ClockTimeTextTests {
    /// 2026-03-01 12:00:00 at UTC.
    private static let noon: Int64 = 1_772_366_400

    private func parse(_ text: String, at now: Int64 = noon, in zone: TestZone = .utc) throws -> ClockTime {
        try ClockTimeParser(now: now * 1_000_000, zone: zone).parse(text)
    }

    @Test(
        "valid times are parsed",
        arguments: [
            ("17:30", 5 * 3_600 + 1_800), ("17:30:05", 5 * 3_600 + 1_805), ("today 17:30", 5 * 3_600 + 1_800),
            ("tomorrow 9:00", 21 * 3_600), ("tomorrow 09:00", 21 * 3_600), ("2026-03-01T17:30", 19_800),
            ("2026-03-01 17:30:00", 19_800), ("2026-03-02", 12 * 3_600), ("20260302", 12 * 3_600),
            ("20260301T173000Z", 19_800), ("20260301T1730", 19_800), ("2026-03-01T17:30:00Z", 19_800),
            ("2026-03-01T17:30:00+02:00", 12_600), ("2026-03-01T12:30-0500", 19_800), ("2026-03-01T12:30-05", 19_800),
            ("2026-03-01T24:00", 12 * 3_600), ("@1772366401", 1), ("12:00:01", 1), (" 17:30 ", 19_800),
            ("2026-03-01t17:30z", 19_800),
            ("5:30pm", 19_800), ("5:30 PM", 19_800), ("5pm", 5 * 3_600), ("12:30pm", 1_800),
            ("9am tomorrow", 21 * 3_600), ("9:00 tomorrow", 21 * 3_600), ("tomorrow at 9:00", 21 * 3_600),
            ("Tomorrow 9 am", 21 * 3_600),
        ] as [(String, Int64)]
    )
    func reads(_ text: String, _ seconds: Int64) throws {
        #expect(try parse(text) == ClockTime(instant: (Self.noon + seconds) * 1_000_000))
    }

    @Test("an instant may have fractions of a second")
    func keepsFractions() throws {
        #expect(try parse("@1772366400.000001").instant == Self.noon * 1_000_000 + 1)
        #expect(try parse("2026-03-01T12:00:00.25Z").instant == Self.noon * 1_000_000 + 250_000)
        #expect(try parse("2026-03-01T12:00:00.25").instant == Self.noon * 1_000_000 + 250_000)
    }

    @Test("a time of day that has passed is tomorrow's, with a note")
    func takesTomorrow() throws {
        let found = try parse("9:00")
        #expect(found == ClockTime(instant: (Self.noon + 21 * 3_600) * 1_000_000, notes: [.passedToday]))
        #expect(found.notes[0].sentence(about: "9:00") == "'9:00' has passed today; using tomorrow")
        #expect(try parse("12:00").notes == [.passedToday])
    }

    @Test("tomorrow is found over the end of a year")
    func findsNextYear() throws {
        let newYearsEve: Int64 = 1_767_225_600 - 3_600
        #expect(try parse("tomorrow 0:00", at: newYearsEve).instant == 1_767_225_600_000_000)
    }

    private static func notAnEpoch(_ text: String) -> ClockTimeError {
        .invalid(text, "@ takes the seconds since 1970, as in @1772355600")
    }

    @Test(
        "times that have passed and invalid times are refused with the reason",
        arguments: [
            ("today 9:00", .passed("today 9:00")), ("2026-03-01T11:59:59", .passed("2026-03-01T11:59:59")),
            ("@0", .passed("@0")), ("@1772366400", .passed("@1772366400")), ("25:00", .noSuchTime("25:00")),
            ("12:60", .noSuchTime("12:60")), ("2026-02-29", .noSuchTime("2026-02-29")),
            ("2026-13-01", .noSuchTime("2026-13-01")), ("2026-03-02T24:01", .noSuchTime("2026-03-02T24:01")),
            ("2026-03-02T10:00+25:00", .noSuchTime("2026-03-02T10:00+25:00")), ("5m", .isDuration("5m")),
            ("1730", .isDuration("1730")), ("soon", .notATime("soon")), ("", .notATime("")),
            ("17:3", .notATime("17:3")), ("5", .incomplete("5", reason: "missing minutes", readings: ["5am", "5pm"])),
            ("tomorrow 17", .incomplete("tomorrow 17", reason: "missing minutes", readings: ["tomorrow 17:00"])),
            ("17:30pm", .noSuchTime("17:30pm")), ("0am", .noSuchTime("0am")), ("@", notAnEpoch("@")),
            ("@tea", notAnEpoch("@tea")),
            ("tomorrow", .incomplete("tomorrow", reason: "missing time of day", readings: ["tomorrow 9:00"])),
            ("17:30 x", .notATime("17:30 x")),
            ("2026-03-02T", .notATime("2026-03-02T")), ("2026-03-02T10:00+", .notATime("2026-03-02T10:00+")),
            ("@99999999999", .tooFar("@99999999999")), ("9999-01-01", .tooFar("9999-01-01")),
            ("@9999999999999999999999", notAnEpoch("@9999999999999999999999")),
        ] as [(String, ClockTimeError)]
    )
    func refuses(_ text: String, _ reason: ClockTimeError) {
        #expect(throws: reason) { try parse(text) }
    }

    /// Clocks go from 2:00 to 3:00 on 2026-03-29, 01:00 at UTC.
    private static let spring = TestZone(offsetBefore: 3_600, offsetAfter: 7_200, transition: 1_774_746_000)
    /// Clocks go from 3:00 back to 2:00 on 2026-10-25, 01:00 at UTC.
    private static let autumn = TestZone(offsetBefore: 7_200, offsetAfter: 3_600, transition: 1_792_890_000)

    @Test("a day is as long as its clocks make it")
    func countsOverTransitions() throws {
        let evening = 1_774_746_000 - 4 * 3_600
        #expect(try parse("tomorrow 12:00", at: Int64(evening), in: Self.spring).instant == 1_774_778_400_000_000)
    }

    @Test("a time that the clocks skip is accepted with a note")
    func takesSkippedTime() throws {
        let found = try parse("2026-03-29T02:30", in: Self.spring)
        #expect(found == ClockTime(instant: (1_774_746_000 + 1_800) * 1_000_000, notes: [.skipped]))
    }

    @Test("of a time that comes twice, the first one ahead is taken, with a note")
    func takesFirstOfTwo() throws {
        let found = try parse("2026-10-25T02:30", in: Self.autumn)
        #expect(found == ClockTime(instant: (1_792_890_000 - 1_800) * 1_000_000, notes: [.firstOfTwo]))
        let second = try parse("2:30", at: 1_792_890_000 - 60, in: Self.autumn)
        #expect(second == ClockTime(instant: (1_792_890_000 + 1_800) * 1_000_000, notes: [.secondOfTwo]))
    }
}
