import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("Events as an asynchronous sequence")
struct EventsTests {
    private let directory: TemporaryDirectory
    private let countdowns: AsyncClient
    private let daemon: DaemonProcess
    private let watch = Watch(tick: .zero)

    init() throws {
        directory = try TemporaryDirectory()
        countdowns = AsyncClient(at: directory.path(of: "socket"))
        daemon = try DaemonProcess(in: directory)
    }

    @Test("after the daemon is killed and restarted, the watch resumes, and each end is delivered once")
    func comesBack() throws {
        try awaiting {
            var events = countdowns.events(watch).makeAsyncIterator()
            #expect(try await events.nextEvent()?.type == .synced)
            try await countdowns.start("tea", for: .seconds(3600))
            try await countdowns.start("egg", for: .milliseconds(300))
            #expect(try await events.nextEvent()?.type == .started)
            #expect(try await events.nextEvent()?.type == .started)
            try daemon.kill()
            let second = try DaemonProcess(in: directory)
            defer { withExtendedLifetime(second) {} }
            try await countdowns.finish("tea")
            // The egg may end before the daemon goes away, on coming back, or after that.
            var told: [String] = []
            while told.count(where: { $0.hasPrefix("finished") }) < 2 || !told.contains("synced") {
                let event = try #require(try await events.nextEvent())
                told.append(event.type.rawValue + (event.key.map { " \($0)" } ?? ""))
            }
            #expect(told.sorted() == ["finished egg", "finished tea", "synced"])
        }
    }

    @Test("if the history was trimmed, the iteration says so and continues with the current state")
    func historyTrimmed() throws {
        try awaiting {
            var events = countdowns.events(watch).makeAsyncIterator()
            #expect(events.since == nil)
            let since = try #require(try await events.nextEvent()?.revision)
            #expect(events.since == since)
            try daemon.kill()
            try FileManager.default.removeItem(atPath: daemon.stateDirectory)
            let second = try DaemonProcess(in: directory)
            defer { withExtendedLifetime(second) {} }
            let oldest = try await countdowns.call(GetStatus()).oldestRevision
            #expect(oldest > since)
            try await countdowns.start("tea")
            var elements: [AsyncClient.Events.Element] = []
            while elements.last != .historyTrimmed(oldestRevision: oldest) {
                elements.append(try #require(try await events.next()))
            }
            #expect(elements == [.disconnected(.disconnected), .historyTrimmed(oldestRevision: oldest)])
            #expect(events.since == nil)
            #expect(try await events.nextEvent()?.type == .attached)
            let synced = try await events.nextEvent()
            #expect(synced?.type == .synced && events.since == synced?.revision)
        }
    }

    @Test("an iteration that begins at the revision of an earlier one returns the ends since then, and none twice")
    func continuesAnother() throws {
        try awaiting {
            var events = countdowns.events(watch).makeAsyncIterator()
            #expect(try await events.nextEvent()?.type == .synced)
            for key in ["tea", "egg"] {
                try await countdowns.start(key, for: .seconds(3600))
                try await countdowns.finish(key)
            }
            // Several events were perhaps received at once, but only these are returned.
            for type in [Event.Kind.started, .finished] { #expect(try await events.nextEvent()?.type == type) }
            var others = countdowns.events(Watch(tick: .zero, since: events.since)).makeAsyncIterator()
            let end = try await others.nextEvent()
            #expect(end?.type == .finished && end?.key == "egg")
            #expect(try await others.nextEvent()?.type == .synced)
        }
    }

    @Test("if no daemon runs in the beginning, the iteration says so once, and waits for it")
    func noDaemon() throws {
        try daemon.terminate()
        try awaiting {
            var events = countdowns.events().makeAsyncIterator()
            let unreachable = ClientError.unreachable(path: countdowns.path, errno: ENOENT)
            let first = try await events.next()
            #expect(first == .disconnected(unreachable))
            let daemon = try DaemonProcess(in: directory)
            defer { withExtendedLifetime(daemon) {} }
            #expect(try await events.nextEvent()?.type == .synced)
        }
    }

    @Test("if the daemon refuses the watch, the iteration throws the error")
    func refused() throws {
        try awaiting {
            var events = countdowns.events(Watch(match: ["["])).makeAsyncIterator()
            await #expect(throws: ClientError.service(.invalidParameter("match"))) { try await events.next() }
        }
    }

    /// The result of a task that iterates and is cancelled after synced and after the body has run.
    private func end(cancelledAfter body: () async throws -> Void) async throws -> Result<Void, any Error>? {
        let events = countdowns.events(watch)
        let (types, teller) = AsyncStream<Event.Kind>.makeStream()
        let follow = { @Sendable () async throws in
            for try await case .event(let event) in events { teller.yield(event.type) }
        }
        return try await result(of: follow) {
            for await type in types where type == .synced { break }
            try await body()
        }
    }

    @Test("a task that is cancelled while it waits for an event ends its iteration and its watch")
    func cancelled() throws {
        try awaiting {
            try await end(cancelledAfter: Task.yield)?.get()
            try await countdowns.awaitStatus { $0.watchers == 0 }
        }
    }

    @Test("a task that is cancelled while the daemon is away does not wait for the daemon")
    func cancelledWhileAway() throws {
        try awaiting {
            try await end {
                try daemon.kill()
                await Task.yield()
            }?.get()
        }
    }

    @Test("an iteration that is abandoned ends its watch, and each iteration is a watch of its own")
    func left() throws {
        try awaiting {
            let events = countdowns.events(watch)
            for try await first in events {
                for try await second in events {
                    #expect(first == second)
                    try await countdowns.awaitStatus { $0.watchers == 2 }
                    break
                }
                try await countdowns.awaitStatus { $0.watchers == 1 }
                break
            }
            try await countdowns.awaitStatus { $0.watchers == 0 }
        }
    }

    @Test("a program that takes no events is disconnected, and gets each end when it continues")
    func slow() throws {
        try awaiting {
            var events = countdowns.events(watch).makeAsyncIterator()
            #expect(try await events.nextEvent()?.type == .synced)
            let caller = try Caller(of: daemon)
            // Two events of each together are more than may be unsent.
            let count = 600
            let metadata: TextMap<String> = ["note": String(repeating: "x", count: 4_000)]
            for number in 0..<count {
                _ = try caller.call(Start(key: "\(number)", metadata: metadata))
                _ = try caller.call(Finish(key: "\(number)"))
            }
            try await countdowns.awaitStatus { $0.watchers == 0 }
            var ended: [String] = []
            while ended.count < count {
                let event = try #require(try await events.nextEvent())
                if event.type == .finished { ended.append(try #require(event.key)) }
            }
            #expect(ended == (0..<count).map { "\($0)" })
        }
    }
}

extension AsyncClient.Events.Iterator {
    /// The next event; the iteration may have to reach the daemon before.
    mutating func nextEvent() async throws -> Event? {
        while let element = try await next() {
            if case .event(let event) = element { return event }
        }
        return nil
    }
}
