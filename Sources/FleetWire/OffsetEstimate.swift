/// An estimate of the engine's clock: the sample with the least error, which grows by 100 ppm of the sample's age.
/// Instants are microseconds.
public struct OffsetEstimate: Sendable {
    private struct Sample {
        var offset: Int64
        var error: Int64
        var at: Int64

        func error(at now: Int64) -> Int64 { error + max(0, now - at) / 10_000 }
    }

    /// Followers are notified if the offset moves by more than this, in microseconds.
    private static let tolerance: Int64 = 1_000

    private var best: Sample?
    private var told: Int64?
    /// Whether the best sample may be another engine's.
    private var isOutdated = false

    /// A clock that was never read.
    public init() {}

    /// Takes the engine's time that was read between two instants of the boot clock.
    ///
    /// - Returns: how far the offset has moved since it was returned last, if that is more than 1 ms, and 0 for the first
    ///   sample; otherwise nil.
    public mutating func add(engine: Int64, sent: Int64, received: Int64) -> Int64? {
        let halfTrip = max(0, received - sent) / 2
        let sample = Sample(offset: engine - (sent + halfTrip), error: halfTrip + 1, at: received)
        guard let held = best, let told else {
            best = sample
            told = sample.offset
            return 0
        }
        // If both cannot be right, the clock was set in between.
        let isStep = abs(sample.offset - held.offset) > sample.error + held.error(at: received)
        guard isStep || isOutdated || sample.error <= held.error(at: received) else { return nil }
        best = sample
        isOutdated = false
        let movement = sample.offset - told
        guard abs(movement) > Self.tolerance else { return nil }
        self.told = sample.offset
        return movement
    }

    /// The offset now; nil if no sample was taken.
    public func offset(at now: Int64) -> EngineOffset? {
        best.map { EngineOffset(engineLessBootUSec: $0.offset, errorUSec: $0.error(at: now)) }
    }

    /// The engine was lost: another one may answer next time, so the next sample counts whatever its error is.
    public mutating func invalidate() { isOutdated = true }
}
