import Testing

@testable import System
@testable import Text

@Suite("Clocks and durations")
struct ClocksTests {
    @Test("a deadline that has passed is not waited for")
    func passed() {
        #expect(MonotonicDeadline.passed.pollTimeout == 0)
        #expect(MonotonicDeadline.after(microseconds: 0).pollTimeout == 0)
        #expect(MonotonicDeadline.after(microseconds: -1).hasPassed)
        #expect(MonotonicDeadline.after(microseconds: .min).pollTimeout == 0)
    }

    @Test("a deadline that is farther than poll(2) can wait has the longest timeout")
    func far() {
        #expect(MonotonicDeadline(monotonicUSec: .max).pollTimeout == .max)
        #expect(MonotonicDeadline.after(microseconds: .max) == MonotonicDeadline(monotonicUSec: .max))
    }

    @Test("timeouts are rounded up to milliseconds")
    func roundedUp() {
        #expect(MonotonicDeadline.after(microseconds: 3_600_000_000).pollTimeout > 3_500_000)
        #expect([1, 1_000, 1_001].map { MonotonicDeadline.milliseconds(of: $0) } == [1, 1, 2])
    }

    @Test("the local time has a date and a time to the minute")
    func localMinute() {
        #expect(WallClock.localMinute(WallClock.now).wholeMatch(of: /\d{4}-\d\d-\d\d \d\d:\d\d/) != nil)
    }

    @Test(
        "a duration is written in its two largest units",
        arguments: [
            (-1, "0 s"), (0, "0 s"), (999, "0 s"), (1_000, "1 ms"), (999_999, "999 ms"), (59_999_999, "59 s"),
            (60_000_000, "1 min"), (119_000_000, "1 min 59 s"), (3_600_000_000, "1 h"), (7_380_000_000, "2 h 3 min"),
            (86_400_000_000, "1 d"), (86_460_000_000, "1 d"), (90_000_000_000, "1 d 1 h"),
            (691_199_000_000, "7 d 23 h"),
        ] as [(Int64, String)]
    )
    func durations(microseconds: Int64, text: String) {
        #expect(ApproximateDuration.text(microseconds) == text)
    }
}
