import CountdownCore

/// A timetable by the plainest means: a dictionary, an array, and integers.
struct Model {
    enum State {
        case running
        case paused
        case finished
        case cancelled
    }

    /// A countdown, with times in microseconds.
    struct Entry: Equatable {
        var state = State.running
        var isWall: Bool
        /// Running: when it ends, on its clock. Ended: when it did.
        var end: Int64
        /// Paused or cancelled: what is left.
        var rest: Int64 = 0
        var late: Int64 = 0
        var duration: Int64
        var started: Int64
        var label: String?
        var metadata: Metadata
        var forget: Bool
        var revision: Int64

        var isLive: Bool { state == .running || state == .paused }

        func remaining(_ now: Now) -> Int64 {
            guard state == .running else { return rest }
            return max(0, end - (isWall ? now.wall.microseconds : now.boot.microseconds))
        }

        /// When it ends, by the system clock.
        func wallEnd(_ now: Now) -> Int64 { isWall ? end : end + now.offset.microseconds }
    }

    enum Verdict: Equatable {
        case attached
        case waits
        case changed
        /// There is no room; how long until there is, in microseconds, or nil if that is unknown.
        case alreadyRunning(Int64?)
        case refused

        func agrees(with outcome: Turns.Outcome) -> Bool {
            switch (self, outcome) {
            case (.changed, .success(_?)), (.attached, .success(nil)), (.waits, .success(nil)): true
            case (.alreadyRunning(let wait), .failure(.alreadyRunning(_, let retryAfter))):
                wait == retryAfter?.microseconds
            case (.refused, .failure(.alreadyRunning)): false
            case (.refused, .failure): true
            default: false
            }
        }
    }

    private static let century: Int64 = 3_155_760_000_000_000

    let history: Int
    let historyAge: Int64
    let most: Int
    var revision: Int64 = 0
    var oldest: Int64 = 0
    var known: [Key: Entry] = [:]
    /// The kept ends, in the order of their revisions.
    var ended: [(key: Key, entry: Entry)] = []

    init(_ limits: Limits) {
        history = limits.history
        historyAge = limits.historyAge.microseconds
        most = limits.countdowns
    }

    var live: [Key: Entry] { known.filter { $0.value.isLive } }

    // MARK: Changes and time

    mutating func ask(_ request: Request, at now: Now) -> Verdict {
        switch request {
        case .start(let start): return begin(start, now)
        case .cancel(let key, let named):
            return change(key, named) { entry in
                (entry.state, entry.rest, entry.end) = (.cancelled, entry.remaining(now), now.wall.microseconds)
            }
        case .finish(let key, let named): return change(key, named) { $0.finish(now) }
        case .pause(let key, let named):
            return change(key, named, from: .running) { entry in
                (entry.state, entry.rest) = (.paused, entry.remaining(now))
            }
        case .resume(let key, let named):
            return change(key, named, from: .paused) { entry in
                (entry.state, entry.isWall, entry.end) = (.running, false, now.boot.microseconds + entry.rest)
                entry.rest = 0
            }
        case .adjust(let key, .by(let span), let named): return adjust(key, named, by: span.microseconds, now)
        case .adjust(let key, .to(let instant), let named): return adjust(key, named, to: instant.microseconds, now)
        }
    }

    private mutating func begin(_ start: Request.Start, _ now: Now) -> Verdict {
        let duration: Int64 =
            switch start.end ?? .after(.seconds(60)) {
            case .after(let span): span.microseconds
            case .at(let instant): instant.microseconds - now.wall.microseconds
            }
        var isWall = false
        if case .at = start.end { isWall = true }
        let addsOrWaits = start.ifLive == .extend || start.ifLive == .wait
        guard (1...Self.century).contains(duration), !(isWall && addsOrWaits),
            start.upTo.map({ addsOrWaits && duration <= $0.microseconds }) ?? true,
            start.maxDuration.map({ start.ifLive == .later && !isWall && duration <= $0.microseconds }) ?? true
        else { return .refused }
        if let entry = known[start.key], entry.isLive {
            let hasRoom = start.upTo.map { entry.remaining(now) + duration <= $0.microseconds }
            func alreadyRunning(_ wait: Int64) -> Verdict { .alreadyRunning(entry.state == .running ? wait : nil) }
            switch start.ifLive {
            case .attach: return .attached
            case .fail: return alreadyRunning(entry.remaining(now))
            case .wait where hasRoom != true: return .waits
            case .extend where hasRoom == false:
                return alreadyRunning(entry.remaining(now) + duration - (start.upTo?.microseconds ?? 0))
            case .extend, .wait:
                return adjust(start.key, nil, by: duration, now, label: start.label, metadata: start.metadata)
            case .later: return prolong(start, entry, duration, isWall, now)
            case .restart: break
            }
        } else if live.count >= most {
            return .refused
        }
        revision += 1
        known[start.key] = Entry(
            isWall: isWall,
            end: (isWall ? now.wall.microseconds : now.boot.microseconds) + duration,
            duration: duration,
            started: now.wall.microseconds,
            label: start.label,
            metadata: start.metadata ?? [:],
            forget: start.forget,
            revision: revision
        )
        return .changed
    }

