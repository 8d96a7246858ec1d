import IPC
import TestSupport
import Testing
import Varlink

@Suite("Async calls")
struct AwaitedCallTests {
    private let daemon: SmallDaemon
    private let countdowns: AsyncClient

    init() throws {
        daemon = try SmallDaemon()
        countdowns = AsyncClient(at: daemon.socketPath)
    }

    @Test("each function calls the method of its name")
    func calls() throws {
        try awaiting {
            let started = try await countdowns.start("tea", for: .seconds(60), label: "Green tea")
            #expect(started.outcome == .started)
            #expect(started.countdown.label == "Green tea")
            #expect(try await countdowns.start("tea").outcome == .attached)
            #expect(try await countdowns.start("tea", for: .seconds(30), ifRunning: .restart).outcome == .restarted)
            #expect(try await countdowns.adjust("tea", by: .seconds(30)).durationUSec == .seconds(60))
            #expect(try await countdowns.adjust("tea", by: .seconds(-10)).durationUSec == .seconds(50))
            #expect(try await countdowns.pause("tea").state == .paused)
            #expect(try await countdowns.resume("tea").state == .running)
            #expect(try await countdowns.start("egg").countdown.durationUSec == .seconds(60))
            #expect(try await countdowns.list().map(\.key) == ["tea", "egg"])
            #expect(try await countdowns.finish("tea").state == .finished)
            #expect(try await countdowns.wait(for: "tea") == countdowns.get("tea"))
            #expect(try await countdowns.cancel("egg").state == .cancelled)
            #expect(try await countdowns.list(states: [.cancelled]).map(\.key) == ["egg"])
            #expect(try await countdowns.status().running == 0)
        }
    }

    @Test("both clients take and give durations and instants, and have the same calls")
    func bothClients() throws {
        var blocking = try Client(at: daemon.socketPath, timeout: .seconds(60))
        let started = try blocking.status().started
        let deadline = started.advanced(by: .seconds(3600))
        let tea = try blocking.start("tea", until: deadline, metadata: ["cups": "2"], forget: true).countdown
        #expect(tea.deadline == deadline)
        #expect(tea.clock == .wall)
        #expect(tea.metadata == ["cups": "2"])
        #expect(tea.forget)
        #expect(tea.started == started)
        #expect(tea.remaining == .seconds(3600))
        let later = try blocking.start("tea", for: .seconds(7200), ifRunning: .later)
        #expect(later.outcome == .extended)
        let moved = try blocking.adjust("tea", until: deadline.advanced(by: .seconds(1)))
        #expect(moved.deadline == deadline.advanced(by: .seconds(1)))
        let rates = [Cooldown("sms", for: .seconds(1200), upTo: .seconds(3600)), Cooldown("tea")]
        let refused = try blocking.startAll(rates, dryRun: true)
        #expect(!refused.accepted)
        #expect(refused.rooms.map(\.left) == [3, 0])
        let retryAfter = refused.retryAfter
        #expect(retryAfter != nil)
        #expect(retryAfter == refused.rooms[1].more)
        let sms = try blocking.startAll([rates[0]]).rooms[0].countdown
        #expect(sms?.duration == .seconds(1200))
        let listed = try blocking.list(match: ["s*"])
        #expect(listed.map(\.key) == ["sms"])
        let finished = try blocking.finish("sms")
        #expect(finished.ended != nil)
        let waited = try blocking.wait(for: "sms")
        #expect(waited == finished)
        try awaiting {
            let listed = try await countdowns.list(keys: ["tea"])
            #expect(listed.map(\.deadline) == [moved.deadline])
            let refused = try await countdowns.startAll([Cooldown("tea")])
            #expect(!refused.accepted)
            let error = await #expect(throws: ClientError.self) {
                try await countdowns.pause("tea", ifRevision: tea.revision)
            }
            #expect(error?.key == "tea")
        }
    }

    @Test("a list of many pages is one")
    func pages() throws {
        try awaiting {
            let caller = try Caller(of: daemon)
            for number in 0..<500 {
                _ = try caller.call(Start(key: "\(number)", label: String(repeating: "x", count: 1000)))
            }
            let listed = try await countdowns.list()
            #expect(listed.map(\.key) == (0..<500).map { "\($0)" })
        }
    }

    @Test("a part of a microsecond counts as a whole one, and a duration that is too long is refused by its parameter")
    func lengths() throws {
        try awaiting {
            let tea = try await countdowns.start("tea", for: .seconds(1) + .nanoseconds(1)).countdown
            #expect(tea.durationUSec == 1_000_001)
            await #expect(throws: ClientError.service(.invalidParameter("durationUSec"))) {
                try await countdowns.start("egg", for: .seconds(Int64.max))
            }
        }
    }

    @Test("calls that are made at once do not wait for each other, even if one of them is a Wait")
    func concurrently() throws {
        try awaiting {
            try await countdowns.start("tea", for: .seconds(3600))
            let countdowns = countdowns
            async let end = countdowns.wait(for: "tea")
            let outcomes = try await withThrowingTaskGroup { group in
                for number in 0..<50 { group.addTask { try await countdowns.start("\(number)").outcome } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(outcomes == Array(repeating: .started, count: 50))
            try await countdowns.finish("tea")
            #expect(try await end.state == .finished)
        }
    }

    @Test("a cancelled call says so and leaves no connection")
    func cancelled() throws {
        try awaiting {
            try await countdowns.start("tea", for: .seconds(3600))
            let countdowns = countdowns
            let wait = { @Sendable () async throws in try await countdowns.wait(for: "tea") }
            let result = try await result(of: wait) { try await countdowns.awaitStatus { $0.connections == 2 } }
            #expect(throws: ClientError.cancelled) { try result?.get() }
            try await countdowns.awaitStatus { $0.connections == 1 }
        }
    }

    @Test("a call of a task that was cancelled before is not made")
    func cancelledBefore() throws {
        try awaiting {
            let countdowns = countdowns
            let result = try await result(of: { try await countdowns.start("tea") }, cancelledAfter: {})
            #expect(throws: ClientError.cancelled) { try result?.get() }
            #expect(try await countdowns.list().isEmpty)
        }
    }
}
