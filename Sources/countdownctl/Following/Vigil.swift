import IPC

/// The keys whose ends are waited for, and what is known of them.
struct Vigil {
    private enum Knowledge {
        /// Nothing has been told yet.
        case nothing
        case alive(Countdown)
        case ended(CommandStatus)
    }

    /// The keys in the order in which they were typed, each once.
    let keys: [String]
    /// What is known under each of them.
    private var known: [String: Knowledge]
    /// The keys of which the watch that goes on has told something.
    private var heard: Set<String> = []
    /// The revision that an end has to be newer than, where the countdown is one that was started here.
    private var beginning: [String: Int64] = [:]

    init(_ keys: [String]) {
        var seen: Set<String> = []
        self.keys = keys.filter { seen.insert($0).inserted }
        known = Dictionary(uniqueKeysWithValues: self.keys.map { ($0, .nothing) })
    }

    /// Notes what has been told; whether that is an end that was waited for.
    mutating func take(_ event: Event) -> Bool {
        guard let key = event.key ?? event.countdown?.key, isOpen(key) else { return false }
        heard.insert(key)
        guard let countdown = event.countdown else {
            tick(key, event)
            return false
        }
        return take(countdown)
    }

    /// Notes a countdown as it is; whether it has ended and that was waited for.
    mutating func take(_ countdown: Countdown) -> Bool {
        guard isOpen(countdown.key), countdown.revision >= beginning[countdown.key] ?? 0 else { return false }
        heard.insert(countdown.key)
        switch countdown.state {
        case .running, .paused: known[countdown.key] = .alive(countdown)
        case .finished: known[countdown.key] = .ended(.success)
        case .cancelled: known[countdown.key] = .ended(.notRunning)
        }
        return !isOpen(countdown.key)
    }

    /// Notes that a countdown was started here, or found running: what ended before is another one's end.
    mutating func begin(_ countdown: Countdown) {
        beginning[countdown.key] = countdown.revision
        known[countdown.key] = .alive(countdown)
        heard.insert(countdown.key)
    }

    /// Notes that nothing is known under a key; whether there was a countdown, which ended and was forgotten.
    mutating func takeUnknown(_ key: String) -> Bool {
        let wasAlive = lastSeen(key) != nil
        known[key] = .ended(.unknownKey)
        return wasAlive
    }

    /// Notes that another watch begins, which has told nothing yet.
    mutating func beginWatch() { heard = [] }

    /// The keys of which the watch has told nothing; to be looked up once it has told all there is.
    var unheard: [String] { open.filter { !heard.contains($0) } }

    /// The keys that have not ended.
    var open: [String] { keys.filter(isOpen) }

    /// Whether there is a key that has not ended.
    var hasOpen: Bool { keys.contains(where: isOpen) }

    /// Whether one has ended whose end was waited for; that nothing is known under a key is no end.
    var hasEnd: Bool {
        keys.contains { key in
            guard case .ended(let status) = known[key] else { return false }
            return status != .unknownKey
        }
    }

    /// The countdown under a key as it was told last, where it had not ended.
    func lastSeen(_ key: String) -> Countdown? {
        guard case .alive(let countdown) = known[key] else { return nil }
        return countdown
    }

    /// The worst code of the keys that have ended.
    var status: CommandStatus {
        keys.reduce(.success) { worst, key in
            guard case .ended(let status) = known[key] else { return worst }
            return max(worst, status)
        }
    }

    private func isOpen(_ key: String) -> Bool {
        switch known[key] {
        case nil, .ended: false
        case .nothing, .alive: true
        }
    }

    private mutating func tick(_ key: String, _ event: Event) {
        guard var countdown = lastSeen(key), let remaining = event.remainingUSec else { return }
        countdown.remainingUSec = remaining
        known[key] = .alive(countdown)
    }
}
