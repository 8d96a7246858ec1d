import FakeBackend
import FleetWire
import IPC
import ModelEngine
import TestSupport
import Testing
import Varlink

@Suite("Daemons of a fleet", .serialized)
struct SharedChangeTests {
    @Test("of three daemons that start a key at once, one starts it, and the others attach or are refused")
    func singleWinner() throws {
        let fleet = try Fleet()
        let callers = try (0..<3).map(fleet.caller)
        for number in 0..<50 {
            let ifRunning: IfRunning = number.isMultiple(of: 2) ? .fail : .attach
            for caller in callers { try caller.send(Start(key: "key/\(number)", ifRunning: ifRunning)) }
            var outcomes: [Countdown.Outcome?] = []
            for caller in callers {
                do {
                    outcomes.append(try caller.answer(to: Start.self).value.outcome)
                } catch CountdownError.alreadyRunning {
                    outcomes.append(nil)
                }
            }
            #expect(outcomes.count { $0 == .started } == 1)
            #expect(outcomes.count { $0 == (ifRunning == .fail ? nil : .attached) } == 2)
        }
        #expect(try fleet.awaitEqual().count == 50)
        #expect(fleet.backend.engine.log.count == 50)
    }

    @Test("StartAll of one cooldown is one limit for all daemons; of several it is refused, and nothing changes")
    func startAll() throws {
        let fleet = try Fleet()
        let callers = try (0..<3).map(fleet.caller)
        let rate = Cooldown("api", for: .seconds(60), upTo: .seconds(300))
        var accepted = 0
        for number in 0..<9 {
            let reply = try callers[number % 3].call(StartAll(cooldowns: [rate]))
            let room = try #require(reply.rooms.first)
            #expect(room.left == Int64(max(0, 4 - number)))
            #expect(room.countdown?.key == "api" && room.moreUSec != nil)
            #expect((reply.retryAfterUSec == nil) == reply.accepted)
            if reply.accepted { accepted += 1 }
        }
        #expect(accepted == 5)
        #expect(throws: CountdownError.limitReached(limit: "cooldownsInFleet", maximum: 1)) {
            try callers[0].call(StartAll(cooldowns: [rate, Cooldown("other")]))
        }
        #expect(throws: ServiceError.invalidParameter("upToUSec")) {
            try callers[0].call(StartAll(cooldowns: [Cooldown("api", upTo: .microseconds(1))]))
        }
        #expect(try fleet.awaitEqual().count == 1)
        let version = fleet.backend.engine.version
        let dry = try callers[1].call(StartAll(cooldowns: [Cooldown("new")], dryRun: true))
        #expect(dry == StartAll.Reply(accepted: true, rooms: [Cooldown.Room(key: "new", left: 1)]))
        #expect(fleet.backend.engine.version == version)
    }

    @Test("the later deadline wins over all daemons, and each daemon bounds its own queue")
    func later() throws {
        let fleet = try Fleet()
        let callers = try (0..<3).map(fleet.caller)
        for (caller, seconds) in zip(callers, [5, 60, 30] as [Int64]) {
            _ = try caller.call(Start(key: "api", durationUSec: .seconds(seconds), ifRunning: .later))
        }
        _ = try fleet.awaitEqual()
        let bounded = Start(key: "api", durationUSec: .seconds(90), ifRunning: .later, maxDurationUSec: .seconds(90))
        let extended = try callers[0].call(bounded)
        #expect(extended.outcome == .extended && extended.countdown.durationUSec == .seconds(90))
        #expect(extended.countdown.remainingUSec > .seconds(60))
        let waiting = Start(key: "api", ifRunning: .wait, queueUpTo: 1)
        for caller in callers { try caller.send(waiting) }
        for number in 0..<3 {
            let other = try fleet.caller(number)
            try waitUntil("a call queues") { try other.call(GetStatus()).queuedStarts == 1 }
            #expect(throws: CountdownError.self) { try other.call(waiting) }
        }
    }

    @Test("3,000 extensions by three daemons add up, even if replies are lost")
    func extends() throws {
        let fleet = try Fleet()
        let callers = try (0..<3).map(fleet.caller)
        for key in 0..<10 { _ = try callers[0].call(Start(key: "key/\(key)", durationUSec: .seconds(600))) }
        // A call has 2 s to be made, so they do not all wait at once.
        for _ in 0..<10 {
            fleet.backend.setFaults { $0.lostReplies += 1 }
            for number in 0..<100 {
                let start = Start(key: "key/\(number % 10)", durationUSec: .milliseconds(10), ifRunning: .extend)
                for caller in callers { try caller.send(start) }
            }
            for caller in callers {
                for _ in 0..<100 { #expect(try caller.answer(to: Start.self).value.outcome == .extended) }
            }
        }
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns.map(\.durationUSec) == Array(repeating: .seconds(600) + 300 * .milliseconds(10), count: 10))
        #expect(fleet.backend.engine.version - (fleet.backend.engine.log.first?.version ?? 0) == 3_009)
    }

    @Test("clients are answered while a daemon takes in 20,000 changes that have come at once")
    func answersMeanwhile() throws {
        let fleet = try Fleet(1)
        let caller = try fleet.caller()
        let key = "first"
        _ = try caller.call(Start(key: key, durationUSec: .seconds(600)))
        let model = try #require(fleet.backend.engine.log.last)
        let entries = (Int64(1)...20_000).map { number in
            Follow.Entry(
                key: "key/\(number)",
                version: model.version + number,
                id: "0123456789abcdef0123456789abcdef.\(number)",
                record: model.record
            )
        }
        let last = entries[entries.count - 1]
        fleet.backend.deliver(
            Follow.Reply(
                state: .changes,
                entries: entries,
                last: Follow.Position(version: last.version, id: last.id)
            )
        )
        var known: Set<Int> = []
        try waitUntil("all changes are known") {
            let count = try caller.call(GetStatus()).running
            known.insert(Int(count))
            return count == 20_001
        }
        #expect(known.count > 2)
    }

    @Test("each change and each end is announced by every daemon, once")
    func events() throws {
        let fleet = try Fleet()
        let followers = try fleet.followers()
        let caller = try fleet.caller(0)
        let other = try fleet.caller(1)
        _ = try caller.call(Start(key: "tea", durationUSec: .seconds(60), label: "Tea", metadata: ["a": "b"]))
        _ = try other.repeated(Pause(key: "tea"))
        _ = try caller.repeated(Resume(key: "tea"))
        _ = try other.call(Adjust(key: "tea", byUSec: .seconds(1)))
        _ = try caller.call(Finish(key: "tea"))
        _ = try other.call(Start(key: "tea", durationUSec: .milliseconds(200)))
        for follower in followers {
            let events = try follower.events(through: .finished) + follower.events(through: .finished)
            #expect(
                events.map(\.type) == [
                    .started, .paused, .resumed, .adjusted, .finished, .started, .finished,
                ]
            )
            #expect(events[0].countdown?.label == "Tea")
            #expect(events[0].countdown?.metadata == ["a": "b"])
            #expect(events[4].countdown?.durationUSec == .seconds(61))
        }
        let deadlines = try (0..<3).map { try fleet.caller($0).call(Get(key: "tea")).countdown.endedUSec }
        #expect(deadlines.allSatisfy { abs(($0 ?? 0) - (deadlines[0] ?? 0)) <= .milliseconds(1) })
    }

    @Test("all daemons follow the engine's clock, also if it jumps")
    func clock() throws {
        let fleet = try Fleet(2)
        let followers = try fleet.followers()
        _ = try fleet.caller().call(Start(key: "tea", durationUSec: .seconds(3_600)))
        fleet.backend.setClock(ahead: .seconds(3_601))
        for follower in followers { try follower.events(through: .finished, of: "tea") }
        _ = try fleet.caller(1).call(Start(key: "tea", durationUSec: .seconds(3_600)))
        for follower in followers { try follower.events(through: .started, of: "tea") }
        fleet.backend.setClock(ahead: 0)
        #expect(try fleet.caller().repeated(Adjust(key: "tea", byUSec: 1)).countdown.state == .running)
    }

    // MARK: Queues

    @Test("starts that wait on two daemons are all served, and neither daemon starves")
    func queues() throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller()
        let follower = try fleet.followers()[0]
        _ = try caller.call(Start(key: "tea"))
        try follower.events(through: .started)
        var waiting: [Caller] = []
        for number in 0..<20 {
            let client = try fleet.caller(number % 2)
            try client.send(Start(key: "tea", durationUSec: .seconds(600 + Int64(number)), ifRunning: .wait))
            waiting.append(client)
        }
        var served: [Int64] = []
        for _ in 0..<20 {
            _ = try caller.repeated(Finish(key: "tea"))
            let started = try #require(try follower.events(through: .started).last?.countdown)
            served.append(started.durationUSec / .seconds(1) - 600)
        }
        #expect(Set(served.prefix(10).map { $0 % 2 }) == [0, 1])
        #expect(served.sorted() == Array(0..<20))
        for client in waiting { #expect(try client.answer(to: Start.self).value.outcome == .started) }
    }

    @Test("starts that wait on several daemons keep one limit together")
    func queuesWithLimit() throws {
        let call = Start(key: "key", durationUSec: 600_000, ifRunning: .wait, upToUSec: 1_200_000)
        let fleet = try Fleet()
        let callers = try (0..<9).map { try fleet.caller($0 % 3) }
        for caller in callers { try caller.send(call) }
        let replies = try callers.map { try $0.answer(to: Start.self).value }
        #expect(replies.count { $0.outcome == .started } == 1)
        #expect(replies.count { $0.outcome == .extended } == 8)
        let longest = try #require(replies.map(\.countdown).max { $0.durationUSec < $1.durationUSec })
        #expect(longest.durationUSec == 9 * 600_000)
        #expect(replies.allSatisfy { $0.countdown.remainingUSec <= 1_200_000 })
        #expect(Set(replies.map(\.countdown.durationUSec)).count == 9)
        withExtendedLifetime(fleet) {}
    }

    @Test("80 calls on one connection are answered in their order, and each sees the ones before")
    func pipeline() throws {
        let fleet = try Fleet(2)
        let caller = try fleet.caller()
        for number in 0..<16 {
            let key = "key/\(number)"
            try caller.send(Start(key: key, durationUSec: .seconds(3_600)))
            try caller.send(Get(key: key))
            try caller.send(Start(key: key, durationUSec: .seconds(3_600), ifRunning: .extend))
            try caller.send(StartAll(cooldowns: []))
            try caller.send(Cancel(key: key))
        }
        for number in 0..<16 {
            let key = "key/\(number)"
            let start = try caller.answer(to: Start.self).value
            #expect((start.outcome, start.countdown.key) == (.started, key))
            let seen = try caller.answer(to: Get.self).value.countdown
            #expect((seen.key, seen.state) == (key, .running))
            #expect(seen.revision >= start.countdown.revision)
            let extended = try caller.answer(to: Start.self).value
            #expect((extended.outcome, extended.countdown.durationUSec) == (.extended, .seconds(7_200)))
            #expect(try caller.answer(to: StartAll.self).value == StartAll.Reply(accepted: true, rooms: []))
            let cancelled = try caller.answer(to: Cancel.self).value.countdown
            #expect((cancelled.key, cancelled.state) == (key, .cancelled))
        }
        withExtendedLifetime(fleet) {}
    }
}
