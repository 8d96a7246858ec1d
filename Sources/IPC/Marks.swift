package import Varlink

/// The metadata by which countdowns that only keep a command from running again differ from timers.
package enum CooldownMark {
    /// The metadata of countdowns that `countdownctl run`, `countdownctl button` and `--rate` start.
    package static let metadata: TextMap<String> = ["cooldown": "yes"]

    /// Whether a countdown has it.
    package static func marks(_ countdown: Countdown) -> Bool { countdown.metadata?["cooldown"] == "yes" }
}

/// The prefixes of the keys of `countdownctl temporarily`.
package enum ChangeMark {
    /// Of the ends of changes.
    package static let prefix = "undo/"
    /// Of undos that failed, which notifications report.
    package static let failurePrefix = "undo-failed/"

    /// Whether a key has one, as bytes: a combining mark behind the slash would be a part of it.
    package static func marks(_ key: String) -> Bool {
        [prefix, failurePrefix].contains { key.utf8.starts(with: $0.utf8) }
    }
}

extension Countdown {
    /// Whether people count with it: not a cooldown, and not the end of a change. Bars, `@next` and `@last` show timers.
    package var isTimer: Bool { !CooldownMark.marks(self) && !ChangeMark.marks(key) }
}

/// The metadata of countdowns that `countdownctl snooze`, or the button of a notification, has started again.
package enum SnoozeMark {
    private static let metadata: TextMap<String> = ["snoozed": "yes"]

    /// Whether a countdown has it.
    package static func marks(_ countdown: Countdown) -> Bool { countdown.metadata?["snoozed"] == "yes" }

    /// The call that starts a countdown again for a duration in microseconds, with its label and metadata.
    package static func start(_ countdown: Countdown, for duration: Int64, _ ifRunning: IfRunning) -> Start {
        var call = countdown.again(for: duration, ifRunning)
        call.metadata = (countdown.metadata ?? [:]).merging(metadata)
        return call
    }
}

extension Countdown {
    /// The call that starts it again for a duration in microseconds, with its label and metadata.
    package func again(for duration: Int64, _ ifRunning: IfRunning) -> Start {
        Start(
            key: key,
            durationUSec: duration,
            ifRunning: ifRunning,
            label: label,
            metadata: metadata,
            forget: forget ? true : nil
        )
    }
}
