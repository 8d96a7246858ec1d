import Glibc

extension Client {
    /// An instant of the monotonic clock up to which a caller waits; setting the system clock does not move it.
    public struct Deadline: Sendable, Hashable {
        /// Microseconds of CLOCK_MONOTONIC.
        public let monotonicUSec: Int64

        public init(monotonicUSec: Int64) {
            self.monotonicUSec = monotonicUSec
        }

        /// So many microseconds from now; the past where it is negative.
        public static func after(microseconds: Int64) -> Deadline {
            let (sum, overflow) = now.addingReportingOverflow(microseconds)
            return Deadline(monotonicUSec: overflow ? .max : sum)
        }

        /// One that has passed: what is there is taken, nothing is waited for.
        public static let passed = Deadline(monotonicUSec: .min)

        /// How many microseconds remain until then, 0 where it has passed.
        public var remainingUSec: Int64 {
            let now = Deadline.now
            return monotonicUSec > now ? monotonicUSec - now : 0
        }

        /// How long poll(2) is to wait for it, in milliseconds.
        var pollTimeout: Int32 { Deadline.milliseconds(of: remainingUSec) }

        /// Whole milliseconds, rounded up, so that nobody is woken too early.
        static func milliseconds(of microseconds: Int64) -> Int32 {
            Int32(clamping: microseconds / 1000 + (microseconds % 1000 == 0 ? 0 : 1))
        }

        private static var now: Int64 {
            var time = timespec()
            unsafe clock_gettime(CLOCK_MONOTONIC, &time)
            return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
        }
    }
}
