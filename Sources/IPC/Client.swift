import Glibc
package import System
public import Varlink

/// A connection to the daemon for programs that may block.
///
/// One call is answered at a time. A call that is made before the last reply to the previous one drops the rest of its
/// replies. After any error other than ``ClientError/countdown(_:)`` and ``ClientError/service(_:)`` the connection cannot
/// be used any more. ``AsyncClient`` makes a connection for each call, and follows events.
public struct Client: ~Copyable {
    private var connection: ClientConnection

    /// For poll(2): readable if there may be a reply. An event loop calls ``nextReply(to:until:)`` with a deadline that has
    /// passed until it returns nil, and polls again only then, because several replies may have been received at once.
    package var descriptor: Int32 { connection.descriptor }

    /// Connects to this user's daemon: at `$COUNTDOWND_SOCKET`, else in the runtime directory.
    ///
    /// - Parameter timeout: as in ``init(at:timeout:)``.
    /// - Throws: ``ClientError/address(_:)`` or ``ClientError/unreachable(path:errno:)``.
    public init(timeout: Duration? = nil) throws(ClientError) {
        try self.init(at: ClientError.pathOfDaemon(), timeout: timeout)
    }

    /// Connects to the daemon with the socket at `path`.
    ///
    /// - Parameters:
    ///   - path: the path of the socket.
    ///   - timeout: how long connecting, sending a call and receiving its reply each wait for the daemon; nil waits forever. A
    ///     daemon that does not answer in time is the error ``ClientError/failed(errno:)`` with ETIMEDOUT.
    /// - Throws: ``ClientError/unreachable(path:errno:)``.
    public init(at path: String, timeout: Duration? = nil) throws(ClientError) {
        connection = try ClientConnection(connectingTo: path, blocking: true, timeoutUSec: timeout?.microseconds)
    }

    /// Takes over a connected descriptor.
    init(adopting descriptor: Int32) {
        connection = ClientConnection(adopting: descriptor)
    }

    /// Makes a call and waits for its one reply.
    package mutating func call<M: Method>(_ method: M) throws(ClientError) -> M.Reply {
        try start(method)
        while true {
            if let (reply, _) = try nextReply(to: M.self, until: nil) { return reply }
        }
    }

    /// Makes a call; ``nextReply(to:until:)`` returns its one reply, or any number of replies if it accepts more.
    package mutating func start<M: Method>(_ method: M, more: Bool = false) throws(ClientError) {
        connection.call(method, more: more)
        while connection.hasUnsent {
            switch try connection.send() {
            case .some: break
            case .blocked: throw .failed(errno: ETIMEDOUT)
            // The daemon may have sent the reason before it closed the connection.
            case .hungUp: return
            }
        }
    }

    /// Waits for the next reply to the last call that was started. It must not be called after a reply without
    /// `continues`.
    ///
    /// - Parameters:
    ///   - method: the method that was called.
    ///   - deadline: how long to wait; nil waits forever, or for the timeout of the connection.
    /// - Returns: the reply and whether more follow; nil if the deadline passed first.
    /// - Throws: the error that the daemon answered, or why no reply arrived.
    package mutating func nextReply<M: Method>(
        to method: M.Type,
        until deadline: MonotonicDeadline? = nil
    ) throws(ClientError) -> (reply: M.Reply, continues: Bool)? {
        precondition(connection.isUnanswered, "the last reply said that no other follows")
        if let reply = try connection.reply(to: M.self, until: deadline) { return reply }
        guard deadline != nil else { throw .failed(errno: ETIMEDOUT) }
        return nil
    }
}

/// The calls of ``AsyncClient``, for programs that may block.
extension Client {
    /// Starts a countdown, as ``AsyncClient/start(_:for:until:ifRunning:label:metadata:forget:upTo:maxDuration:queueUpTo:)`` does.
    @discardableResult
    public mutating func start(
        _ key: String,
        for duration: Duration? = nil,
        until deadline: Countdown.Instant? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil,
        upTo: Duration? = nil,
        maxDuration: Duration? = nil,
        queueUpTo: Int64? = nil
    ) throws(ClientError) -> (outcome: Countdown.Outcome, countdown: Countdown) {
        let reply = try call(
            Start(key, duration, deadline, ifRunning, label, metadata, forget, upTo, maxDuration, queueUpTo)
        )
        return (reply.outcome, reply.countdown)
    }

