import CountdownCore

/// When watchers that asked for heartbeats have to hear one, if they hear nothing else.
///
/// An instant is the earliest at which one may be due: who was told something meanwhile is found to have been when it
/// comes, so that telling costs nothing here.
struct Heartbeats {
    private struct Beat {
        let instant: BootInstant
        let token: UInt64
    }

    /// The latest first.
    private var due: [Beat] = []

    var next: BootInstant? { due.last?.instant }

    /// When a watcher has to be looked after again: once it has heard nothing for an interval, or, where it could not be
    /// told though that has passed, an interval from now.
    static func next(after lastTold: BootInstant, every interval: Duration, at now: BootInstant) -> BootInstant {
        lastTold + interval > now ? lastTold + interval : now + interval
    }

    /// Looks after a watcher at an instant, and no earlier.
    mutating func set(_ token: UInt64, at instant: BootInstant) {
        var (low, high) = (0, due.count)
        while low < high {
            let middle = (low + high) / 2
            if due[middle].instant > instant { low = middle + 1 } else { high = middle }
        }
        due.insert(Beat(instant: instant, token: token), at: low)
    }

    /// A watcher whose instant has come; it is not looked after any more.
    mutating func takeDue(at now: BootInstant) -> UInt64? {
        guard let last = due.last, last.instant <= now else { return nil }
        return due.removeLast().token
    }

    mutating func remove(_ token: UInt64) {
        due.removeAll { $0.token == token }
    }
}