    private mutating func prolong(
        _ start: Request.Start,
        _ before: Entry,
        _ duration: Int64,
        _ isWall: Bool,
        _ now: Now
    ) -> Verdict {
        let left = before.remaining(now)
        let ran = max(before.duration, left) - left
        let wanted = min(duration, start.maxDuration.map { $0.microseconds - ran } ?? .max)
        if isWall, before.state == .paused { return .refused }
        guard wanted > left else { return .attached }
        return change(start.key, nil) { entry in
            entry.label = start.label ?? entry.label
            entry.metadata = start.metadata ?? entry.metadata
            entry.isWall = isWall
            entry.duration = max(wanted, entry.duration + wanted - left)
            entry.rest = entry.state == .paused ? wanted : 0
            guard entry.state == .running else { return }
            entry.end = wanted + (isWall ? now.wall.microseconds : now.boot.microseconds)
        }
    }

    private mutating func adjust(
        _ key: Key,
        _ named: Revision?,
        by span: Int64,
        _ now: Now,
        label: String? = nil,
        metadata: Metadata? = nil
    ) -> Verdict {
        let left = (known[key]?.remaining(now) ?? 0) + span
        guard left <= Self.century else { return .refused }
        return change(key, named) { entry in
            entry.label = label ?? entry.label
            entry.metadata = metadata ?? entry.metadata
            guard left > 0 else {
                entry.duration = max(1, entry.duration - entry.remaining(now))
                return entry.finish(now)
            }
            entry.duration = max(left, entry.duration + span)
            if entry.state == .running { entry.end += span } else { entry.rest = left }
        }
    }

    private mutating func adjust(_ key: Key, _ named: Revision?, to instant: Int64, _ now: Now) -> Verdict {
        let left = instant - now.wall.microseconds
        guard (1...Self.century).contains(left) else { return .refused }
        return change(key, named, from: .running) { entry in
            entry.duration = max(left, entry.duration + left - entry.remaining(now))
            (entry.isWall, entry.end) = (true, instant)
        }
    }

    private mutating func change(
        _ key: Key,
        _ named: Revision?,
        from state: State? = nil,
        _ body: (inout Entry) -> Void
    ) -> Verdict {
        guard var entry = known[key], named.map({ $0.number == entry.revision }) ?? true, entry.isLive,
            state.map({ $0 == entry.state }) ?? true
        else { return .refused }
        body(&entry)
        revision += 1
        entry.revision = revision
        known[key] = entry
        guard !entry.isLive else { return .changed }
        if entry.forget {
            known[key] = ended.last { $0.key == key }?.entry
        } else {
            ended.append((key, entry))
        }
        return .changed
    }

    mutating func endDue(at now: Now) {
        let due = live.filter { $0.value.state == .running && $0.value.wallEnd(now) <= now.wall.microseconds }
        let order = due.sorted {
            ($0.value.wallEnd(now), $0.value.revision) < ($1.value.wallEnd(now), $1.value.revision)
        }
        for (key, _) in order {
            _ = change(key, nil) { entry in
                entry.late = now.wall.microseconds - entry.wallEnd(now)
                (entry.state, entry.end) = (.finished, entry.wallEnd(now))
            }
        }
    }

    mutating func compact(at now: Now) {
        while let (key, entry) = ended.first,
            ended.count > history || now.wall.microseconds - entry.end - entry.late > historyAge
        {
            ended.removeFirst()
            oldest = entry.revision
            if known[key]?.revision == entry.revision { known[key] = nil }
        }
    }
}

extension Model.Entry {
    fileprivate mutating func finish(_ now: Now) {
        (state, rest, late, end) = (.finished, 0, 0, now.wall.microseconds)
    }
}

// MARK: Observation

extension Model.Entry {
    func countdown(_ key: Key) -> KeyedCountdown {
        let (rest, late) = (Duration.microseconds(rest), Duration.microseconds(late))
        let phase: Phase =
            switch state {
            case .running where isWall: .running(until: .wall(WallInstant(microseconds: end)))
            case .running: .running(until: .elapsed(BootInstant(microseconds: end)))
            case .paused: .paused(remaining: rest)
            case .finished: .finished(at: WallInstant(microseconds: end), late: late)
            case .cancelled: .cancelled(at: WallInstant(microseconds: end), remaining: rest)
            }
        return KeyedCountdown(
            key: key,
            phase: phase,
            clock: isWall ? .wall : .elapsed,
            duration: .microseconds(duration),
            started: WallInstant(microseconds: started),
            label: label,
            metadata: metadata,
            forget: forget,
            revision: Revision(revision)
        )
    }
}

extension Model {
    func observation(at now: Now) -> Observation {
        let visited = live.map { $1.countdown($0) } + ended.map { $0.entry.countdown($0.key) }
        let keys = Set(visited.map(\.key))
        let running = live.filter { $0.value.state == .running }
        let order = running.sorted {
            ($0.value.wallEnd(now), $0.value.revision) < ($1.value.wallEnd(now), $1.value.revision)
        }
        return Observation(
            revision: Revision(revision),
            oldestRevision: Revision(oldest),
            live: live.count,
            running: running.count,
            paused: live.count - running.count,
            ended: ended.count,
            nextDeadline: running.map { $0.value.wallEnd(now) }.min().map { WallInstant(microseconds: $0) },
            visited: visited.sorted { $0.revision < $1.revision },
            found: keys.reduce(into: [:]) { found, key in found[key] = known[key]?.countdown(key) },
            endings: order.map(\.key)
        )
    }
}
