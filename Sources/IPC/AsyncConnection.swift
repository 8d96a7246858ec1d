import Dispatch
import Glibc
import System
import Varlink

/// A connection of a task that does not block. After the task is cancelled it cannot be used any more.
extension ClientConnection {
    /// Connects to the daemon with the socket at `path`, as soon as its queue of new connections has room; nil if the
    /// task is cancelled.
    nonisolated(nonsending) static func toDaemon(at path: String) async throws(ClientError) -> ClientConnection? {
        var attempt = 0
        while !Task.isCancelled {
            do {
                return try ClientConnection(connectingTo: path, blocking: false)
            } catch .unreachable(_, EAGAIN) {
                attempt += 1
                await Backoff.sleep(microseconds: Backoff.delay(before: attempt))
            }
        }
        return nil
    }

    /// Sends the calls, unless the task is cancelled.
    nonisolated(nonsending) mutating func sendAll() async throws(ClientError) {
        while hasUnsent, !Task.isCancelled {
            switch try send() {
            case .some: break
            case .blocked: await SocketReadiness.writable.wait(of: descriptor)
            // The daemon may have sent the reason before it closed the connection.
            case .hungUp: return
            }
        }
    }

    /// Waits for the next reply to the call, and whether more follow; nil if the task is cancelled.
    nonisolated(nonsending) mutating func nextReply<M: Method>(
        to method: M.Type
    ) async throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while !Task.isCancelled {
            if let reply = try reply(to: M.self, until: nil) { return reply }
            await SocketReadiness.readable.wait(of: descriptor)
        }
        return nil
    }
}

extension Backoff {
    /// Sleeps without holding a thread; returns as soon as the task is cancelled.
    nonisolated(nonsending) static func sleep(microseconds: Int64) async {
        guard microseconds > 0 else { return }
        try? await Task.sleep(for: .microseconds(microseconds))
    }
}

/// A condition of a connected socket that a task waits for without holding a thread.
enum SocketReadiness {
    /// There is something to receive, or the peer has closed the connection.
    case readable
    /// There is room to send.
    case writable

    /// A queue of its own, because a program may block all threads of the shared ones.
    private static let queue = DispatchQueue(label: "io.countdownd.readiness")

    /// Waits until the socket is ready. If the task is cancelled the socket is shut down, which ends the wait. The
    /// descriptor has to stay open until this returns.
    nonisolated(nonsending) func wait(of descriptor: Int32) async {
        let source = source(of: descriptor)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                // Dispatch uses the descriptor until it calls this handler.
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        } onCancel: {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    /// Waits for the deadline if there is one, otherwise for the descriptor: until it can send if `isSending`, or can receive.
    nonisolated(nonsending) static func wait(
        of descriptor: Int32?,
        _ isSending: Bool,
        until deadline: MonotonicDeadline?
    ) async {
        if let deadline {
            await Backoff.sleep(microseconds: deadline.remainingUSec)
        } else if let descriptor {
            await (isSending ? Self.writable : readable).wait(of: descriptor)
        }
    }

    private func source(of descriptor: Int32) -> any DispatchSourceProtocol {
        switch self {
        case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
        }
    }
}
