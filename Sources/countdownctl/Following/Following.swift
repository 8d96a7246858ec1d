import IPC

/// What a watch follows, and how far it has been told: enough to come back to it and miss nothing.
struct Following {
    /// So that the revision of who follows a quiet key stays within what the daemon keeps; it costs a wake-up an hour.
    static let heartbeat: Int64 = 3_600_000_000

    let selection: Selection
    /// Microseconds between ticks; nil for the daemon's rule, 0 for none.
    let tick: Int64?
    /// The newest revision up to which all has been told; nil where a watch begins afresh.
    private(set) var since: Int64?
    /// Whether the watch that goes on began afresh and has not told all there is yet.
    private var isOpening: Bool

    init(_ selection: Selection, tick: Int64? = nil, since: Int64? = nil) {
        self.selection = selection
        self.tick = tick
        self.since = since
        isOpening = since == nil
    }

    /// The call that begins the watch, or takes it up again.
    var request: Watch {
        Watch(
            match: selection.match,
            tickUSec: tick,
            since: since,
            heartbeatUSec: Self.heartbeat,
            keys: selection.named
        )
    }

    /// Notes what has been told.
    mutating func take(_ event: Event) {
        if event.type == .synced { isOpening = false }
        // A first walk tells changes before all that was there before them.
        guard !isOpening, let revision = event.revision else { return }
        since = max(since ?? revision, revision)
    }

    /// Notes that what was told is too long ago to go on from.
    mutating func beginAfresh() {
        since = nil
        isOpening = true
    }
}
