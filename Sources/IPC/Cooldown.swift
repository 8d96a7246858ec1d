public import Varlink

extension Cooldown {
    /// A cooldown, which accepts one call per duration; or with `upTo` a rate, which accepts `upTo / duration` calls at once.
    ///
    /// - Parameters:
    ///   - key: the key of the countdown.
    ///   - duration: how long the countdown runs; nil for 60 s. A call that weighs more has a longer duration.
    ///   - upTo: the most that may remain, at least the duration; nil if only a key that is free is accepted.
    ///   - label: a text for people.
    ///   - metadata: values that the daemon only stores.
    ///   - forget: whether the daemon forgets the countdown at its end.
    public init(
        _ key: String,
        for duration: Duration? = nil,
        upTo: Duration? = nil,
        label: String? = nil,
        metadata: TextMap<String>? = nil,
        forget: Bool? = nil
    ) {
        self.init(
            key: key,
            durationUSec: duration?.microseconds,
            upToUSec: upTo?.microseconds,
            label: label,
            metadata: metadata,
            forget: forget
        )
    }
}
