import IPC

/// The beat of a cursor that blinks: seen and unseen for as long as each other.
struct Blinking {
    /// About once a second, as terminals do.
    private static let interval: Int64 = 530_000

    private(set) var showsCursor = true
    /// When it is to change; nil where none blinks.
    private(set) var next: Client.Deadline?

    /// Whether there is a cursor to be seen.
    var isWanted = false {
        didSet { if isWanted != oldValue { begin() } }
    }

    /// Begins with a cursor that is seen, as it is after each key.
    mutating func begin() {
        showsCursor = true
        next = isWanted ? .after(microseconds: Self.interval) : nil
    }

    /// Changes where it is time.
    mutating func pass() {
        guard let next, next.remainingUSec == 0 else { return }
        showsCursor.toggle()
        self.next = .after(microseconds: Self.interval)
    }
}
