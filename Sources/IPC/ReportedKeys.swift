import Varlink

/// The keys of the countdowns that a watch has reported as running or paused. After the connection was lost, it knows
/// which of them the next one has not reported: a watch that resumes is not told of a countdown that ended and was
/// forgotten meanwhile. It does no I/O.
struct ReportedKeys {
    private var live: TextMap<Bool> = [:]
    private var unconfirmed: TextMap<Bool> = [:]

    /// Whether there are keys that this connection has not reported.
    var areUnconfirmed: Bool { !unconfirmed.isEmpty }

    /// Notes that the connection was lost.
    mutating func restart() { unconfirmed = live }

    /// Takes the events of the watch.
    mutating func receive(_ events: [Event]) {
        for event in events where event.type != .tick || areUnconfirmed {
            guard let key = event.key else { continue }
            unconfirmed[key] = nil
            switch event.type {
            case .finished, .cancelled: live[key] = nil
            default: if event.countdown != nil { live[key] = true }
            }
        }
    }

    /// Notes that a countdown is running or paused.
    mutating func confirm(_ key: String) { unconfirmed[key] = nil }

    /// Takes out the keys that are not confirmed.
    ///
    /// - Returns: them, in the order of their bytes.
    mutating func forget() -> [String] {
        let keys = unconfirmed.inOrder.map(\.key)
        for key in keys { live[key] = nil }
        unconfirmed = [:]
        return keys
    }
}
