import IPC
import TestSupport
import Testing

@Suite("A key that is held while a program acts", .serialized)
struct HoldingTests {
    private let directory: TemporaryDirectory
    private let countdowns: AsyncClient
    private let daemon: DaemonProcess

    init() throws {
        directory = try TemporaryDirectory()
        countdowns = AsyncClient(at: directory.path(of: "socket"))
        daemon = try DaemonProcess(in: directory)
    }

    private struct Failure: Error {}

    /// The error of an attempt to hold the key, which must not run its action.
    private static func refusal(_ countdowns: AsyncClient) async -> ClientError? {
        do { try await countdowns.holding("code", for: .seconds(5)) { Issue.record("a second action ran") } } catch {
            return error as? ClientError
        }
        return nil
    }

    @Test("the key is held before the action, which one program runs, and counts the duration after it")
    func succeeds() throws {
        try awaiting {
            let length = try await countdowns.holding("code", for: .seconds(5)) { [countdowns] in
                let held = try await countdowns.get("code")
                guard case .countdown(.alreadyRunning(let running, _)) = await Self.refusal(countdowns) else {
                    throw Failure()
                }
                #expect(running.revision == held.revision)
                return held.remaining
            }
            #expect(length > .seconds(5) && length <= .seconds(30))
            let after = try await countdowns.get("code")
            #expect(after.state == .running && after.remaining <= .seconds(5))
            guard case .countdown(.alreadyRunning) = await Self.refusal(countdowns) else { throw Failure() }
        }
    }

    @Test("if the action fails, its error is thrown, and the key is given back")
    func fails() throws {
        try awaiting {
            await #expect(throws: Failure.self) {
                try await countdowns.holding("code", for: .seconds(60)) { throw Failure() }
            }
            let given = try await countdowns.get("code")
            #expect(given.state == .cancelled)
            let value = try await countdowns.holding("code", for: .seconds(60)) { 7 }
            #expect(value == 7)
        }
    }

    @Test("a daemon that is killed and restarted while the action runs is asked again")
    func survivesKill() throws {
        try awaiting {
            let (starts, begin) = AsyncStream.makeStream(of: Void.self)
            let (ends, end) = AsyncStream.makeStream(of: Void.self)
            let client = countdowns
            async let held: Void = client.holding("code", for: .seconds(5)) {
                begin.yield()
                for await _ in ends { break }
            }
            for await _ in starts { break }
            try daemon.kill()
            end.yield()
            let second = try DaemonProcess(in: directory)
            defer { withExtendedLifetime(second) {} }
            try await held
            #expect(try await countdowns.get("code").remaining <= .seconds(5))
        }
    }

    @Test("if the task is cancelled, the action is cancelled, and the key is given back")
    func isCancelled() throws {
        try awaiting {
            let (started, begin) = AsyncStream.makeStream(of: Void.self)
            let outcome = try await result(
                of: { [countdowns] in
                    try await countdowns.holding("code", for: .seconds(60)) {
                        begin.yield()
                        try await Task.sleep(for: .seconds(3600))
                    }
                },
                cancelledAfter: { for await _ in started { break } }
            )
            guard case .failure(is CancellationError) = outcome else { throw Failure() }
            #expect(try await countdowns.get("code").state == .cancelled)
        }
    }
}
