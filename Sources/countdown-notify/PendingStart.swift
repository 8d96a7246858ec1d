import IPC
import System

/// A `Start` that a click on a notification asked for, and that the daemon has not answered yet.
final class PendingStart {
    private static let minuteUSec: Int64 = 60_000_000

    private let action: NotificationAction
    private let countdown: Countdown
    private var client: Client

    /// Connects to the daemon at `path` and makes the call. Nil if the action needs none.
    init?(_ action: NotificationAction, of countdown: Countdown, at path: String) throws(ClientError) {
        guard let start = Self.call(for: action, of: countdown) else { return nil }
        self.action = action
        self.countdown = countdown
        var client = try Client(connectingTo: path)
        try client.start(start)
        self.client = consume client
    }

    /// Readable if the reply may be there.
    var descriptor: Int32 { client.descriptor }

    /// The result; nil if there is no reply yet.
    func result() -> Result<Void, ClientError>? {
        do {
            return try client.nextReply(to: Start.self, until: .passed).map { _ in .success(()) }
        } catch {
            return .failure(error)
        }
    }

    /// The notification that the call failed.
    func failureNotification(_ error: ClientError, _ strings: Strings) -> Notification {
        Self.failureNotification(action, of: countdown, error, strings)
    }

    /// The call for an action. If the countdown has been started again meanwhile, it is never shortened.
    static func call(for action: NotificationAction, of countdown: Countdown) -> Start? {
        switch action {
        case .dismiss: nil
        case .again: call(countdown, countdown.durationUSec, ifRunning: .attach)
        case .addMinute: call(countdown, minuteUSec, ifRunning: .extend)
        }
    }

    private static func call(_ countdown: Countdown, _ durationUSec: Int64, ifRunning: IfRunning) -> Start {
        Start(
            key: countdown.key,
            durationUSec: durationUSec,
            ifRunning: ifRunning,
            label: countdown.label,
            metadata: countdown.metadata,
            forget: countdown.forget ? true : nil
        )
    }

    /// The notification that an action failed.
    static func failureNotification(
        _ action: NotificationAction,
        of countdown: Countdown,
        _ error: ClientError,
        _ strings: Strings
    ) -> Notification {
        Notification(
            category: .trouble,
            summary: Strings.name(countdown),
            body: strings.text(action == .addMinute ? .notGivenMinute : .notStartedAgain, strings.reason(error))
        )
    }
}
