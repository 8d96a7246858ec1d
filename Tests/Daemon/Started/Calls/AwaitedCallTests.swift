import IPC
import TestSupport
import Testing
import Varlink

@Suite("Async calls")
struct AwaitedCallTests {
    private let daemon: DaemonProcess
    private let countdowns: AsyncClient

    init() throws {
        daemon = try DaemonProcess()
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
            #expect(try await countdowns.list(List(states: [.cancelled])).map(\.key) == ["egg"])
            #expect(try await countdowns.call(GetStatus()).running == 0)
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

    @Test("an error of the daemon is thrown as ClientError")
    func refusals() throws {
        try awaiting {
            let tea = try await countdowns.start("tea").countdown
            await #expect(throws: ClientError.countdown(.noSuchCountdown(key: "egg"))) {
                try await countdowns.get("egg")
            }
            let error = await #expect(throws: ClientError.self) {
                try await countdowns.start("tea", ifRunning: .fail)
            }
            guard case .countdown(.alreadyRunning(let running, _)) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(running.revision == tea.revision)
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

    @Test("a cancelled call throws CancellationError and leaves no connection")
    func cancelled() throws {
        try awaiting {
            try await countdowns.start("tea", for: .seconds(3600))
            let countdowns = countdowns
            let wait = { @Sendable () async throws in try await countdowns.wait(for: "tea") }
            let result = try await result(of: wait) { try await countdowns.awaitStatus { $0.connections == 2 } }
            #expect(throws: CancellationError.self) { try result?.get() }
            try await countdowns.awaitStatus { $0.connections == 1 }
        }
    }

    @Test("a call of a task that was cancelled before is not made")
    func cancelledBefore() throws {
        try awaiting {
            let countdowns = countdowns
            let result = try await result(of: { try await countdowns.start("tea") }, cancelledAfter: {})
            #expect(throws: CancellationError.self) { try result?.get() }
            #expect(try await countdowns.list().isEmpty)
        }
    }
}

extension AsyncClient {
    /// Waits until the daemon's status satisfies the condition; the connection of GetStatus counts as well.
    func awaitStatus(_ isAwaited: (GetStatus.Reply) -> Bool) async throws {
        while try await !isAwaited(call(GetStatus())) {}
    }
}
