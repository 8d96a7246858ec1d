import IPC
import System

/// A `Start` that a click on a notification asked for, and that the daemon has not answered yet.
final class PendingStart {
    let action: NotificationAction
    let countdown: Countdown
    private var pending: PendingCall<Void>

    /// Connects to the daemon at `path` and makes the call. Nil if the action needs none.
    init?(
        _ action: NotificationAction,
        of countdown: Countdown,
        _ rules: AnnouncementRules,
        at path: String
    ) throws(ClientError) {
        guard let start = Self.call(for: action, of: countdown, rules) else { return nil }
        self.action = action
        self.countdown = countdown
        pending = try PendingCall(start, at: path) { _ in }
    }

    /// Readable if the reply may be there.
    var descriptor: Int32 { pending.descriptor }

    /// The result; nil if there is no reply yet.
    func result() -> Result<Void, ClientError>? { pending.result() }

    /// The call for an action. If the countdown has been started again meanwhile, it is never shortened.
    static func call(
        for action: NotificationAction,
        of countdown: Countdown,
        _ rules: AnnouncementRules = AnnouncementRules()
    ) -> Start? {
        switch action {
        case .dismiss: nil
        case .again: countdown.again(for: countdown.durationUSec, .attach)
        // `countdownctl snooze` then knows that this end was answered.
        case .addTime: SnoozeMark.start(countdown, for: rules.snoozeUSec, .extend)
        }
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
            body: strings.text(action == .addTime ? .notGivenTime : .notStartedAgain, strings.reason(error))
        )
    }
}
