/// How old the kept ends are, on the boot clock.
///
/// An end has an instant of the system clock, which may be set, also by mistake and for a second. So each time that the clock is
/// set is noted, and counts as no time for the ends before it. Between the ends that were restored, nothing is known but their
/// instants. If two are more than a day apart, the clock may have been set between them, and a day counts.
struct EndAges: Sendable {
    /// After the start, the system clock is trusted when it was not set for an hour. Until then, restored ends have no age.
    static let settlingTime = Duration.seconds(3_600)
    private static let longestGap = Duration.seconds(86_400)

    private typealias Jump = (last: Revision, span: Duration)

    /// By how much the system clock jumped after each of these ends, in their order.
    private var jumps: [Jump] = []
    /// Their sum.
    private var sum = Duration.zero
    /// The newest restored end, and when it was noticed.
    private var restored: (revision: Revision, noticed: WallInstant)?
    private var start = BootInstant(microseconds: 0)
    /// When the system clock is trusted; nil since it was.
    private var trusted: BootInstant?

    /// Notes an end that a daemon before this one noticed.
    mutating func restore(_ revision: Revision, noticed: WallInstant) {
        if let last = restored {
            let gap = noticed - last.noticed
            if gap.microseconds.magnitude > Self.longestGap.microseconds.magnitude {
                append((last.revision, gap - max(.zero, min(gap, Self.longestGap))))
            }
        }
        restored = (revision, noticed)
        trusted = BootInstant(microseconds: .max)
    }

    /// Begins to count for the ends that were restored.
    mutating func resume(at now: Now) {
        start = now.boot
        if trusted != nil { trusted = now.boot + Self.settlingTime }
    }

    /// Notes that the system clock was set.
    ///
    /// - Parameters:
    ///   - step: by how much.
    ///   - newest: the newest kept end; nil if there is none.
    ///   - now: this instant.
    mutating func clockWasSet(by step: Duration, after newest: Revision?, at now: Now) {
        if let newest { append((newest, step)) }
        if trusted != nil { trusted = now.boot + Self.settlingTime }
    }

    /// The age of the oldest kept end, which was noticed at an instant; nil if it is not known yet.
    mutating func age(ofOldest revision: Revision, noticed: WallInstant, at now: Now) -> Duration? {
        if let instant = trusted, instant <= now.boot { trustClock(at: now) }
        if trusted != nil, let last = restored, revision <= last.revision { return nil }
        while let first = jumps.first, first.last < revision {
            sum = sum - first.span
            jumps.removeFirst()
        }
        return now.wall - noticed - sum
    }

    /// From now on, the newest restored end is as old as the system clock says, and if it lies in the future, as old as the
    /// start.
    private mutating func trustClock(at now: Now) {
        trusted = nil
        guard let restored else { return }
        let index = jumps.firstIndex { $0.last >= restored.revision } ?? jumps.endIndex
        let counted = jumps[index...].reduce(Duration.zero) { $0 + $1.span }
        let span = min(.zero, now.wall(of: start) - restored.noticed) - counted
        jumps.insert((restored.revision, span), at: index)
        sum = sum + span
    }

    private mutating func append(_ jump: Jump) {
        sum = sum + jump.span
        if let last = jumps.last, last.last == jump.last {
            jumps[jumps.count - 1].span = last.span + jump.span
        } else {
            jumps.append(jump)
        }
    }
}
