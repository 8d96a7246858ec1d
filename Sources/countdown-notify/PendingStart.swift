import IPC
import System
import Varlink

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
        case .dismiss, .click: nil
        case .again: call(countdown, countdown.durationUSec, ifRunning: .attach, countdown.metadata)
        case .addTime:
            // As `countdownctl snooze` marks it, which then knows that this end was answered.
            call(
                countdown,
                rules.snoozeUSec,
                ifRunning: .extend,
                (countdown.metadata ?? [:]).merging(["snoozed": "yes"])
            )
        }
    }

    private static func call(
        _ countdown: Countdown,
        _ durationUSec: Int64,
        ifRunning: IfRunning,
        _ metadata: TextMap<String>?
    ) -> Start {
        Start(
            key: countdown.key,
            durationUSec: durationUSec,
            ifRunning: ifRunning,
            label: countdown.label,
            metadata: metadata,
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
            body: strings.text(action == .addTime ? .notGivenTime : .notStartedAgain, strings.reason(error))
        )
    }
}
