import IPC

/// Something that somebody chose to be done about a countdown that has ended.
final class Errand {
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
            summary: Wording.name(countdown),
            body: "It could not be \(intention): \(error.sentence)"
        )
    }
}
