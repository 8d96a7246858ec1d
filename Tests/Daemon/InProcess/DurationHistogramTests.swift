import CountdownCore
import TestSupport
import Testing

@testable import countdownd

@Suite("The histogram of durations")
struct DurationHistogramTests {
    private func histogram(_ microseconds: [Int64]) -> DurationHistogram {
        var histogram = DurationHistogram()
        for duration in microseconds { histogram.add(Duration(microseconds: duration)) }
        return histogram
    }

    @Test("without a duration, everything is 0")
    func empty() {
        let histogram = histogram([])
        #expect((histogram.count, histogram.sum, histogram.greatest) == (0, .zero, .zero))
        #expect(histogram.quantile(50) == .zero)
        #expect(histogram.quantile(99) == .zero)
    }

    @Test("below 16 us, quantiles are exact; a negative duration counts as 0")
    func small() {
        let histogram = histogram([-5, 1, 2, 3, 4, 5, 6, 7, 8, 15])
        #expect((histogram.count, histogram.sum.microseconds, histogram.greatest.microseconds) == (10, 51, 15))
        #expect(histogram.quantile(10) == .zero)
        #expect(histogram.quantile(50).microseconds == 4)
        #expect(histogram.quantile(51).microseconds == 5)
        #expect(histogram.quantile(100).microseconds == 15)
    }

    @Test("the counts up to the bounds are exact, and include those up to smaller bounds")
    func bounds() {
        let durations = DurationHistogram.bounds.flatMap { [$0, $0 + 1] }
        let counted = histogram(durations + [-1]).counted
        #expect(counted.map(\.bound) == [100, 1_000, 10_000, 100_000, 500_000, 2_500_000])
        #expect(counted.map(\.count) == [2, 4, 6, 8, 10, 12])
    }

    @Test("a quantile is never too small, and at most a sixteenth too great, from a microsecond to a century")
    func error() {
        var generator = SeededGenerator(seed: 3)
        for bits in 1...53 {
            let durations = (0..<200).map { _ in Int64.random(in: 0..<(1 << Int64(bits)), using: &generator) }.sorted()
            let histogram = histogram(durations)
            for percent in [1, 50, 99] {
                let exact = durations[(200 * percent + 99) / 100 - 1]
                let found = histogram.quantile(percent).microseconds
                #expect((exact...exact + exact / 16).contains(found), "\(percent)% of \(bits) bits: \(exact), \(found)")
            }
            #expect(histogram.quantile(100).microseconds == durations[199])
        }
    }

    @Test("the longest duration that can be added is the greatest")
    func longest() {
        let histogram = histogram([1 << 53, .max])
        #expect(histogram.greatest.microseconds == .max)
        #expect(histogram.count == 2)
        #expect(histogram.quantile(50).microseconds >= 1 << 53)
    }
}
