/// The result of a request that is not refused.
public enum Decision: Sendable {
    /// The key is live already, and nothing changes.
    case attached(KeyedCountdown)
    /// The key is live, and the start has to wait for its turn: at the earliest until this deadline, or, if it is nil, until
    /// something changes.
    case wait(until: Deadline?)
    case change(Change)
}

extension Timetable {
    /// Computes the result of a request at this instant, and changes nothing.
    ///
    /// Countdowns that are due must have been expired first.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - now: this instant.
    ///   - queued: how many other starts wait for the same key.
    /// - Returns: the change, if there is one.
    /// - Throws: `Refusal` if the request is invalid in this state, out of range, or exceeds a limit.
    public func decide(_ request: Request, at now: Now, queued: Int = 0) throws(Refusal) -> Decision {
        switch request {
        case .start(let start):
            return try decideStart(start, at: now, queued)
        case .cancel(let key, let revision):
            let countdown = try live(key, ifRevision: revision)
            return change(countdown, .cancelled, to: .cancelled(at: now.wall, remaining: countdown.remaining(at: now)))
        case .finish(let key, let revision):
            let countdown = try live(key, ifRevision: revision)
            return change(countdown, .finished, to: .finished(at: now.wall, late: .zero))
        case .pause(let key, let revision):
            let countdown = try live(key, ifRevision: revision)
            guard case .running = countdown.phase else { throw .wrongState(countdown) }
            return change(countdown, .paused, to: .paused(remaining: countdown.remaining(at: now)))
        case .resume(let key, let revision):
            var countdown = try live(key, ifRevision: revision)
            guard case .paused(let remaining) = countdown.phase else { throw .wrongState(countdown) }
            countdown.clock = .elapsed
            return change(countdown, .resumed, to: .running(until: .elapsed(now.boot + remaining)))
        case .adjust(let key, .by(let duration), let revision):
            return try adjust(try live(key, ifRevision: revision), by: duration, at: now)
        case .adjust(let key, .to(let instant), let revision):
            return try adjust(try live(key, ifRevision: revision), to: instant, at: now)
        }
    }

    // MARK: Start

    private func decideStart(_ start: Request.Start, at now: Now, _ queued: Int) throws(Refusal) -> Decision {
        try checkRange(of: start, at: now)
        try checkSizes(of: start)
        guard let current = countdown(under: start.key), current.isLive else {
            guard liveCount < limits.countdowns else {
                throw .limitReached(.countdowns, maximum: limits.countdowns)
            }
            try checkRoom(for: start.annotations, instead: .none)
            return .change(Change(kind: .started, countdown: begin(start, at: now), replaced: nil))
        }
        return try decideStart(start, whileLive: current, at: now, queued)
    }

    private func decideStart(
        _ start: Request.Start,
        whileLive current: KeyedCountdown,
        at now: Now,
        _ queued: Int
    ) throws(Refusal) -> Decision {
        // By how much the remaining time would exceed the most that may remain after an extension.
        let excess = start.upTo.map { current.remaining(at: now) + limits.duration(of: start) - $0 }
        switch start.ifLive {
        case .attach:
            return .attached(current)
        case .fail:
            throw alreadyRunning(current, retryAfter: current.remaining(at: now), queued)
        case .restart:
            try checkRoom(for: start.annotations, instead: current.annotations)
            return .change(
                Change(kind: .restarted, countdown: begin(start, at: now), replaced: current.revision)
            )
        case .extend:
            if let excess, queued > 0 || excess > .zero {
                throw alreadyRunning(current, retryAfter: excess, queued)
            }
            return try extend(current, as: start, at: now)
        case .later: return try prolong(current, as: start, at: now)
        case .wait:
            if queued == 0, let excess, excess <= .zero { return try extend(current, as: start, at: now) }
            if let places = start.queueUpTo, queued >= places { throw .alreadyRunning(current, retryAfter: nil) }
            guard let upTo = start.upTo, queued == 0, case .running(let deadline) = current.phase else {
                return .wait(until: nil)
            }
            return .wait(until: deadline.moved(by: limits.duration(of: start) - upTo))
        }
    }

    private func alreadyRunning(_ current: KeyedCountdown, retryAfter duration: Duration, _ queued: Int) -> Refusal {
        guard case .running = current.phase, queued == 0 else { return .alreadyRunning(current, retryAfter: nil) }
        return .alreadyRunning(current, retryAfter: duration)
    }

    private func checkRange(of start: Request.Start, at now: Now) throws(Refusal) {
        switch start.end ?? .after(limits.defaultDuration) {
        case .after(let duration):
            guard duration > .zero, duration <= limits.longestDuration, now.wall + duration <= limits.latest else {
                throw .outOfRange(.duration)
            }
        case .at(let instant):
            guard start.ifLive != .extend, start.ifLive != .wait else { throw .outOfRange(.deadline) }
            try checkAhead(instant, at: now)
        }
        if let upTo = start.upTo {
            guard start.ifLive == .extend || start.ifLive == .wait, upTo >= limits.duration(of: start) else {
                throw .outOfRange(.upTo)
            }
        }
        if let most = start.maxDuration {
            if case .at = start.end { throw .outOfRange(.maxDuration) }
            guard start.ifLive == .later, most >= limits.duration(of: start) else { throw .outOfRange(.maxDuration) }
        }
        if let places = start.queueUpTo {
            guard start.ifLive == .wait, places > 0 else { throw .outOfRange(.queueUpTo) }
        }
    }

    private func checkSizes(of start: Request.Start) throws(Refusal) {
        try check(start.label?.utf8.count, .labelBytes, limits.labelBytes)
        try check(start.metadata?.count, .metadataPairs, limits.metadataPairs)
        try check(start.metadata?.bytes, .metadataBytes, limits.metadataBytes)
    }

