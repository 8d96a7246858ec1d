import System
import TestSupport
import Testing

@Suite("The rate-limited log")
struct RateLimitedLogTests {
    private enum Topic: CaseIterable {
        case slow
        case overQuota
    }

    private let lines = Lines()
    private var rateLimitedLog = RateLimitedLog<Topic>(lines: 2, spanUSec: 60_000_000)

    private func at(_ seconds: Int64) -> Int64 { seconds * 1_000_000 }

    private mutating func write(_ kind: Topic, _ numbers: ClosedRange<Int>, at seconds: Int64) {
        for number in numbers {
            rateLimitedLog.write(kind, .warning, "\(kind) \(number)", to: lines.log, at: at(seconds))
        }
    }

    @Test("writes a number of lines, and a summary of the others at the end of the interval")
    mutating func sum() {
        write(.slow, 1...315, at: 0)
        #expect(lines.all == ["warning: slow 1", "warning: slow 2"])
        #expect(rateLimitedLog.next == at(60))
        rateLimitedLog.summarize(to: lines.log, at: at(59))
        #expect(lines.all.count == 2)
        rateLimitedLog.summarize(to: lines.log, at: at(60))
        #expect(lines.all.dropFirst(2) == ["warning: slow 315, and 312 more like it"])
        #expect(rateLimitedLog.next == nil)
        write(.slow, 316...316, at: 61)
        #expect(lines.all.last == "warning: slow 316")
    }

    @Test("counts each kind of line for itself")
    mutating func kinds() {
        write(.slow, 1...100, at: 0)
        write(.overQuota, 1...1, at: 1)
        #expect(lines.all.last == "warning: overQuota 1")
    }

    @Test("needs no wake-up if no line was suppressed")
    mutating func quiet() {
        write(.slow, 1...2, at: 0)
        #expect(rateLimitedLog.next == nil)
        write(.slow, 3...3, at: 1)
        rateLimitedLog.summarize(to: lines.log, at: at(60))
        #expect(lines.all.last == "warning: slow 3")
    }

    @Test("does not count lines whose level is not logged")
    mutating func level() {
        let lines = lines
        let log = Log(level: .info) { level, message, _ in lines.log.write(level, message) }
        for _ in 1...5 { rateLimitedLog.write(.slow, .debug, "broken", to: log, at: at(0)) }
        #expect(lines.all == [] && rateLimitedLog.next == nil)
    }
}
