import CountdownCore

/// How often durations were measured. It takes 6 KiB whatever is added, and adding takes a few instructions.
///
/// There are 16 buckets for each power of two, and one for each duration below 16 µs, so a quantile is at most a sixteenth
/// too great.
struct DurationHistogram {
    private static let bits = 4
    private static let bucketsOfPower = 1 << bits
    /// For these durations it is exact how many were at most as long, in microseconds.
    static let bounds: [Int64] = [100, 1_000, 10_000, 100_000, 500_000, 2_500_000]
    /// The last bucket has 2^53 µs and more.
    private static let buckets = (53 - bits + 2) * bucketsOfPower

    private var counts = [Int](repeating: 0, count: buckets)
    /// How many are longer than the bound before, and not longer than this one.
    private var boundCounts = [Int](repeating: 0, count: bounds.count)
    /// How many durations were added.
    private(set) var count = 0
    /// The sum of the durations.
    private(set) var sum = Duration.zero
    /// The greatest duration.
    private(set) var greatest = Duration.zero

    /// Adds a duration; a negative one counts as 0.
    mutating func add(_ duration: Duration) {
        let duration = max(duration, .zero)
        counts[min(Self.bucket(of: duration.microseconds), Self.buckets - 1)] += 1
        if let bound = Self.bounds.firstIndex(where: { duration.microseconds <= $0 }) { boundCounts[bound] += 1 }
        count += 1
        sum = Duration(microseconds: sum.microseconds &+ duration.microseconds)
        greatest = max(greatest, duration)
    }

    /// The least duration such that a part of the durations, given in percent, was no greater. It is 0 if none was added.
    func quantile(_ percent: Int) -> Duration {
        var missing = (count * percent + 99) / 100
        for (bucket, count) in counts.enumerated() where count > 0 {
            missing -= count
            if missing <= 0 { return min(Duration(microseconds: Self.upperBound(of: bucket)), greatest) }
        }
        return greatest
    }

    /// How many durations were at most as long as each bound.
    var counted: [(bound: Int64, count: Int)] {
        var sum = 0
        return zip(Self.bounds, boundCounts).map { bound, count in
            sum += count
            return (bound, sum)
        }
    }

    private static func bucket(of microseconds: Int64) -> Int {
        let value = Int(microseconds)
        guard value >= bucketsOfPower else { return value }
        let power = Int.bitWidth - 1 - value.leadingZeroBitCount
        return (power - bits + 1) * bucketsOfPower + (value >> (power - bits)) & (bucketsOfPower - 1)
    }

    /// The greatest value in a bucket.
    private static func upperBound(of bucket: Int) -> Int64 {
        guard bucket >= bucketsOfPower else { return Int64(bucket) }
        let shift = bucket / bucketsOfPower - 1
        return Int64((bucketsOfPower + bucket % bucketsOfPower + 1) << shift - 1)
    }
}
