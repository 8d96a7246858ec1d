import IPC

/// What a watch follows, and how far it has been told: enough to come back to it and miss nothing.
struct Following {
    /// Which countdowns.
    enum Subject: Equatable {
        /// Those under these keys, which are no patterns.
        case keys([String])
        /// Those whose keys match any of these; all where there is none.
        case patterns([String])
    }

    /// So that the revision of who follows a quiet key stays within what the daemon keeps; it costs a wake-up an hour.
    static let heartbeat: Int64 = 3_600_000_000

    let subject: Subject
    /// Microseconds between ticks; nil for the daemon's rule, 0 for none.
    let tick: Int64?
    /// The newest revision up to which all has been told; nil where a watch begins afresh.
    private(set) var since: Int64?
    /// Whether the watch that goes on began afresh and has not told all there is yet.
    private var isOpening: Bool

    init(_ subject: Subject, tick: Int64? = nil, since: Int64? = nil) {
        self.subject = subject
        self.tick = tick
        self.since = since
        isOpening = since == nil
    }

    /// The call that begins the watch, or takes it up again.
    var request: Watch {
        var request = Watch(tickUSec: tick, since: since, heartbeatUSec: Self.heartbeat)
        switch subject {
        case .keys(let keys): request.keys = keys
        case .patterns(let patterns): request.match = patterns.isEmpty ? nil : patterns
        }
        return request
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