    private func check(_ size: Int?, _ limit: Refusal.Limit, _ maximum: Int) throws(Refusal) {
        if let size, size > maximum { throw .limitReached(limit, maximum: maximum) }
    }

    /// Refuses annotations if there is no room for them; they are never refused if they take no more than those they replace.
    private func checkRoom(for annotations: Annotations, instead old: Annotations) throws(Refusal) {
        let more = annotations.size - old.size
        guard more <= 0 || slab.liveAnnotationBytes + more <= limits.textBytesInAll else {
            throw .limitReached(.textBytesInAll, maximum: limits.textBytesInAll)
        }
    }

    private func begin(_ start: Request.Start, at now: Now) -> KeyedCountdown {
        let deadline: Deadline =
            switch start.end {
            case .after(let duration): .elapsed(now.boot + duration)
            case .at(let instant): .wall(instant)
            case nil: .elapsed(now.boot + limits.defaultDuration)
            }
        return KeyedCountdown(
            key: start.key,
            phase: .running(until: deadline),
            clock: deadline.clock,
            duration: deadline.remaining(at: now),
            started: now.wall,
            annotations: start.annotations,
            forget: start.forget,
            revision: revision.next
        )
    }

    private func extend(_ current: KeyedCountdown, as start: Request.Start, at now: Now) throws(Refusal) -> Decision {
        let countdown = try annotated(current, as: start)
        do {
            return try adjust(countdown, by: limits.duration(of: start), at: now)
        } catch {
            throw .outOfRange(.duration)
        }
    }

    /// Makes the remaining time that of the start, within its bound, if that is longer.
    private func prolong(_ current: KeyedCountdown, as start: Request.Start, at now: Now) throws(Refusal) -> Decision {
        let remaining = current.remaining(at: now)
        if case .at(let instant) = start.end {
            guard case .running = current.phase else { throw .wrongState(current) }
            guard instant - now.wall > remaining else { return .attached(current) }
            return try adjust(annotated(current, as: start), to: instant, at: now)
        }
        var wanted = limits.duration(of: start)
        if let most = start.maxDuration { wanted = min(wanted, most - (current.duration(at: now) - remaining)) }
        guard wanted > remaining else { return .attached(current) }
        var countdown = try annotated(current, as: start)
        countdown.clock = .elapsed
        if case .running = current.phase { countdown.phase = .running(until: .elapsed(now.boot + remaining)) }
        return try adjust(countdown, by: wanted - remaining, at: now)
    }

    /// The countdown with the label and the metadata of a start, if they are given.
    private func annotated(_ current: KeyedCountdown, as start: Request.Start) throws(Refusal) -> KeyedCountdown {
        var countdown = current
        countdown.annotations = Annotations(
            label: start.label ?? current.label,
            metadata: start.metadata ?? current.metadata
        )
        try checkRoom(for: countdown.annotations, instead: current.annotations)
        return countdown
    }

    // MARK: Adjust

    private func adjust(_ current: KeyedCountdown, by addition: Duration, at now: Now) throws(Refusal) -> Decision {
        var countdown = current
        let before = current.remaining(at: now)
        let remaining = before + addition
        guard remaining <= limits.longestDuration, now.wall + remaining <= limits.latest else {
            throw .outOfRange(.adjustment)
        }
        guard remaining > .zero else {
            countdown.duration = duration(current, by: .zero - before, leaving: .zero)
            return change(countdown, .finished, to: .finished(at: now.wall, late: .zero))
        }
        countdown.duration = duration(current, by: addition, leaving: remaining)
        if case .running(let deadline) = current.phase {
            return change(countdown, .adjusted, to: .running(until: deadline.moved(by: addition)))
        }
        return change(countdown, .adjusted, to: .paused(remaining: remaining))
    }

    private func adjust(_ current: KeyedCountdown, to instant: WallInstant, at now: Now) throws(Refusal) -> Decision {
        guard case .running = current.phase else { throw .wrongState(current) }
        try checkAhead(instant, at: now)
        var countdown = current
        let remaining = instant - now.wall
        countdown.clock = .wall
        countdown.duration = duration(current, by: remaining - current.remaining(at: now), leaving: remaining)
        return change(countdown, .adjusted, to: .running(until: .wall(instant)))
    }

    /// The duration after an addition: never less than the remaining time, so that the progress stays between 0 and 1.
    private func duration(_ current: KeyedCountdown, by addition: Duration, leaving remaining: Duration) -> Duration {
        let least = max(remaining, Duration(microseconds: 1))
        let most = Duration(microseconds: limits.latest.microseconds)
        return min(max(least, current.duration + addition), most)
    }

    // MARK: Checks

    private func checkAhead(_ instant: WallInstant, at now: Now) throws(Refusal) {
        guard instant > now.wall, instant - now.wall <= limits.longestDuration, instant <= limits.latest else {
            throw .outOfRange(.deadline)
        }
    }

    private func live(_ key: Key, ifRevision revision: Revision?) throws(Refusal) -> KeyedCountdown {
        guard let countdown = countdown(under: key) else { throw .noSuchCountdown(key) }
        if let revision, revision != countdown.revision { throw .revisionMismatch(countdown) }
        guard countdown.isLive else { throw .wrongState(countdown) }
        return countdown
    }

    private func change(_ current: KeyedCountdown, _ kind: Change.Kind, to phase: Phase) -> Decision {
        var countdown = current
        countdown.phase = phase
        countdown.revision = revision.next
        return .change(Change(kind: kind, countdown: countdown, replaced: current.revision))
    }
}
