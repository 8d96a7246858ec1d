import FakeBackend
import IPC
import ModelEngine
import TestSupport
import Testing

@Suite("Rates of the daemons of a fleet", .serialized)
struct SharedRateTests {
    private let fleet: Fleet

    init() throws { fleet = try Fleet() }

    /// The outcomes of calls of a rate.
    private struct Outcomes {
        var accepted = 0
        var refused = 0
        var failures: [String] = []

        /// Receives the answers to some calls.
        mutating func receive(_ count: Int, from caller: Caller) throws {
            for _ in 0..<count {
                do {
                    _ = try caller.answer(to: Start.self)
                    accepted += 1
                } catch CountdownError.alreadyRunning {
                    refused += 1
                } catch let error as CountdownError {
                    failures.append("\(error)")
                }
            }
        }
    }

    /// Makes calls on many connections to some daemons at once.
    private func call(_ start: Start, times count: Int, on callers: [Caller]) throws -> Outcomes {
        for caller in callers { for _ in 0..<count { try caller.send(start) } }
        var outcomes = Outcomes()
        for caller in callers { try outcomes.receive(count, from: caller) }
        return outcomes
    }

    @Test("a burst is accepted as a whole, even if its tokens come faster than the margin", arguments: [20, 300])
    func burst(size: Int) throws {
        let rate = Start(key: "api", durationUSec: 20_000, ifRunning: .extend, upToUSec: 20_000 * Int64(size))
        let callers = try (0..<5).map { _ in try fleet.caller() }
        let outcomes = try call(rate, times: size / 5, on: callers)
        #expect(outcomes.accepted == size)
        #expect(outcomes.failures.isEmpty)
        // Each token is made once.
        #expect(fleet.backend.engine.log.count == size)
    }

    @Test("of a flood on all daemons, no more than the limit is accepted, and everything else is refused")
    func flood() throws {
        let rate = Start(key: "api", durationUSec: 20_000, ifRunning: .extend, upToUSec: 200_000)
        let callers = try (0..<6).map { try fleet.caller($0 % 3) }
        let begin = ContinuousClock.now
        let outcomes = try call(rate, times: 200, on: callers)
        let most = 10 + Int((ContinuousClock.now - begin) / .milliseconds(20)) + 1
        #expect((10...most).contains(outcomes.accepted))
        #expect(outcomes.refused == 1_200 - outcomes.accepted)
        #expect(outcomes.failures.isEmpty)
        #expect(fleet.backend.engine.log.count == outcomes.accepted)
    }

    @Test("a token that waits for the margin is accepted, one that does not fit is refused with no place left")
    func waiting() throws {
        let callers = try (0..<2).map { _ in try fleet.caller() }
        let rate = Cooldown("api", for: .milliseconds(20), upTo: .milliseconds(40))
        for caller in callers { for _ in 0..<20 { try caller.send(StartAll(cooldowns: [rate])) } }
        var accepted = 0
        for caller in callers {
            for _ in 0..<20 {
                let reply = try caller.answer(to: StartAll.self).value
                if reply.accepted { accepted += 1 } else { #expect(reply.rooms.first?.left == 0) }
                #expect((reply.retryAfterUSec == nil) == reply.accepted)
            }
        }
        #expect(accepted >= 2)
        #expect(fleet.backend.engine.log.count == accepted)
    }

    @Test("watchers of every daemon get one start and one end of each run of a burst")
    func watched() throws {
        let followers = try fleet.followers()
        let rate = Start(key: "api", durationUSec: 10_000, ifRunning: .extend, upToUSec: 1_000_000)
        let callers = try (0..<2).map { _ in try fleet.caller() }
        #expect(try call(rate, times: 40, on: callers).accepted == 80)
        // A first token that is alone is a run of its own, which ends before the others.
        _ = try fleet.caller().call(Wait(key: "api"))
        _ = try fleet.caller().call(Start(key: "after", durationUSec: .seconds(600)))
        let events = try followers.map { try $0.events(through: .started, of: "after") }
        let runs = events.map { events in
            events.filter { $0.key == "api" && $0.type == .started }.map(\.countdown?.startedUSec)
        }
        for (started, events) in zip(runs, events) {
            let ended = events.filter { $0.key == "api" && $0.type == .finished }.map(\.countdown?.startedUSec)
            #expect(started == ended && Set(started).count == started.count && started.count < 10)
            #expect(started == runs[0])
        }
    }
}
