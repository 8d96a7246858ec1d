/// Everything that is known at one moment, for a new store.
extension Timetable {
    /// Revisions that may have been given to changes that are lost.
    public var unknownRevisions: [ClosedRange<Revision>] { gaps }

    /// Visits all countdowns that run, are paused or are kept as history, in the order of their revisions.
    public func visitAll<Failure>(_ visit: (KeyedCountdown) throws(Failure) -> Void) throws(Failure) {
        var (live, ended) = (lists[.live].first, lists[.ended].first)
        while live != .none || ended != .none {
            if ended == .none || live != .none && slab[live].revision < slab[ended].revision {
                try visit(self[live])
                live = slab[live].next
            } else {
                try visit(self[ended])
                ended = slab[ended].next
            }
        }
    }
}
