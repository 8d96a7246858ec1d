import IPC

/// A watch that goes on from one daemon to the next.
final class Subscription {
    /// What came of it.
    enum WatchEvent {
        /// The daemon is there, and tells first what happened before.
        case began
        /// With the revision up to which all has been told.
        case told([Event], since: Int64?)
        /// The daemon is gone, or has no room; where that could not be connected to, why.
        case lost(ClientError)
        /// The daemon does not keep all since the revision that was asked for, but what came after this one.
        case gap(oldest: Int64)
    }

    /// So many replies are taken at once, that others get their turn.
    private static let portion = 64

    private let path: String
    private let watch: Watch
    private let isResumed: Bool
    private var following: ResumableWatch
    private var client: Client?
    private var attempt: Client.Deadline? = .passed
    /// Whether there may be more to take than was.
    private var isBehind = false

    /// Watches at the socket at `path`, from the `since` of the call on where it has one. The next daemon is asked for what
    /// happened after what was told, or, where `resuming` is false, for all there is.
    init(_ watch: Watch, at path: String, resuming: Bool = true) {
        self.path = path
        self.watch = watch
        isResumed = resuming
        following = ResumableWatch(watch)
    }

    /// What poll(2) is to wait for.
    var descriptor: Int32? { client?.descriptor }

    /// When there is something to do though nothing comes.
    var deadline: Client.Deadline? { isBehind ? .passed : attempt }

    /// Connects where it is time to, and takes what came.
    ///
    /// - Throws: what would be no other later on.
    func attend() throws(Exit) -> [WatchEvent] {
        var happenings: [WatchEvent] = []
        do throws(ClientError) {
            if client == nil {
                guard let attempt, attempt.remainingUSec == 0 else { return [] }
                try connect()
                happenings.append(.began)
            }
            isBehind = false
            for _ in 0..<Self.portion {
                guard let reply = try client?.nextReply(to: Watch.self, until: .passed) else { return happenings }
                _ = following.take(reply.reply.events)
                happenings.append(.told(reply.reply.events, since: following.since))
                if !reply.continues { throw .disconnected }
            }
            isBehind = true
        } catch {
            happenings.append(try recover(from: error))
        }
        return happenings
    }

    private func connect() throws(ClientError) {
        var client = try Client(connectingTo: path)
        try client.start(streaming: isResumed ? following.request : watch)
        self.client = consume client
        attempt = nil
    }

    private func recover(from error: ClientError) throws(Exit) -> WatchEvent {
        client = nil
        isBehind = false
        if case .countdown(.historyTrimmed(let oldest)) = error {
            let isRefusedAgain = following.since == oldest
            _ = try? following.recover(from: error)
            // The daemon says that it keeps what came after `oldest`. If it refuses that too, the watch starts without a
            // revision.
            following.resume(after: isRefusedAgain ? nil : oldest)
            attempt = .after(microseconds: following.pauseBeforeAttempt())
            return .gap(oldest: oldest)
        }
        if let exit = Exit(error) { throw exit }
        _ = following.lose()
        attempt = .after(microseconds: following.pauseBeforeAttempt())
        return .lost(error)
    }
}

/// Something that somebody chose to be done about a countdown that has ended.
final class PendingStart {
    /// A minute more, in microseconds.
    static let minute: Int64 = 60_000_000

    private let countdown: Countdown
    private let intention: String
    private var client: Client

    /// Asks the daemon at the socket at `path` for it; nil where nothing is to be done.
    init?(_ action: Action, of countdown: Countdown, at path: String) throws(ClientError) {
        guard let start = Self.start(action, of: countdown) else { return nil }
        self.countdown = countdown
        intention = Self.intention(action)
        var client = try Client(connectingTo: path)
        try client.start(start)
        self.client = consume client
    }

    /// Readable when the answer may be there.
    var descriptor: Int32 { client.descriptor }

    /// What became of it; nil where it is not answered yet.
    func outcome() -> Result<Void, ClientError>? {
        do {
            return try client.nextReply(to: Start.self, until: .passed).map { _ in .success(()) }
        } catch {
            return .failure(error)
        }
    }

    /// How it is told that it came to nothing.
    func trouble(_ error: ClientError) -> Notification { Self.trouble(intention, countdown, error) }

    /// The call for it. A countdown that runs again by then is not shortened: it is left as it is, or given the minute.
    static func start(_ action: Action, of countdown: Countdown) -> Start? {
        switch action {
        case .dismiss: nil
        case .again: start(countdown, countdown.durationUSec, ifRunning: .attach)
        case .addMinute: start(countdown, minute, ifRunning: .extend)
        }
    }

    private static func start(_ countdown: Countdown, _ duration: Int64, ifRunning: IfRunning) -> Start {
        Start(
            key: countdown.key,
            durationUSec: duration,
            ifRunning: ifRunning,
            label: countdown.label,
            metadata: countdown.metadata,
            forget: countdown.forget ? true : nil
        )
    }

    private static func intention(_ action: Action) -> String {
        action == .addMinute ? "given another minute" : "started again"
    }

    /// How it is told that the daemon could not be asked.
    static func trouble(_ action: Action, of countdown: Countdown, _ error: ClientError) -> Notification {
        trouble(intention(action), countdown, error)
    }

    private static func trouble(_ intention: String, _ countdown: Countdown, _ error: ClientError) -> Notification {
        Notification(
            category: .trouble,
            summary: Strings.name(countdown),
            body: "It could not be \(intention): \(error.sentence)"
        )
    }
}
