import CountdownCore

/// Decides whether the loop polls for a moment before it sleeps.
///
/// A client that calls, reads the reply and calls again is back within some 20 to 50 µs. To be woken up takes as long as to
/// answer, so while calls come that close together the loop looks for the next one without sleeping.
struct BusyPoll {
    /// If the time between two calls was no longer than this, the next call is expected within the same time.
    private static let longestPause = Duration(microseconds: 150)

    private var lastCall: BootInstant?
    private(set) var isWorthwhile = false

    /// Notes an iteration of the loop, and how many calls it carried out.
    mutating func note(at instant: BootInstant, calls: Int) {
        isWorthwhile = false
        guard calls > 0 else { return }
        if let lastCall { isWorthwhile = instant - lastCall <= Self.longestPause }
        lastCall = instant
    }

    /// Notes that no call came while the loop polled.
    mutating func stop() { isWorthwhile = false }
}
