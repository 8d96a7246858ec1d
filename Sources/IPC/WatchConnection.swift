import Glibc
public import System

/// A ``ResumableWatch`` with the connection that it has now. An event loop polls ``descriptor`` until ``deadline``
/// and calls ``advance()``, which does not wait for the daemon.
public final class WatchConnection {
    /// The most replies that are returned at once, so that a busy daemon does not keep an event loop from its other
    /// work.
    private static let repliesPerTurn = 64

    private let path: String
    private let sendsBlocking: Bool
    private var watch: ResumableWatch
    private var connection: ClientConnection?
    /// When to connect next; nil while connected.
    private var attempt: MonotonicDeadline? = .passed
    /// Whether more replies may have been received than were returned.
    private var hasMore = false
    /// A final error, which is thrown once the events before it were returned.
    private var finalError: ClientError?

    /// A watch at the daemon with the socket at `path`. The first call of ``advance()`` connects.
    ///
    /// - Parameters:
    ///   - watch: the watch; it has not been started yet.
    ///   - path: the path of the daemon's socket.
    ///   - sendsBlocking: whether connecting and sending the call may block. The owner then polls for `POLLIN` only.
    public init(_ watch: ResumableWatch, at path: String, sendsBlocking: Bool = false) {
        self.path = path
        self.watch = watch
        self.sendsBlocking = sendsBlocking
    }

    /// The newest revision up to which everything has been returned.
    public var since: Int64? { watch.since }

    /// The descriptor to poll; nil if there is no connection.
    public var descriptor: Int32? { connection?.descriptor }

    /// The events to poll the descriptor for: `POLLIN`, or `POLLOUT` as long as the call has not been sent.
    public var pollEvents: Int16 { Int16(isSending ? POLLOUT : POLLIN) }

    /// Whether the call has not been sent completely.
    var isSending: Bool { connection?.hasUnsent ?? false }

    /// When to call ``advance()`` though the descriptor is not ready; nil if there is nothing to do before.
    public var deadline: MonotonicDeadline? { hasMore || finalError != nil ? .passed : attempt }

    /// Connects if it is time to, and returns the events since the last call; an empty array if no event has arrived.
    ///
    /// - Throws: an error that would be the same at the next attempt. The watch cannot be used any more.
    public func advance() throws(ClientError) -> [WatchEvent] {
        if let finalError { throw finalError }
        var events: [WatchEvent] = []
        do throws(ClientError) {
            if connection == nil {
                guard let attempt, attempt.hasPassed else { return [] }
                try connect()
                events.append(watch.start())
            }
            try send()
            try receive(into: &events)
        } catch {
            connection = nil
            hasMore = false
            try recover(from: error, &events)
        }
        return events
    }

    private func recover(from error: ClientError, _ events: inout [WatchEvent]) throws(ClientError) {
        do throws(ClientError) {
            events.append(try watch.fail(error))
            attempt = .after(microseconds: watch.delayBeforeAttempt())
        } catch {
            finalError = error
            if events.isEmpty { throw error }
        }
    }

    private func connect() throws(ClientError) {
        var connection = try ClientConnection(connectingTo: path, blocking: sendsBlocking)
        connection.call(watch.request, more: true)
        self.connection = consume connection
        attempt = nil
    }

    private func send() throws(ClientError) {
        while isSending {
            // If the daemon has closed the connection it may have sent the reason before.
            guard try connection?.send() == .some else { return }
        }
    }

    private func receive(into events: inout [WatchEvent]) throws(ClientError) {
        hasMore = false
        var replies = 0
        while replies < Self.repliesPerTurn {
            if let (reply, continues) = try connection?.received(Watch.self) {
                replies += 1
                events += watch.receive(reply.events)
                if !continues { throw .disconnected }
                continue
            }
            if sendsBlocking, try connection?.isReadable(until: .passed) != true { return }
            switch try connection?.receive() {
            case .some(.some): break
            case .blocked, nil: return
            case .hungUp: throw connection?.hangup ?? .disconnected
            }
        }
        hasMore = true
    }
}
