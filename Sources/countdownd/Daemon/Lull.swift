import CountdownCore

/// The short while after a turn for which the daemon itself looks out for the next call, in place of libdispatch.
///
/// A client that calls, reads the answer and calls again is back within some 20 to 50 µs. Two threads of libdispatch
/// hand each of its calls over, which takes longer than all the rest; and to be woken up takes as long as to answer. So
/// while calls come as close together as that, the poller looks out for them, and does not sleep at once. Where they do
/// not, nothing is waited for, and nothing wakes up once more.
struct Lull {
    /// What the poller may do where nothing is ready.
    enum Patience {
        case none
        /// Wait for the shortest time that there is.
        case waiting
        /// Look again and again for a moment, then wait.
        case spinning
    }

    /// The longest that the poller waits.
    private static let longest = TimeSpan.milliseconds(1)
    /// Who was back within this is expected back within it: the poller spins for less.
    private static let moment = TimeSpan(microseconds: 150)

    private var lastCall: BootInstant?
    private(set) var patience = Patience.none

    /// Takes note of a turn, what it carried out, and the instant for which the alarm is armed after it.
    mutating func begin(at now: Now, calls: Int, next: WallInstant?) {
        patience = .none
        guard calls > 0 else { return }
        let pause = lastCall.map { now.boot - $0 }
        lastCall = now.boot
        // The alarm must not ring meanwhile; a wait may take longer than was asked for by a millisecond.
        let margin = TimeSpan(microseconds: 3 * Self.longest.microseconds)
        guard let pause, pause <= Self.longest, next.map({ $0 - now.wall > margin }) ?? true else { return }
        patience = pause <= Self.moment ? .spinning : .waiting
    }

    /// Takes note that nobody was back.
    mutating func end() {
        patience = .none
    }
}
