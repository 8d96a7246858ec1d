import Glibc
package import System
public import Varlink

/// A countdown that is started or found, and followed to its end, for programs that may block, and for event loops.
///
/// ```swift
/// let login = try Following("login/138", for: .seconds(60))
/// while let step = try login.next() { print(step.type, step.remaining ?? .zero) }
/// ```
///
/// ``AsyncClient/follow(_:for:until:ifRunning:label:metadata:forget:upTo:maxDuration:queueUpTo:tick:missingOK:)`` says which steps
/// there are. An event loop polls ``descriptor`` for ``timeout``, and calls ``advance()`` until it returns nil. When the object is
/// released, the watch is closed, and the countdown stays.
public final class Following {
    private let path: String
    private let sendsBlocking: Bool
    private var state: FollowState
    private let watch: WatchConnection
    /// The connection of the start, until it has its answer. Meanwhile the watch is not read.
    private var call: ClientConnection?
    /// When to make the start; nil if none is to be made.
    private var attempt: MonotonicDeadline?
    /// A final error, which is thrown once the steps before it were returned.
    private var finalError: ClientError?

    /// Follows the countdown of a key at the daemon with the socket at `path`; nil for this user's daemon. The other parameters
    /// are those of ``AsyncClient/follow(_:for:until:ifRunning:label:metadata:forget:upTo:maxDuration:queueUpTo:tick:missingOK:)``.
    /// The first call of ``advance()`` or ``next()`` connects.
    ///
    /// - Throws: ``ClientError/address(_:)``.
    public convenience init(
        _ key: String,
        for duration: Duration? = nil,
        until deadline: Countdown.Instant? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upTo: Duration? = nil,
        maxDuration: Duration? = nil,
        queueUpTo: Int64? = nil,
        tick: Duration? = nil,
        missingOK: Bool = false,
        at path: String? = nil
    ) throws(ClientError) {
        let start = Start(key, duration, deadline, ifRunning, label, metadata, forget, upTo, maxDuration, queueUpTo)
        let path = if let path { path } else { try ClientError.pathOfDaemon() }
        self.init(start, tick: tick?.microseconds, missingOK: missingOK, at: path)
    }

    /// Follows the countdown of a call's key. The call is made if it has a length. If `sendsBlocking`, connecting and sending may
    /// block, and the owner polls for `POLLIN` only.
    package init(_ start: Start, tick: Int64?, missingOK: Bool = false, at path: String, sendsBlocking: Bool = false) {
        let hasLength = start.durationUSec != nil || start.deadlineUSec != nil
        state = FollowState(start.key, start: hasLength ? start : nil, missingOK: missingOK)
        self.path = path
        self.sendsBlocking = sendsBlocking
        var options = ResumableWatch.FailureOptions()
        (options.waitsForDaemon, options.reportsAll) = (true, true)
        var call = Watch(keys: [start.key])
        call.tickUSec = tick
        watch = WatchConnection(ResumableWatch(call, options: options), at: path, sendsBlocking: sendsBlocking)
    }

    /// Whether the start was made, perhaps without an answer.
    package var hasStarted: Bool { state.starts > 0 }

    /// Whether the last step was returned, or an error was thrown.
    public var hasEnded: Bool { state.isOver && state.steps.isEmpty && finalError == nil }

    /// The descriptor to poll, which changes; nil if there is no connection.
    public var descriptor: Int32? { call?.descriptor ?? watch.descriptor }

    /// The events to poll the descriptor for: `POLLIN`, or `POLLOUT` as long as a call has not been sent.
    public var pollEvents: Int16 { Int16(isSending ? POLLOUT : POLLIN) }

    var isSending: Bool { call?.hasUnsent ?? watch.isSending }

    /// When to call ``advance()`` though the descriptor is not ready; nil if there is nothing to do before.
    package var deadline: MonotonicDeadline? {
        guard state.steps.isEmpty, !state.isOver else { return .passed }
        if state.mustStart { return attempt ?? .passed }
        return call == nil ? watch.deadline : nil
    }

    /// How long to wait until ``advance()`` is called though the descriptor is not ready; nil if there is nothing to do before.
    public var timeout: Duration? { deadline.map { .microseconds($0.remainingUSec) } }

    /// Waits for the next step; nil after the last one.
    ///
    /// - Throws: why the countdown cannot be started or found, or followed any longer. Nothing follows.
    public func next() throws(ClientError) -> FollowStep? {
        while true {
            if let step = try advance() { return step }
            if hasEnded { return nil }
            var polled = pollfd(fd: descriptor ?? -1, events: pollEvents, revents: 0)
            unsafe poll(&polled, 1, deadline?.pollTimeout ?? -1)
        }
    }

    /// The next step, without waiting; nil if none has arrived, or after the last one.
    ///
    /// - Throws: as ``next()``.
    public func advance() throws(ClientError) -> FollowStep? {
        if state.steps.isEmpty, !state.isOver {
            do throws(ClientError) {
                try receive()
            } catch {
                finalError = error
                state.isOver = true
            }
        }
        if !state.steps.isEmpty { return state.steps.removeFirst() }
        defer { finalError = nil }
        if let finalError { throw finalError }
        return nil
    }

    private func receive() throws(ClientError) {
        guard call != nil || state.mustStart else { return try take(watch.advance()) }
        do throws(ClientError) {
            guard let reply = try makeStart() else { return }
            call = nil
            state.answer(reply)
        } catch {
            call = nil
            try state.refuse(error, at: WallClock.now)
            if state.steps.isEmpty { try take(watch.restart(because: error)) }
        }
    }

    private func take(_ events: [WatchEvent]) throws(ClientError) {
        for event in events where !state.isOver { try state.take(event, at: WallClock.now) }
    }

    /// The reply to the start; nil if it is not due, or has not arrived.
    private func makeStart() throws(ClientError) -> Start.Reply? {
        if call == nil {
            let due = attempt ?? .after(microseconds: state.delay)
            attempt = due.hasPassed ? nil : due
            guard due.hasPassed, let start = state.request(at: WallClock.now) else { return nil }
            var connection = try ClientConnection(connectingTo: path, blocking: sendsBlocking)
            connection.call(start)
            call = consume connection
        }
        while call?.hasUnsent == true {
            // If the daemon has closed the connection it may have sent the reason before.
            guard case .some(.some) = try call?.send() else { break }
        }
        return try (call?.reply(to: Start.self, until: sendsBlocking ? .passed : nil) ?? nil)?.reply
    }
}
