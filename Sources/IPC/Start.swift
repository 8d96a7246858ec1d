import Varlink

extension Start {
    /// The call of a client, whose parameters have other types and the same order.
    init(
        _ key: String,
        _ duration: Duration?,
        _ deadline: Countdown.Instant?,
        _ ifRunning: IfRunning?,
        _ label: String?,
        _ metadata: TextMap<String>?,
        _ forget: Bool?,
        _ upTo: Duration?,
        _ maxDuration: Duration?,
        _ queueUpTo: Int64?
    ) {
        self.init(
            key: key,
            durationUSec: duration?.microseconds,
            deadlineUSec: deadline?.microseconds,
            ifRunning: ifRunning,
            label: label,
            metadata: metadata,
            forget: forget,
            upToUSec: upTo?.microseconds,
            maxDurationUSec: maxDuration?.microseconds,
            queueUpTo: queueUpTo
        )
    }
}
