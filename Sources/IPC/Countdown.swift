extension Countdown {
    /// From 0 at the beginning to 1 at the end.
    package var progress: Double {
        guard durationUSec > 0 else { return 1 }
        return min(max(1 - Double(remainingUSec) / Double(durationUSec), 0), 1)
    }

    /// How much has gone, from 0 to 100.
    package var percentGone: Int { Int((progress * 100).rounded(.down)) }
}
