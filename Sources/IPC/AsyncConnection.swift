import Dispatch
import Glibc
import Varlink

/// A connection to the daemon for one call, made by a task that does not block. Where the task is cancelled it is of no
/// more use.
final class AsyncConnection {
    private var connection: ClientConnection

    /// Connects to the daemon whose socket is at `path`.
    ///
    /// - Throws: that nothing could be connected to; EAGAIN: so many wait to be taken in that there is no room now.
    init(connectingTo path: String) throws(ClientError) {
        connection = try ClientConnection(connectingTo: path, blocking: false)
    }

    /// Makes the call, whose replies `nextReply` takes.
    nonisolated(nonsending) func start<M: Method>(_ method: M, more: Bool = false) async throws(ClientError) {
        connection.call(method, more: more)
        while connection.hasUnsent, !Task.isCancelled {
            switch try connection.send() {
            case .some: break
            case .blocked: await SocketReadiness.writable.wait(of: connection.descriptor)
            // It may have said why before.
            case .hungUp: return
            }
        }
    }

    /// The next reply to the call, and whether more follow; nil where the task was cancelled.
    nonisolated(nonsending) func nextReply<M: Method>(
        to method: M.Type
    ) async throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        while !Task.isCancelled {
            if let reply = try connection.received(M.self) { return reply }
            switch try connection.receive() {
            case .some: break
            case .blocked: await SocketReadiness.readable.wait(of: connection.descriptor)
            case .hungUp: throw connection.hangup
            }
        }
        return nil
    }
}

extension AsyncConnection {
    /// Connects to the daemon whose socket is at `path`, once it has room; nil where the task was cancelled.
    nonisolated(nonsending) static func toDaemon(at path: String) async throws(ClientError) -> AsyncConnection? {
        var attempt = 0
        while !Task.isCancelled {
            do {
                return try AsyncConnection(connectingTo: path)
            } catch .unreachable(_, EAGAIN) {
                attempt += 1
                await Backoff.sleep(microseconds: Backoff.delay(before: attempt))
            }
        }
        return nil
    }
}

extension Backoff {
    /// Lets time pass; returns as soon as the task is cancelled.
    nonisolated(nonsending) static func sleep(microseconds: Int64) async {
        guard microseconds > 0 else { return }
        try? await Task.sleep(for: .microseconds(microseconds))
    }
}

/// What a task waits for at a connected socket; it holds no thread meanwhile.
enum SocketReadiness {
    /// There is something to receive, be it the end.
    case readable
    /// There is room to send.
    case writable

    /// One of our own: where a program blocks all threads of the common ones, nobody here waits for them.
    private static let queue = DispatchQueue(label: "io.countdownd.readiness")

    /// Waits until the socket is so. Where the task is cancelled it is shut down, which ends the wait; the descriptor has
    /// to stay open until then, and nobody looks at it any more after that.
    nonisolated(nonsending) func wait(of descriptor: Int32) async {
        let source = source(of: descriptor)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { source.cancel() }
                // Not before this one is called has the descriptor been let go of.
                source.setCancelHandler { continuation.resume() }
                source.activate()
            }
        } onCancel: {
            shutdown(descriptor, Int32(SHUT_RDWR))
        }
    }

    private func source(of descriptor: Int32) -> any DispatchSourceProtocol {
        switch self {
        case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: Self.queue)
        case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
        }
    }
}
