import Glibc
package import System

/// A ``ResumableWatch`` with the connection that it has now. An event loop polls ``descriptor`` for ``timeout`` and calls
/// ``advance()``, which does not wait for the daemon. A program that may block calls ``next()`` instead.
public final class WatchConnection {
    /// The most replies that are returned at once, so that a busy daemon does not keep an event loop from its other
    /// work.
    private static let repliesPerTurn = 64

    private let path: String
    private let sendsBlocking: Bool
    private var watch: ResumableWatch
    private var connection: ClientConnection?
    private var reported = ReportedKeys()
    /// The events from `synced` on, until it is known which countdowns were forgotten.
    private var held: [Event] = []
    /// Lists the countdowns of the watch that run or are paused, to learn which were forgotten. Meanwhile, no events are taken.
    private var listing: ClientConnection?
    private var listed: [Countdown] = []
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
    public var descriptor: Int32? { listing?.descriptor ?? connection?.descriptor }

    /// The events to poll the descriptor for: `POLLIN`, or `POLLOUT` as long as the call has not been sent.
    public var pollEvents: Int16 { Int16(isSending ? POLLOUT : POLLIN) }

    /// Whether a call has not been sent completely.
    var isSending: Bool { listing?.hasUnsent ?? connection?.hasUnsent ?? false }

    /// When to call ``advance()`` though the descriptor is not ready; nil if there is nothing to do before.
    package var deadline: MonotonicDeadline? { hasMore || finalError != nil ? .passed : attempt }

    /// How long to wait until ``advance()`` is called though the descriptor is not ready; nil if there is nothing to do before.
    public var timeout: Duration? { deadline.map { .microseconds($0.remainingUSec) } }

    /// Waits for the next events.
    ///
    /// - Throws: as ``advance()``.
    public func next() throws(ClientError) -> [WatchEvent] {
        while true {
            let events = try advance()
            guard events.isEmpty else { return events }
            var polled = pollfd(fd: descriptor ?? -1, events: pollEvents, revents: 0)
            unsafe poll(&polled, 1, deadline?.pollTimeout ?? -1)
        }
    }

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
            guard try send() else { return events }
            if listing != nil { try list(into: &events) } else { try receive(into: &events) }
        } catch {
            events += try restart(because: error, isAlone: events.isEmpty)
        }
        return events
    }

    /// Closes the connection. The next one resumes after the newest revision.
    ///
    /// - Throws: the error, if it would be the same at the next attempt. Unless it is alone, the next call throws it.
    func restart(because error: ClientError, isAlone: Bool = true) throws(ClientError) -> [WatchEvent] {
        connection = nil
        listing = nil
        // The next connection reports them again.
        held = []
        hasMore = false
        reported.restart()
        do throws(ClientError) {
            let event = try watch.fail(error)
            attempt = .after(microseconds: watch.delayBeforeAttempt())
            return [event]
        } catch {
            finalError = error
            if isAlone { throw error }
            return []
        }
    }

    private func connect() throws(ClientError) {
        var connection = try ClientConnection(connectingTo: path, blocking: sendsBlocking)
        connection.call(watch.request, more: true)
        self.connection = consume connection
        attempt = nil
    }

    /// Whether everything was sent.
    private func send() throws(ClientError) -> Bool {
        while isSending {
            // If the daemon has closed the connection it may have sent the reason before.
            switch try listing == nil ? connection?.send() : listing?.send() {
            case .some(.some): break
            case .blocked: return false
            case .hungUp, nil: return true
            }
        }
        return true
    }

    /// A blocking socket is polled before it receives.
    private var polling: MonotonicDeadline? { sendsBlocking ? .passed : nil }

    private func receive(into events: inout [WatchEvent]) throws(ClientError) {
        hasMore = false
        for _ in 0..<Self.repliesPerTurn {
            guard let (reply, continues) = try connection?.reply(to: Watch.self, until: polling) ?? nil else {
                return
            }
            try take(reply.events, into: &events)
            if !continues { throw .disconnected }
            if listing != nil { break }
        }
        hasMore = true
    }

    private func take(_ received: [Event], into events: inout [WatchEvent]) throws(ClientError) {
        guard held.isEmpty else { return held.append(contentsOf: received) }
        let isListed = !watch.isOpening && watch.options.reportsAll
        guard reported.areUnconfirmed || isListed,
            let synced = received.firstIndex(where: { $0.type == .synced })
        else { return deliver(received, into: &events) }
        deliver(Array(received[..<synced]), into: &events)
        held = Array(received[synced...])
        guard isListed || !watch.isOpening && reported.areUnconfirmed else { return release(into: &events) }
        var listing = try ClientConnection(connectingTo: path, blocking: sendsBlocking)
        listing.call(List(match: watch.request.match, keys: watch.request.keys), more: true)
        self.listing = consume listing
        listed = []
    }

    private func deliver(_ received: [Event], into events: inout [WatchEvent]) {
        guard !received.isEmpty else { return }
        events += watch.receive(received)
        reported.receive(received)
    }

    /// Delivers the held events, after the countdowns that were forgotten.
    private func release(into events: inout [WatchEvent]) {
        // A watch that begins afresh has reported every countdown before `synced`.
        if !watch.isOpening { for event in held { event.key.map { reported.confirm($0) } } }
        let forgotten = reported.forget()
        deliver(held, into: &events)
        if !forgotten.isEmpty { events.insert(.forgotten(forgotten), at: events.endIndex - 1) }
        held = []
    }

    private func list(into events: inout [WatchEvent]) throws(ClientError) {
        hasMore = false
        while let (reply, continues) = try listing?.reply(to: List.self, until: polling) ?? nil {
            for countdown in reply.countdowns { reported.confirm(countdown.key) }
            if watch.options.reportsAll { listed += reply.countdowns }
            guard !continues else { continue }
            listing = nil
            // Ends that came meanwhile were sent before the list.
            repeat { try receive(into: &events) } while hasMore
            if watch.options.reportsAll { events.append(.current(listed)) }
            release(into: &events)
        }
    }
}
