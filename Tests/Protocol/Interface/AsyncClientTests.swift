import Foundation
import Glibc
import TestSupport
import Testing

@testable import IPC

@Suite("The connections of the asynchronous client")
struct AsyncClientTests {
    private let directory: TemporaryDirectory
    private let countdowns: AsyncClient

    init() throws {
        directory = try TemporaryDirectory()
        countdowns = AsyncClient(at: directory.path(of: "socket"))
    }

    /// Accepts connections, reads a call on the last one of them, and answers with an error.
    private func refuse(_ listener: ListeningSocket, onConnection count: Int = 1) {
        nonisolated(unsafe) let listener = listener
        Thread.detachNewThread {
            let connections = (0..<count).compactMap { _ in try? unsafe listener.accept() }
            guard (try? connections.last?.message()) != nil else { return }
            try? connections.last?.send(
                message: #"{"error":"io.countdownd.NoSuchCountdown","parameters":{"key":"k"}}"#
            )
        }
    }

    /// Fills the listener's queue of connections.
    private func crowd(_ listener: ListeningSocket) throws -> [RawConnection] {
        // One more than the backlog of listen(2).
        let connections = try (0..<65).map { _ in try RawConnection(to: listener.path) }
        #expect(throws: ClientError.unreachable(path: listener.path, errno: EAGAIN)) {
            _ = try ClientConnection(connectingTo: listener.path, blocking: false)
        }
        return connections
    }

    private let refusal = ClientError.countdown(.noSuchCountdown(key: "k"))
    /// More than the buffer of a socket.
    private let longKey = String(repeating: "x", count: 1 << 20)

    @Test("a call that is larger than the socket's buffer is sent as the daemon reads it")
    func longCall() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        try awaiting {
            refuse(listener)
            await #expect(throws: refusal) { try await countdowns.get(longKey) }
        }
    }

    @Test("a countdown that is missing is an error of a wait, or nil")
    func missing() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        try awaiting {
            refuse(listener)
            await #expect(throws: refusal) { try await countdowns.wait(for: "k") }
            refuse(listener)
            await #expect(throws: Never.self) {
                let found = try await countdowns.waitIfPresent(for: "k")
                #expect(found == nil)
            }
        }
    }

    @Test("a task that sends such a call can be cancelled")
    func cancelledWhileSending() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        try awaiting {
            let result = try await result(of: { try await countdowns.get(longKey) }, cancelledAfter: Task.yield)
            #expect(throws: ClientError.cancelled) { try result?.get() }
        }
        withExtendedLifetime(listener) {}
    }

    @Test("a task waits until the daemon's queue of connections has room")
    func crowded() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        let others = try crowd(listener)
        try awaiting {
            await withThrowingTaskGroup { group in
                group.addTask { try await countdowns.get("k") }
                await Task.yield()
                refuse(listener, onConnection: others.count + 1)
                let result = await group.nextResult()
                #expect(throws: refusal) { try result?.get() }
            }
        }
    }

    @Test("a task that waits for room can be cancelled")
    func cancelledInCrowd() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        let others = try crowd(listener)
        try awaiting {
            let result = try await result(of: { try await countdowns.get("k") }, cancelledAfter: Task.yield)
            #expect(throws: ClientError.cancelled) { try result?.get() }
        }
        withExtendedLifetime(others) {}
    }

    @Test("if the daemon closes the connection before the first reply, calls and watches are disconnected")
    func hungUp() throws {
        let listener = try ListeningSocket(path: countdowns.path)
        nonisolated(unsafe) let socket = listener
        Thread.detachNewThread {
            for _ in 0..<2 { _ = try? unsafe socket.accept() }
        }
        try awaiting {
            await #expect(throws: ClientError.disconnected) { try await countdowns.get("k") }
            var events = countdowns.events().makeAsyncIterator()
            let next = try await events.next()
            #expect(next == .disconnected(.disconnected))
        }
    }
}
