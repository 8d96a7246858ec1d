import CountdownCore

/// What a call asks for, in the core's words.
enum Asked {
    case change(Request)
    case countdown(Key)
    /// These two hold so much more than the others that they are kept apart: a call is handed on without being copied so.
    indirect case list(ListQuestion)
    case wait(Key)
    indirect case watch(WatchQuestion)
    case status
}

/// Which countdowns to list.
struct ListQuestion {
    struct States: OptionSet {
        let rawValue: Int

        static let running = States(rawValue: 1)
        static let paused = States(rawValue: 2)
        static let finished = States(rawValue: 4)
        static let cancelled = States(rawValue: 8)

        static let live: States = [.running, .paused]
        static let ended: States = [.finished, .cancelled]

        init(rawValue: Int) {
            self.rawValue = rawValue
        }

        init(of countdown: KeyedCountdown) {
            switch countdown.phase {
            case .running: self = .running
            case .paused: self = .paused
            case .finished: self = .finished
            case .cancelled: self = .cancelled
            }
        }
    }

    let selection: Selection
    let states: States
    /// How many of those that end first; nil for all, in the order of their last change.
    let soonest: Int?
}

/// Which countdowns to follow, and how.
struct WatchQuestion {
    let selection: Selection
    /// Nil where no ticks are wanted.
    let tick: Duration?
    let since: Revision?
    let heartbeat: Duration?
}

/// What is told to one watcher alone.
enum Told {
    /// One that there is: running or paused, or one that has ended since.
    case met(KeyedCountdown)
    /// The system clock was set: what is left, or when it ends, is another.
    case clockWasSet(KeyedCountdown)
    case synced(Revision)
    case heartbeat(Revision)
}

/// What a change came to.
enum Outcome {
    case attached
    case changed(Change.Kind)
}
