import IPC
import TestSupport
import Testing

@Suite("Countdowns that three hosts share", .serialized)
struct SharingTrials {
    private let fleet: Fleet
    private var generator = SeededGenerator(seed: 1)

    init() throws { fleet = try Fleet() }

    /// Connections to all hosts in turn.
    private func callers(_ count: Int) throws -> [Caller] {
        try (0..<count).map { try Caller(of: fleet.hosts[$0 % fleet.hosts.count].daemon) }
    }

    /// Sends calls over all callers in turn, and returns the answers in the order of the calls.
    private func answers(to calls: [Start], through callers: [Caller]) throws -> [Result<Start.Reply, any Error>] {
        for (index, call) in calls.enumerated() { try callers[index % callers.count].send(call) }
        return calls.indices.map { index in
            Result { try callers[index % callers.count].answer(to: Start.self).value }
        }
    }

    @Test("of 10,000 starts of 100 keys, one of each key starts, and 9,900 attach to the same countdown")
    mutating func oneWinner() throws {
        let calls = (0..<10_000).map { Start(key: "key/\($0 % 100)", durationUSec: .hour) }.shuffled(using: &generator)
        let replies = try answers(to: calls, through: callers(60)).map { try $0.get() }
        #expect(replies.count { $0.outcome == .started } == 100)
        #expect(replies.count { $0.outcome == .attached } == 9_900)
        let countdowns = try fleet.awaitEqual()
        for reply in replies { #expect(SharedCountdown(reply.countdown) == countdowns[reply.countdown.key]) }
    }

    @Test("3,000 extensions of ten keys make their exact sum on all hosts")
    mutating func exactSum() throws {
        let keys = (0..<10).map { "key/\($0)" }
        for key in keys { try fleet.hosts[0].start(key, .seconds(3_600)) }
        try fleet.awaitEqual()
        var calls = (0..<3_000).map { Start(key: keys[$0 % 10], durationUSec: 1_000_000, ifRunning: .extend) }
        calls.shuffle(using: &generator)
        let callers = try callers(60)
        var replies: [Start.Reply] = []
        // All of them at once may not have their turn in time. Those with StorageFailed are certainly not made.
        while !calls.isEmpty {
            let some = Array(calls.prefix(500))
            calls.removeFirst(some.count)
            for (call, answer) in zip(some, try answers(to: some, through: callers)) {
                do {
                    replies.append(try answer.get())
                } catch CountdownError.storageFailed {
                    calls.append(call)
                }
            }
        }
        #expect(replies.allSatisfy { $0.outcome == .extended })
        let countdowns = try fleet.awaitEqual()
        for key in keys {
            #expect(countdowns[key]?.duration == .hour + 300_000_000)
            let seen = replies.filter { $0.countdown.key == key }.map(\.countdown.durationUSec)
            #expect(Set(seen).count == 300, "each extension has seen another sum")
        }
    }

    @Test("of 3,000 extensions with upToUSec, as many are made as fit, on whatever host they were called")
    mutating func exactLimit() throws {
        let keys = (0..<10).map { "key/\($0)" }
        let calls = (0..<3_000).map { number in
            Start(key: keys[number % 10], durationUSec: .hour, ifRunning: .extend, upToUSec: 100 * .hour)
        }
        let answers = try answers(to: calls.shuffled(using: &generator), through: callers(60))
        var made: [String: Int] = [:]
        for answer in answers {
            do {
                made[try answer.get().countdown.key, default: 0] += 1
            } catch CountdownError.alreadyRunning(let countdown, let retryAfter) {
                #expect(countdown.durationUSec == 100 * .hour)
                #expect((1...Int64.hour).contains(try #require(retryAfter?.microseconds)))
            }
        }
        let countdowns = try fleet.awaitEqual()
        for key in keys {
            #expect(made[key] == 100)
            #expect(countdowns[key]?.duration == 100 * .hour)
        }
    }

    @Test("two hosts' queues are served in their orders, neither starves, and runs do not overlap")
    func queues() throws {
        let hosts = [fleet.hosts[0], fleet.hosts[1]]
        try fleet.hosts[2].start("key", .seconds(2))
        try fleet.awaitEqual()
        let call = Start(key: "key", durationUSec: 100_000, ifRunning: .wait)
        var waiting: [[Caller]] = [[], []]
        for number in 1...10 {
            for (index, host) in hosts.enumerated() {
                let caller = try Caller(of: host.daemon)
                try caller.send(call)
                waiting[index].append(caller)
                try waitUntil("the start to wait") { try host.call(GetStatus()).queuedStarts == Int64(number) }
            }
        }
        let runs = try waiting.map { callers in
            try callers.map { caller in
                let reply = try caller.answer(to: Start.self).value
                #expect(reply.outcome == .started)
                return reply.countdown
            }
        }
        for run in runs { #expect(run.map(\.startedUSec) == run.map(\.startedUSec).sorted()) }
        let all = runs.enumerated().flatMap { host, run in run.map { (host, $0) } }
            .sorted { $0.1.startedUSec < $1.1.startedUSec }
        for ((_, former), (_, latter)) in zip(all, all.dropFirst()) {
            #expect(latter.startedUSec >= former.startedUSec + former.durationUSec)
        }
        #expect((3...7).contains(all.prefix(10).count { $0.0 == 0 }), "the order was \(all.map(\.0))")
    }

    @Test("the queue of one host and a limit of runs at once are kept together by hosts")
    func queuesWithLimit() throws {
        let call = Start(key: "key", durationUSec: 600_000, ifRunning: .wait, upToUSec: 1_200_000)
        let callers = try callers(9)
        for caller in callers { try caller.send(call) }
        let replies = try callers.map { try $0.answer(to: Start.self).value }
        #expect(replies.count { $0.outcome == .started } == 1)
        #expect(replies.count { $0.outcome == .extended } == 8)
        let longest = try #require(replies.map(\.countdown).max { $0.durationUSec < $1.durationUSec })
        #expect(longest.durationUSec == 9 * 600_000)
        #expect(replies.allSatisfy { $0.countdown.remainingUSec <= 1_200_000 })
        #expect(Set(replies.map(\.countdown.durationUSec)).count == 9)
    }

    @Test("64 calls on one connection are answered in their order, and each sees the ones before")
    func pipeline() throws {
        let caller = try Caller(of: fleet.hosts[0].daemon)
        for number in 0..<16 {
            let key = "key/\(number)"
            try caller.send(Start(key: key, durationUSec: .hour))
            try caller.send(Get(key: key))
            try caller.send(Start(key: key, durationUSec: .hour, ifRunning: .extend))
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
            #expect((extended.outcome, extended.countdown.durationUSec) == (.extended, 2 * .hour))
            let cancelled = try caller.answer(to: Cancel.self).value.countdown
            #expect((cancelled.key, cancelled.state) == (key, .cancelled))
        }
    }

    @Test("what a host has answered is what its clients and, once they know it, other hosts' clients read")
    func reading() throws {
        let made = try fleet.hosts[0].start("key", .seconds(3_600), label: "one").countdown
        #expect(try SharedCountdown(fleet.hosts[0].get("key")) == SharedCountdown(made))
        #expect(try fleet.awaitEqual()["key"] == SharedCountdown(made))
        let attached = try fleet.hosts[1].start("key", .seconds(60), label: "two")
        #expect(attached.outcome == .attached)
        #expect(SharedCountdown(attached.countdown) == SharedCountdown(made))
    }
}

extension Int64 {
    static let hour: Int64 = 3_600_000_000
}
