/// The state of a fleet under a key, as one of its hosts has decided it.
public enum RemoteState: Sendable {
    /// A countdown and the kind of its last change. The revision of the countdown means nothing here.
    ///
    /// `isSameRun` says whether the countdown that was last known here under the key has the same start.
    case countdown(KeyedCountdown, Change.Kind, isSameRun: Bool)
    /// No countdown.
    case absent(Key)
}

extension Timetable {
    /// Brings a key to the state that the fleet holds. It cannot fail.
    ///
    /// The changes get revisions of this timetable, and can be stored and published like the changes of a request.
    /// A countdown that starts after its deadline is finished at once. Countdowns that are due must have been expired first.
    ///
    /// - Parameters:
    ///   - state: the state.
    ///   - now: this instant.
    ///   - isFollowed: whether another state of the same run follows at once, so that this one is not finished.
    /// - Returns: the changes in their order; none if the end is known already, or if the start of an ended run never was.
    public mutating func applyRemote(_ state: RemoteState, at now: Now, isFollowed: Bool = false) -> [Change] {
        let (key, remote, kind, isSameRun): (Key, KeyedCountdown?, Change.Kind, Bool) =
            switch state {
            case .countdown(let countdown, let kind, let isSameRun): (countdown.key, countdown, kind, isSameRun)
            case .absent(let key): (key, nil, .cancelled, false)
            }
        var changes: [Change] = []
        let current = countdown(under: key).flatMap { $0.isLive ? $0 : nil }
        if let current {
            guard let remote else {
                let end = Phase.cancelled(at: now.wall, remaining: current.remaining(at: now))
                return [make(change(of: current, .cancelled, to: end))]
            }
            if isSameRun {
                changes.append(make(change(to: remote, kind, replaced: current.revision)))
            } else {
                changes.append(make(missedEnd(of: current, before: remote.started, at: now)))
            }
        }
        guard let remote, remote.isLive else { return changes }
        if current == nil || !isSameRun { changes.append(make(change(to: remote, .started, replaced: nil))) }
        guard case .running(let deadline) = remote.phase, deadline.remaining(at: now) <= .zero, !isFollowed,
            let started = changes.last?.countdown, let end = expiry(of: started, at: now)
        else { return changes }
        return changes + [make(end)]
    }

    private mutating func make(_ change: Change) -> Change {
        apply(change)
        return change
    }

    /// Makes the current revision the oldest one from which a watch can be resumed, because changes before it may be missing.
    public mutating func trimHistory() { oldestRevision = revision }

    private func change(of current: KeyedCountdown, _ kind: Change.Kind, to phase: Phase) -> Change {
        var countdown = current
        countdown.phase = phase
        return change(to: countdown, kind, replaced: current.revision)
    }

    private func change(to remote: KeyedCountdown, _ kind: Change.Kind, replaced: Revision?) -> Change {
        var countdown = remote
        countdown.revision = revision.next
        return Change(kind: announced(kind, of: countdown, replaced), countdown: countdown, replaced: replaced)
    }

    /// The kind that fits the state: only an end is announced as an end, and a key that is live is not started.
    private func announced(_ kind: Change.Kind, of countdown: KeyedCountdown, _ replaced: Revision?) -> Change.Kind {
        switch (countdown.phase, kind) {
        case (.finished, _): .finished
        case (.cancelled, _): .cancelled
        case (_, .finished), (_, .cancelled): .adjusted
        case (_, .started) where replaced != nil: .restarted
        default: kind
        }
    }

    /// The end of a countdown that became known because its key has a newer run: its deadline, or the newer start if that is
    /// earlier.
    private func missedEnd(of current: KeyedCountdown, before start: WallInstant, at now: Now) -> Change {
        let latest = min(start, now.wall)
        if case .running(let deadline) = current.phase, deadline.wall(at: now) <= latest,
            let end = expiry(of: current, at: now)
        {
            return end
        }
        return change(of: current, .finished, to: .finished(at: latest, late: .zero))
    }
}

extension KeyedCountdown {
    /// The countdown as a fleet has it: without revision and lateness, and with its deadline on the system clock, whatever its own
    /// clock, so that it ends at the same instant on every host.
    public func shared(at now: Now) -> KeyedCountdown {
        var countdown = self
        countdown.revision = Revision(0)
        switch phase {
        case .running(let deadline): countdown.phase = .running(until: .wall(deadline.wall(at: now)))
        case .finished(let end, _): countdown.phase = .finished(at: end, late: .zero)
        case .paused, .cancelled: break
        }
        return countdown
    }

    /// Whether this countdown is the same as the fleet's countdown under its key, so that there is nothing to announce. If this
    /// countdown has finished at its deadline, it is the same as the running countdown with that deadline.
    public func isSame(as remote: KeyedCountdown) -> Bool {
        var remote = remote
        remote.revision = revision
        if case .finished(let end, _) = phase, remote.phase == .running(until: .wall(end)) { remote.phase = phase }
        return remote == self
    }
}
