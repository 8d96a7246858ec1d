import CountdownCore

/// Where changes are kept beyond the life of the process.
protocol Store: AnyObject {
    /// Keeps all changes of a turn, or none of them. In haste, what else there is to do is left for `tidyUp`.
    func commit(_ changes: Changes, inHaste: Bool) throws(StoreFailure)
    /// Lets go of endings that are not kept any more; what stands for them goes later.
    func drop(_ endings: [Revision])
    /// Does some of what was left in haste, for a millisecond or two at the most.
    ///
    /// - Returns: whether there is more of it.
    func tidyUp() -> Bool
    /// How often the log was begun to be copied into the database in the background.
    var checkpoints: Int { get }
    /// Keeps that the daemon was stopped at this revision, and nothing is missing.
    func close(at revision: Revision)
}

/// What a turn has to have stored before it is told.
struct Changes {
    /// In the order of their revisions.
    var steps: [Change] = []
    /// Set where somebody has set the system clock.
    var clockStep: ClockStep?

    var isEmpty: Bool { steps.isEmpty && clockStep == nil }

    /// These and later ones, as one.
    func followed(by later: Changes) -> Changes {
        Changes(steps: steps + later.steps, clockStep: later.clockStep ?? clockStep)
    }
}

/// That somebody has set the system clock.
struct ClockStep {
    /// The system clock less the boot clock, from now on.
    let offset: Duration
    /// The newest change's before.
    let revision: Revision
}

/// What keeps changes from being stored.
struct StoreFailure: Error, Equatable {
    let reason: String
    /// Nil where nothing better is known than the reason.
    var remedy: Remedy?
}

/// A store that was opened, and what it held.
struct OpenedStore: ~Copyable {
    let store: any Store
    var timetable: Timetable
    /// The newest revision when the system clock was set last, nil where that is not known to have happened.
    let stepRevision: Revision?
    /// The system clock less the boot clock as it was held last, nil where this is another boot or it was set since.
    let offset: Duration?
}
