/// The texts of notifications in English. The raw value is the text that `packaging/po/` translates; `%s` and `%1$s` stand for
/// values.
enum Message: String, CaseIterable {
    case countdowns = "Countdowns"
    case gap = "Countdowns may have ended unseen"
    case gapDetails =
        "The daemon no longer keeps all ends since the last one that was shown. Those that it keeps follow."
    /// A line of a list: a name and a time.
    case nameAndTime = "%1$s, %2$s"
    /// A summary and a body in one line.
    case summaryAndBody = "%1$s: %2$s"
    case ended = "Ended"
    case endedAt = "Ended at %s"
    case endedAtShownLate = "Ended at %1$s, shown %2$s late"
    case endsAt = "Ends at %s"
    case endsIn = "Ends in %s"
    case paused = "Paused"
    case rehearsal = "The end of a countdown is shown like this."

    case again = "Again"
    /// The button that adds a duration.
    case addTime = "+%s"
    case dismiss = "Dismiss"

    case notStartedAgain = "It could not be started again: %s"
    case notGivenTime = "It could not be given more time: %s"
    case notUndone = "It could not be undone, and is tried again: %s"
    case noDaemon = "no daemon at %1$s: %2$s"
    case disconnected = "the daemon closed the connection"
    case connectionFailed = "the connection to the daemon failed: %s"
    case limitReached = "the daemon's limit %1$s of %2$s is reached"
    case storageFailed = "the daemon cannot use its store: %s"
    case noFleet = "the daemon has no answer from its fleet: %s; a change may have been made"
    case permissionDenied = "the daemon serves another user"
    case refused = "the daemon refused the call: %s"

    case days = "%s d"
    case hours = "%s h"
    case minutes = "%s min"
    case seconds = "%s s"
    case milliseconds = "%s ms"
}

/// The texts that depend on a number, which `%d` stands for. The raw value is the English text for 1.
enum CountedMessage: String, CaseIterable {
    case countdownsHaveEnded = "%d countdown has ended"
    case earlierOnes = "%d earlier one"

    /// The English text for other numbers.
    var plural: String {
        switch self {
        case .countdownsHaveEnded: "%d countdowns have ended"
        case .earlierOnes: "%d earlier ones"
        }
    }
}
