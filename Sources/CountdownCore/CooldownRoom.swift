/// The room of a cooldown. A cooldown is a start with `fail`, or with `extend` and `upTo`.
public struct CooldownRoom: Sendable {
    /// The key of the countdown.
    public let key: Key
    /// How many such starts would be accepted now, one after the other.
    public let left: Int64
    /// How long until one more is left; nil if everything is left, or if that cannot be known.
    public let more: Duration?
    /// The countdown; nil if the key is neither running nor paused.
    public let countdown: KeyedCountdown?

    /// The room of a cooldown.
    ///
    /// - Parameters:
    ///   - start: the cooldown, which is valid.
    ///   - countdown: the countdown under its key; nil if there is none.
    ///   - now: this instant.
    ///   - isQueuedFor: whether other starts wait for the key.
    ///   - limits: have the default duration, and the longest one.
    public init(
        for start: Request.Start,
        in countdown: KeyedCountdown?,
        at now: Now,
        isQueuedFor: Bool,
        limits: Limits
    ) {
        let duration = limits.duration(of: start).microseconds
        let most = min(start.upTo ?? limits.duration(of: start), limits.longestDuration, limits.latest - now.wall)
        let all = most.microseconds / duration
        let live = countdown.flatMap { $0.isLive ? $0 : nil }
        let remaining = live?.remaining(at: now).microseconds ?? 0
        let isQueuedFor = isQueuedFor && live != nil
        (key, self.countdown) = (start.key, live)
        left = isQueuedFor ? 0 : max(0, (most.microseconds - remaining) / duration)
        if case .running = live?.phase, !isQueuedFor, left < all {
            more = Duration(microseconds: remaining - (most.microseconds - (left + 1) * duration))
        } else {
            more = nil
        }
    }
}

extension Limits {
    /// The duration of a start without a deadline.
    func duration(of start: Request.Start) -> Duration {
        if case .after(let duration) = start.end { duration } else { defaultDuration }
    }
}

/// The outcome of cooldowns that are started together, or not at all.
public struct CooldownsOutcome: Sendable {
    /// Whether all were accepted.
    public let isAccepted: Bool
    /// The room of each cooldown afterwards, in their order.
    public let rooms: [CooldownRoom]
    /// If they were not accepted, how long until they are; nil if that cannot be known.
    public let retryAfter: Duration?
    /// The changes that were made.
    public let changes: [Change]
    /// The state that `undo` must have of each of them.
    public let applied: [Applied]
}

extension Timetable {
    /// Starts or extends the countdowns of all cooldowns, or of none.
    ///
    /// - Parameters:
    ///   - cooldowns: starts with different keys, with `fail`, or with `extend` and `upTo`.
    ///   - dryRun: whether nothing is to be changed.
    ///   - now: this instant.
    ///   - queued: how many other starts wait for a key.
    /// - Returns: whether they are accepted, and the rooms.
    /// - Throws: `Refusal` if one of them is out of range, or else if all together exceed a limit.
    public mutating func startAll(
        _ cooldowns: [Request.Start],
        dryRun: Bool = false,
        at now: Now,
        queued: (Request.Start) -> Int = { _ in 0 }
    ) throws(Refusal) -> CooldownsOutcome {
        var (changes, applied): ([Change], [Applied]) = ([], [])
        var (invalid, exceeded): (Refusal?, Refusal?)
        var delays: [Duration?] = []
        // The texts of all together count, so that their order does not.
        let (textLimit, textBytes) = (limits.textBytesInAll, slab.liveAnnotationBytes)
        limits.textBytesInAll = .max
        for cooldown in cooldowns {
            do throws(Refusal) {
                let decision = try decide(.start(cooldown), at: now, queued: queued(cooldown))
                guard case .change(let change) = decision else {
                    preconditionFailure("a cooldown changes, or is refused")
                }
                applied.append(apply(change))
                changes.append(change)
            } catch {
                switch error {
                case .alreadyRunning(_, let retryAfter): delays.append(retryAfter)
                case .outOfRange: invalid = invalid ?? error
                default: exceeded = exceeded ?? error
                }
            }
        }
        limits.textBytesInAll = textLimit
        if slab.liveAnnotationBytes > max(textLimit, textBytes) {
            exceeded = exceeded ?? .limitReached(.textBytesInAll, maximum: textLimit)
        }
        let fault = invalid ?? exceeded
        if dryRun || fault != nil || !delays.isEmpty {
            for change in applied.reversed() { undo(change) }
            (changes, applied) = ([], [])
        }
        if let fault { throw fault }
        let rooms = cooldowns.map { cooldown in
            let (countdown, isQueuedFor) = (countdown(under: cooldown.key), queued(cooldown) > 0)
            return CooldownRoom(for: cooldown, in: countdown, at: now, isQueuedFor: isQueuedFor, limits: limits)
        }
        let known = delays.compactMap(\.self)
        let retryAfter = known.count == delays.count ? known.max() : nil
        return CooldownsOutcome(
            isAccepted: delays.isEmpty,
            rooms: rooms,
            retryAfter: retryAfter,
            changes: changes,
            applied: applied
        )
    }
}
