import CountdownCore
import Testing

@testable import countdownd

@Suite("The soonest of a list")
struct SoonestTests {
    private let now = Now(boot: BootInstant(microseconds: 1_000_000), offset: .seconds(1_000))

    private func elapsed(_ seconds: Int64) -> Phase { .running(until: .elapsed(now.boot + .seconds(seconds))) }
    private func wall(_ seconds: Int64) -> Phase { .running(until: .wall(now.wall + .seconds(seconds))) }

    /// The soonest of candidates, visited in this order, by name, if some of them are stale at the end.
    private func soonest(
        _ count: Int,
        capacity: Int = 1_000,
        of phases: [(String, Phase)],
        stale: Set<String> = []
    ) throws -> [String]? {
        // The slots of a timetable.
        var timetable = Timetable(limits: Limits(), revision: Revision(0))
        var candidates = SoonestCandidates(count: count, capacity: capacity, at: now)
        var names: [Slot: String] = [:]
        for (index, (name, phase)) in phases.enumerated() {
            let countdown = KeyedCountdown(
                key: try Key("\(index)"),
                phase: phase,
                clock: .elapsed,
                duration: .seconds(1),
                started: now.wall,
                revision: Revision(Int64(index) + 1)
            )
            timetable.restore(countdown)
            _ = timetable.flush()
            let found = timetable.slot(under: countdown.key)
            let slot = try #require(found)
            names[slot] = name
            candidates.append(SoonestCandidates.Candidate(countdown, at: slot, now)) { _ in true }
        }
        return candidates.soonest { !stale.contains(names[$0.slot] ?? "") }?.map { names[$0] ?? "" }
    }

    @Test("running countdowns come by remaining time, on either clock, then paused ones")
    func order() throws {
        let phases = [
            ("p2", .paused(remaining: .seconds(2))), ("c", wall(30)), ("a", elapsed(10)),
            ("p1", .paused(remaining: .seconds(1))),
            ("b", wall(20)), ("d", elapsed(40)),
        ]
        #expect(try soonest(9, of: phases) == ["a", "b", "c", "d", "p1", "p2"])
    }

    @Test("the answer is right whatever the capacity is, as long as nothing changes")
    func few() throws {
        let phases = (0..<100).map { ("\($0)", elapsed(Int64($0 * 37 % 100))) }
        let expected = phases.indices.sorted { $0 * 37 % 100 < $1 * 37 % 100 }.map { "\($0)" }
        for count in [0, 1, 2, 7, 99, 100, 200] {
            #expect(try soonest(count, capacity: count + 1, of: phases) == Array(expected.prefix(count)))
        }
    }

    @Test("a candidate that has changed or ended is left out")
    func changed() throws {
        let phases = (0..<6).map { ("\($0)", elapsed(Int64($0))) }
        #expect(try soonest(2, of: phases, stale: ["0", "2"]) == ["1", "3"])
    }

    @Test("nothing is said if a candidate that was dropped may belong to the answer")
    func dropped() throws {
        let phases = (0..<20).map { ("\($0)", elapsed(Int64($0))) }
        #expect(try soonest(2, capacity: 4, of: phases) == ["0", "1"])
        // Only the end shows that the soonest have changed, so the soonest of the dropped ones may follow.
        #expect(try soonest(2, capacity: 4, of: phases, stale: ["0", "1"]) == ["2", "3"])
        #expect(try soonest(2, capacity: 4, of: phases, stale: ["0", "1", "2"]) == nil)
        #expect(try soonest(2, capacity: 4, of: phases, stale: ["0", "1", "2", "3"]) == nil)
        #expect(try soonest(2, capacity: 20, of: phases, stale: ["0", "1", "2", "3"]) == ["4", "5"])
    }

    @Test("countdowns that end at the same instant are in the order of their last change")
    func sameInstant() throws {
        #expect(try soonest(3, of: [("c", elapsed(5)), ("a", wall(5)), ("b", elapsed(5))]) == ["c", "a", "b"])
    }
}
