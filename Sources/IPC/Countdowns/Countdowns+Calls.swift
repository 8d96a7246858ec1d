/// The calls that a program makes most; ``Countdowns/call(_:)`` takes every other, with every parameter.
extension Countdowns {
    /// Starts a countdown, of 60 s where no length is given; one that is running or paused under the key is attached to,
    /// and not changed, unless `ifRunning` says otherwise.
    @discardableResult
    public func start(
        _ key: String,
        for length: Duration? = nil,
        ifRunning: IfRunning? = nil,
        label: String? = nil
    ) async throws -> Start.Reply {
        try await call(Start(key: key, durationUSec: length?.microseconds, ifRunning: ifRunning, label: label))
    }

    /// The countdown under a key; one that ended is told until it is trimmed.
    public func get(_ key: String) async throws -> Countdown {
        try await call(Get(key: key)).countdown
    }

    /// The countdowns that the call asks for; those that are running or paused where it asks for nothing.
    public func list(_ list: List = List()) async throws -> [Countdown] {
        try await call(streaming: list).flatMap(\.countdowns)
    }

    /// Ends a countdown before its deadline.
    @discardableResult
    public func cancel(_ key: String) async throws -> Countdown {
        try await call(Cancel(key: key)).countdown
    }

    /// Finishes a countdown now.
    @discardableResult
    public func finish(_ key: String) async throws -> Countdown {
        try await call(Finish(key: key)).countdown
    }

    /// Freezes the remaining time.
    @discardableResult
    public func pause(_ key: String) async throws -> Countdown {
        try await call(Pause(key: key)).countdown
    }

    /// Runs a paused countdown again, towards now plus what remained.
    @discardableResult
    public func resume(_ key: String) async throws -> Countdown {
        try await call(Resume(key: key)).countdown
    }

    /// Adds time, or takes it where it is below zero; where nothing would remain the countdown finishes now.
    @discardableResult
    public func adjust(_ key: String, by length: Duration) async throws -> Countdown {
        try await call(Adjust(key: key, byUSec: length.microseconds)).countdown
    }

    /// Waits until the countdown under a key has ended; not at all where it has, and is still known.
    @discardableResult
    public func wait(for key: String) async throws -> Countdown {
        try await call(Wait(key: key)).countdown
    }
}

extension Duration {
    /// Whole microseconds, rounded up; the nearest number where there are too many.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let rest = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(rest)
        guard overflow || overflowOfSum else { return sum }
        return seconds < 0 ? .min : .max
    }
}