    /// Starts or extends the countdowns of all cooldowns, or of none, as ``AsyncClient/startAll(_:dryRun:)`` does.
    public mutating func startAll(
        _ cooldowns: [Cooldown],
        dryRun: Bool? = nil
    ) throws(ClientError) -> (accepted: Bool, rooms: [Cooldown.Room], retryAfter: Duration?) {
        let reply = try call(StartAll(cooldowns: cooldowns, dryRun: dryRun))
        return (reply.accepted, reply.rooms, reply.retryAfterUSec.map(Duration.microseconds))
    }

    /// Returns the countdown under a key, also after its end as long as the daemon keeps it.
    public mutating func get(_ key: String) throws(ClientError) -> Countdown { try call(Get(key: key)).countdown }

    /// Returns countdowns, as ``AsyncClient/list(match:states:keys:soonest:)`` does.
    public mutating func list(
        match: [String]? = nil,
        states: [Countdown.State]? = nil,
        keys: [String]? = nil,
        soonest: Int64? = nil
    ) throws(ClientError) -> [Countdown] {
        try start(List(match: match, states: states, keys: keys, soonest: soonest), more: true)
        var countdowns: [Countdown] = []
        while let (page, continues) = try nextReply(to: List.self) {
            countdowns += page.countdowns
            if !continues { break }
        }
        return countdowns
    }

    /// Ends a countdown before its deadline, if it has the revision; nil for any.
    @discardableResult
    public mutating func cancel(_ key: String, ifRevision: Int64? = nil) throws(ClientError) -> Countdown {
        try call(Cancel(key: key, ifRevision: ifRevision)).countdown
    }

    /// Finishes a countdown now, if it has the revision; nil for any.
    @discardableResult
    public mutating func finish(_ key: String, ifRevision: Int64? = nil) throws(ClientError) -> Countdown {
        try call(Finish(key: key, ifRevision: ifRevision)).countdown
    }

    /// Freezes the remaining time, if the countdown has the revision; nil for any.
    @discardableResult
    public mutating func pause(_ key: String, ifRevision: Int64? = nil) throws(ClientError) -> Countdown {
        try call(Pause(key: key, ifRevision: ifRevision)).countdown
    }

    /// Lets a paused countdown run again for its remaining time, if it has the revision; nil for any.
    @discardableResult
    public mutating func resume(_ key: String, ifRevision: Int64? = nil) throws(ClientError) -> Countdown {
        try call(Resume(key: key, ifRevision: ifRevision)).countdown
    }

    /// Adds to the remaining time, or takes from it if the duration is negative. If nothing would remain, the countdown
    /// finishes now.
    @discardableResult
    public mutating func adjust(
        _ key: String,
        by duration: Duration,
        ifRevision: Int64? = nil
    ) throws(ClientError) -> Countdown {
        try call(Adjust(key: key, byUSec: duration.microseconds, ifRevision: ifRevision)).countdown
    }

    /// Gives a running countdown another deadline. It then follows the system clock.
    @discardableResult
    public mutating func adjust(
        _ key: String,
        until deadline: Countdown.Instant,
        ifRevision: Int64? = nil
    ) throws(ClientError) -> Countdown {
        try call(Adjust(key: key, deadlineUSec: deadline.microseconds, ifRevision: ifRevision)).countdown
    }

    /// Waits until the countdown under a key has ended. If it has ended already and the daemon still keeps it, this returns at
    /// once.
    @discardableResult
    public mutating func wait(for key: String) throws(ClientError) -> Countdown { try call(Wait(key: key)).countdown }

    /// As ``wait(for:)``; nil if the countdown was never started, or if the daemon no longer keeps its end.
    @discardableResult
    public mutating func waitIfPresent(for key: String) throws(ClientError) -> Countdown? {
        do { return try wait(for: key) } catch .countdown(.noSuchCountdown) { return nil }
    }

    /// Returns counters and limits of the daemon.
    public mutating func status() throws(ClientError) -> GetStatus.Reply { try call(GetStatus()) }
}
