import CountdownCore
import Foundation
import Testing

@testable import countdownd

@Suite("The status line for systemd")
struct StatusLineTests {
    /// Noon of some day, local time.
    private let now: Now

    init() throws {
        let noon = try #require(Calendar.current.date(from: DateComponents(year: 2026, month: 1, day: 31, hour: 12)))
        now = Now(boot: BootInstant(microseconds: 0), offset: .seconds(Int64(noon.timeIntervalSince1970)))
    }

    private func status(
        _ running: Int,
        next span: Duration? = nil,
        trouble: String? = nil,
        loss: EngineWatch.Loss? = nil
    ) -> String {
        let next = span.map { now.wall + $0 }
        return ServiceStatusReporter.text(
            ServiceStatusReporter.StatusLine(running: running, next: next, trouble: trouble, loss: loss),
            at: now
        )
    }

    @Test("counts the running countdowns")
    func count() {
        #expect(status(0) == "0 running")
        #expect(status(3) == "3 running")
    }

    @Test("names the local time of the next end, to the minute")
    func next() {
        #expect(status(1, next: .zero) == "1 running, next 12:00")
        #expect(status(3, next: .seconds(5 * 3_600 + 30 * 60 + 59)) == "3 running, next 17:30")
        #expect(status(3, next: .seconds(12 * 3_600 - 1)) == "3 running, next 23:59")
    }

    @Test("names the date, too, if it is not today's")
    func date() {
        #expect(status(1, next: .seconds(12 * 3_600)) == "1 running, next 2026-02-01 00:00")
        #expect(status(1, next: .seconds(-13 * 3_600)) == "1 running, next 2026-01-30 23:00")
        #expect(status(1, next: .seconds(365 * 86_400)) == "1 running, next 2027-01-31 12:00")
    }

    @Test("says that changes cannot be stored, and why")
    func trouble() {
        #expect(
            status(2, next: .zero, trouble: "disk full") == "2 running, next 12:00; changes cannot be stored: disk full"
        )
    }

    @Test("that the first countdown runs or none is left is reported in time, and other numbers in a later turn")
    func urgency() {
        func line(_ running: Int) -> ServiceStatusReporter.StatusLine {
            ServiceStatusReporter.StatusLine(running: running, next: nil, trouble: nil)
        }
        #expect(line(1).isUrgent(after: line(0)) && line(0).isUrgent(after: line(2)))
        #expect(!line(2).isUrgent(after: line(1)) && !line(0).isUrgent(after: line(0)))
    }

    @Test("says that the engine of a fleet is lost, since when, and why, in one line")
    func loss() {
        let loss = EngineWatch.Loss(since: now.wall + .seconds(-61), reason: "no route\nX=1")
        #expect(status(2, loss: loss) == "2 running; the fleet's engine is lost since 11:58: no route\\nX=1")
    }
}
