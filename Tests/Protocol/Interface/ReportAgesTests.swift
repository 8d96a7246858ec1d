import IPC
import Testing
import Varlink

@Suite("How long ago an end came")
struct ReportAgesTests {
    private func end(at ended: Int64?, late: Int64? = nil) -> Event {
        let countdown = Countdown(
            key: "tea",
            state: .finished,
            clock: .elapsed,
            durationUSec: 1,
            remainingUSec: 0,
            startedUSec: 0,
            endedUSec: ended,
            revision: 1
        )
        return Event(type: .finished, revision: 1, key: "tea", lateUSec: late, countdown: countdown)
    }

    @Test("an end that is reported while the watch is up to date has just come, whatever the system clock says")
    func live() {
        var ages = ReportAges()
        ages.receive(Event(type: .synced, revision: 1), boot: 100)
        for wall: Int64 in [.min, 0, 50, .max] { #expect(ages.age(of: end(at: 50), wall: wall, boot: 900) == 0) }
    }

    @Test("an end that is reported later came after the watch was up to date last, on the boot clock")
    func afterLoss() {
        var ages = ReportAges()
        ages.receive(Event(type: .synced, revision: 1), boot: 100)
        ages.receive(Event(type: .heartbeat, revision: 1), boot: 150)
        ages.watchWasLost()
        ages.receive(Event(type: .attached), boot: 300)
        for (wall, age): (Int64, Int64) in [(40, 0), (50, 0), (60, 10), (200, 150), (201, 150), (.max, 150)] {
            #expect(ages.age(of: end(at: 50), wall: wall, boot: 300) == age, "\(wall)")
        }
        #expect(ages.age(of: end(at: 50, late: 30), wall: 90, boot: 300) == 10)
        #expect(ages.age(of: end(at: .max, late: .max), wall: .min, boot: 300) == 150)
    }

    @Test("of an end from before the program, nothing is known but its instant")
    func fresh() {
        let ages = ReportAges()
        #expect(ages.age(of: end(at: 50), wall: 1_000, boot: 5) == 950)
        #expect(ages.age(of: end(at: 50), wall: 0, boot: 5) == 0)
    }
}
