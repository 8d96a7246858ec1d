import CountdownCore
import System

/// A call in the terms of the core.
enum ClientRequest {
    case change(Request)
    /// Boxed, because it is larger than the other cases.
    indirect case startAll([Request.Start], dryRun: Bool)
    case countdown(Key)
    /// Boxed, because they are much larger than the other cases.
    indirect case list(ListRequest)
    case wait(Key)
    indirect case watch(WatchRequest)
    case status
    case ping
    case logLevel(Log.Level)

    /// Whether it is to change a countdown.
    var isChange: Bool {
        switch self {
        case .change, .startAll(_, dryRun: false): true
        default: false
        }
    }

    /// Whether its reply may be finished in a later turn, so that the calls behind it wait.
    var mayWait: Bool {
        switch self {
        case .list, .wait, .watch: true
        default: false
        }
    }

    /// As how many calls of a turn it counts.
    var weight: Int {
        switch self {
        case .startAll(let starts, _): max(1, starts.count)
        case .status: 16
        default: 1
        }
    }

    /// Whether the answer depends on countdowns.
    var isAboutCountdowns: Bool {
        switch self {
        case .change, .startAll, .countdown, .list, .wait, .watch: true
        case .status, .ping, .logLevel: false
        }
    }
}

/// The parameters of `List`.
struct ListRequest {
    let selection: Selection
    let states: [CountdownState]
    /// The number of countdowns that end first; nil for all of them, in the order of their last change.
    let soonest: Int?
}

/// The parameters of `Watch`.
struct WatchRequest {
    let selection: Selection
    /// Nil if no ticks are wanted.
    let tick: Duration?
    let since: Revision?
    let heartbeat: Duration?
}

/// An event for one watcher alone.
enum DeliveredEvent {
    /// A countdown of the snapshot: live, or ended after `since`.
    case current(KeyedCountdown)
    /// The system clock was set, so the deadline or the remaining time is different.
    case clockWasSet(KeyedCountdown)
    case synced(Revision)
    case heartbeat(Revision)
}
