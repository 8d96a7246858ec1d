import Foundation
import Testing

@testable import countdownctl

@Suite("Time zones")
struct ZoneTests {
    /// Central European Time by its rule, so that no zone files are needed.
    private static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    @Test("zones follow their rules, in a process of its own")
    func followsRules() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TZ", ZoneTests.berlin, 1)
            let zone = LocalZone()
            let summer = CivilTime(year: 2026, month: 7, day: 1, hour: 12)
            let winter = CivilTime(year: 2026, month: 1, day: 1, hour: 12)
            #expect(zone.instants(of: summer) == .once(summer.secondsAtUTC - 7_200))
            #expect(zone.instants(of: winter) == .once(winter.secondsAtUTC - 3_600))
            #expect(zone.civilTime(at: winter.secondsAtUTC - 3_600) == winter)
        }
    }

    @Test("a time that is skipped follows the rule before, and a time that comes twice is found twice")
    func findsTransitions() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("TZ", ZoneTests.berlin, 1)
            let zone = LocalZone()
            let skipped = CivilTime(year: 2026, month: 3, day: 29, hour: 2, minute: 30)
            #expect(zone.instants(of: skipped) == .never(instead: skipped.secondsAtUTC - 3_600))
            let twice = CivilTime(year: 2026, month: 10, day: 25, hour: 2, minute: 30)
            #expect(zone.instants(of: twice) == .twice(twice.secondsAtUTC - 7_200, twice.secondsAtUTC - 3_600))
        }
    }

    @Test("days are counted as calendars count them")
    func countsDays() {
        for seconds in stride(from: Int64(0), through: 8_000_000_000, by: 12_345_678) {
            #expect(CivilTime(secondsAtUTC: seconds).secondsAtUTC == seconds)
        }
        #expect(CivilTime(year: 2000, month: 2, day: 29).exists)
        #expect(!CivilTime(year: 2100, month: 2, day: 29).exists)
        #expect(CivilTime(year: 1969, month: 12, day: 31).daysSince1970 == -1)
    }

    @Test("instants that are not today are shown with the day")
    func showsDays() {
        let noon: Int64 = 1_772_366_400
        let clock = ClockText(zone: TestZone.utc, now: noon * 1_000_000)
        #expect(clock.render((noon + 5) * 1_000_000 + 999_999) == "12:00:05")
        #expect(clock.render((noon + 86_400) * 1_000_000) == "tomorrow 12:00:00")
        #expect(clock.render((noon - 43_201) * 1_000_000) == "yesterday 23:59:59")
        #expect(clock.render((noon + 2 * 86_400) * 1_000_000) == "2026-03-03 12:00:00")
        #expect(ClockText(zone: TestZone.utc, now: 0).render(0) == "00:00:00")
    }
}
