import CountdownCore

/// A `Watch` that is being answered: first what there is, then, once it is open, what changes.
struct Watching {
    enum Stage {
        /// Nothing was told yet.
        case unopened
        /// What there is, is being told.
        case opening(ScanID)
        case open
        /// What the set clock means for those that were told, is being told.
        case walkingAfterStep(ScanID)
    }

    let question: WatchQuestion
    var stage = Stage.unopened
    /// What has this revision or an earlier one was there before the stage began.
    var base: Revision
    /// Whether what was there before `since` is told too, because the system clock was set since.
    var tellsOlder: Bool
    /// Whether the system clock was set and this has not been told.
    var clockWasSet = false

    init(question: WatchQuestion, revision: Revision, tellsOlder: Bool) {
        self.question = question
        base = question.since ?? revision
        self.tellsOlder = tellsOlder
    }

    var isOpen: Bool {
        switch stage {
        case .unopened, .opening: false
        case .open, .walkingAfterStep: true
        }
    }

    var walk: ScanID? {
        switch stage {
        case .unopened, .open: nil
        case .opening(let walk), .walkingAfterStep(let walk): walk
        }
    }

    /// Whether there is anything to be told portion by portion.
    var hasToWalk: Bool { walk != nil || !isOpen || clockWasSet }
}
