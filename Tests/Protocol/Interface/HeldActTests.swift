import Dispatch
import Foundation
import Glibc
import JSONTree
import TestSupport
import Testing
import Varlink

@testable import IPC

@Suite("An act under a held key")
struct HeldActTests {
    private static let seconds: Int64 = 1_000_000
    private static let call = Start(key: "code", durationUSec: 5 * seconds, metadata: ["cooldown": "yes"])

    private func held() -> HeldAct { HeldAct(Self.call, token: "f3a9") }

    private func running(_ token: String?, revision: Int64 = 1, of seconds: Int64 = 30) -> Countdown {
        Countdown(
            key: "code",
            state: .running,
            clock: .elapsed,
            durationUSec: seconds * Self.seconds,
            remainingUSec: seconds * Self.seconds,
            startedUSec: 1,
            metadata: token.map { ["run": $0] },
            revision: revision
        )
    }

    @Test("the start is for the whole hold, and has a token")
    func starts() {
        let metadata: TextMap<String> = ["cooldown": "yes", "run": "f3a9"]
        let start = Start(key: "code", durationUSec: 30 * Self.seconds, ifRunning: .fail, metadata: metadata)
        #expect(held().beginning == [.call(.start(start))])
    }

    @Test("the act begins when the key is held; while it runs the key is renewed, and afterwards it counts")
    func holds() {
        var held = held()
        #expect(held.answer(.success(running("f3a9")), at: 0) == [.wake(at: 15 * Self.seconds), .act])
        let renewal = CountdownRequest.adjust(key: "code", by: 15 * Self.seconds, ifRevision: 1)
        #expect(held.wake(at: 15 * Self.seconds) == [.wake(at: nil), .call(renewal)])
        var renewed = running("f3a9", revision: 2, of: 45)
        renewed.remainingUSec = 30 * Self.seconds
        #expect(held.answer(.success(renewed), at: 15 * Self.seconds) == [.wake(at: 30 * Self.seconds)])
        let end = CountdownRequest.adjust(key: "code", by: -20 * Self.seconds, ifRevision: 2)
        #expect(held.end(succeeded: true, at: 20 * Self.seconds) == [.wake(at: nil), .call(end)])
        #expect(held.answer(.success(renewed), at: 20 * Self.seconds) == [.wake(at: nil), .done])
    }

    @Test("if the act fails, the key is given back, and asked for again if the answer is lost")
    func givesBack() {
        var held = held()
        _ = held.answer(.success(running("f3a9")), at: 0)
        let given = CountdownRequest.cancel(key: "code", ifRevision: 1)
        #expect(held.end(succeeded: false, at: 1) == [.wake(at: nil), .call(given)])
        #expect(held.answer(.failure(.disconnected), at: 1) == [.wake(at: 100_001)])
        #expect(held.wake(at: 100_001) == [.wake(at: nil), .call(.get(key: "code"))])
        #expect(held.answer(.failure(.countdown(.noSuchCountdown(key: "code"))), at: 2) == [.wake(at: nil), .done])
    }

    @Test(
        "a start whose connection is lost is made again, and the own countdown is held",
        arguments: [.disconnected, .failed(errno: EPIPE)] as [ClientError]
    )
    func recognizes(_ lost: ClientError) {
        var held = held()
        let start = held.beginning
        #expect(held.answer(.failure(lost), at: 0) == [.wake(at: 100_000)])
        #expect(held.wake(at: 100_000) == [.wake(at: nil)] + start)
        // The daemon is being restarted.
        #expect(held.answer(.failure(.unreachable(path: "", errno: ENOENT)), at: 100_000) == [.wake(at: 300_000)])
        _ = held.wake(at: 300_000)
        let own = ClientError.countdown(.alreadyRunning(running("f3a9"), retryAfter: nil))
        #expect(held.answer(.failure(own), at: 300_000) == [.wake(at: 15_300_000), .act])
    }

    @Test("another program's countdown is a refusal, also after a lost answer")
    func isRefused() {
        for token in [nil, "e2b8"] {
            var held = held()
            let other = ClientError.countdown(.alreadyRunning(running(token), retryAfter: nil))
            #expect(held.answer(.failure(other), at: 0) == [.refused(other)])
            var second = self.held()
            _ = second.answer(.failure(.disconnected), at: 0)
            _ = second.wake(at: 100_000)
            #expect(second.answer(.failure(other), at: 100_000) == [.refused(other)])
        }
    }

