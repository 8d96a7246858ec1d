import CountdownCore
import Testing

@testable import countdownd

@Suite("The soonest of a list")
struct CandidateTests {
    private let now = Now(boot: BootInstant(microseconds: 1_000_000), offset: .seconds(1_000))

    private func countdown(_ key: String, _ phase: Phase, revision: Int64) throws -> CountdownCore.Countdown {
        CountdownCore.Countdown(
            key: try Key(key),
            phase: phase,
            clock: .elapsed,
            length: .seconds(1),
            started: now.wall,
            revision: Revision(revision)
        )
    }

    private func elapsed(_ seconds: Int64) -> Phase { .running(until: .elapsed(now.boot + .seconds(seconds))) }
    private func wall(_ seconds: Int64) -> Phase { .running(until: .wall(now.wall + .seconds(seconds))) }

    private func soonest(_ count: Int, of phases: [(String, Phase)]) throws -> [String] {
        let question = ListQuestion(selection: .everything, states: .live, soonest: count)
        var listing = Listing(question: question, takesPages: true)
        for (index, (key, phase)) in phases.enumerated() {
            listing.consider(try countdown(key, phase, revision: Int64(index)), among: count, at: now)
        }
        return listing.soonest(count).map(\.text)
    }

    @Test("running ones come by what remains of them, on whichever clock, then paused ones by the same")
    func order() throws {
        let phases = [
            ("p2", .paused(remaining: .seconds(2))), ("c", wall(30)), ("a", elapsed(10)),
            ("p1", .paused(remaining: .seconds(1))),
            ("b", wall(20)), ("d", elapsed(40)),
        ]
        #expect(try soonest(9, of: phases) == ["a", "b", "c", "d", "p1", "p2"])
    }

    @Test("no more are kept than were asked for, however many are considered, in whatever order")
    func few() throws {
        let phases = (0..<100).map { ("\($0)", elapsed(Int64($0 * 37 % 100))) }
        let expected = phases.indices.sorted { $0 * 37 % 100 < $1 * 37 % 100 }.map { "\($0)" }
        for count in [0, 1, 2, 7, 99, 100, 200] {
            #expect(try soonest(count, of: phases) == Array(expected.prefix(count)))
        }
    }

    @Test("one that has changed since it was met counts as it was met last")
    func changed() throws {
        #expect(try soonest(2, of: [("a", elapsed(1)), ("b", elapsed(2)), ("a", elapsed(3))]) == ["b", "a"])
    }

    @Test("among those that end at the same instant the order is that of their last change")
    func sameInstant() throws {
        #expect(try soonest(3, of: [("c", elapsed(5)), ("a", wall(5)), ("b", elapsed(5))]) == ["c", "a", "b"])
    }
}