    @Test(
        "any other error is a refusal at once",
        arguments: [
            .countdown(.unreachable(reason: "silent")), .failed(errno: ETIMEDOUT),
            .unreachable(path: "/s", errno: ENOENT), .cancelled, .countdown(.storageFailed(reason: "full")),
            .countdown(.limitReached(limit: "countdowns", maximum: 1)), .service(.invalidParameter("key")),
        ] as [ClientError]
    )
    func fails(_ error: ClientError) {
        var held = held()
        #expect(held.answer(.failure(error), at: 0) == [.refused(error)])
    }

    @Test("after five attempts without an answer the error is a refusal")
    func givesUp() {
        var held = held()
        for pause: Int64 in [100_000, 200_000, 400_000, 800_000] {
            #expect(held.answer(.failure(.disconnected), at: 0) == [.wake(at: pause)])
            _ = held.wake(at: pause)
        }
        #expect(held.answer(.failure(.disconnected), at: 0) == [.refused(.disconnected)])
    }
}

@Suite("The calls of a key that is held", .serialized)
struct HoldingCallTests {
    private let directory: TemporaryDirectory
    private let countdowns: AsyncClient

    init() throws {
        directory = try TemporaryDirectory()
        countdowns = AsyncClient(at: directory.path(of: "socket"))
    }

    /// Answers each call on a connection of its own, in their order; without an answer, the connection is closed.
    private func serve(_ answers: [(JSONValue) throws -> String?]) throws {
        nonisolated(unsafe) let listener = try ListeningSocket(path: countdowns.path)
        nonisolated(unsafe) let answers = answers
        Thread.detachNewThread {
            for answer in unsafe answers {
                guard let connection = try? unsafe listener.accept(), let call = try? connection.message() else {
                    return
                }
                guard let reply = try? answer(JSONValue(parsing: Array(call.utf8))) else { continue }
                try? connection.send(message: reply)
            }
        }
    }

    private func countdown(_ call: JSONValue?, remaining: Int = 1, revision: Int) -> String {
        let token = call?["parameters"]?["metadata"]?["run"]?.string ?? ""
        return #"{"key":"code","state":"running","clock":"elapsed","durationUSec":30000000,"startedUSec":1,"#
            + #""remainingUSec":\#(remaining),"metadata":{"run":"\#(token)"},"forget":false,"revision":\#(revision)}"#
    }

    @Test("a start without an answer is made again, and while the action runs the key is renewed")
    func renews() throws {
        let (renewals, renew) = AsyncStream.makeStream(of: Int64.self)
        try serve([
            { _ in nil },
            { call in
                #"{"error":"io.countdownd.AlreadyRunning","parameters":{"countdown":\#(countdown(call, revision: 1))}}"#
            },
            { call in
                guard case .integer(let amount) = call["parameters"]?["byUSec"] else { return nil }
                renew.yield(amount)
                return #"{"parameters":{"countdown":\#(countdown(nil, remaining: 30_000_000, revision: 2))}}"#
            },
            { call in
                renew.yield(call["method"]?.string == "io.countdownd.Adjust" ? 0 : -1)
                return #"{"parameters":{"countdown":\#(countdown(nil, revision: 3))}}"#
            },
        ])
        try awaiting {
            var amounts = renewals.makeAsyncIterator()
            let value = try await countdowns.holding("code", for: .seconds(5)) {
                for await amount in renewals { return amount }
                return 0
            }
            // Almost the whole hold, because a microsecond remained.
            #expect(value > 29_000_000)
            #expect(await amounts.next() == 0)
        }
    }

    @Test("the error of the daemon is thrown, and the action does not run")
    func fails() throws {
        try serve([{ _ in #"{"error":"io.countdownd.StorageFailed","parameters":{"reason":"full"}}"# }])
        try awaiting {
            await #expect(throws: ClientError.countdown(.storageFailed(reason: "full"))) {
                try await countdowns.holding("code", for: .seconds(5)) { Issue.record("the action ran") }
            }
            await #expect(throws: ClientError.self) {
                try await AsyncClient(at: directory.path(of: "nothing")).holding("code", for: .seconds(5)) {
                    Issue.record("the action ran")
                }
            }
        }
    }
}
