import IPC
import System

/// The texts of notifications.
struct Strings {
    /// From this lateness on, in microseconds, a notification says how late it is. A loaded machine takes less.
    static let reportedLateness: Int64 = 5_000_000

    /// Microseconds since 1970.
    let now: Int64
    /// The local date and time of an instant in microseconds since 1970: `2026-01-31 17:30`.
    let localMinute: (Int64) -> String

    init(now: Int64 = WallClock.now, localMinute: @escaping (Int64) -> String = WallClock.localMinute) {
        self.now = now
        self.localMinute = localMinute
    }

    /// The label, or the key if there is no label, in one line of characters that can be seen.
    ///
    /// A label is prose, so line breaks and tabs in it become spaces. Every other character that cannot be seen is written
    /// as an escape, as countdownctl does it. sd-bus refuses texts with noncharacters such as U+FFFF, which are among them.
    static func name(_ countdown: Countdown) -> String {
        let name = countdown.label.flatMap { $0.isEmpty ? nil : $0 } ?? countdown.key
        return PrintableText.escape(String(name.map { $0.isNewline || $0 == "\t" ? " " : $0 }))
    }

    /// `17:30`, with the date if it is not today.
    func time(_ instant: Int64) -> String {
        let (time, today) = (localMinute(instant), localMinute(now))
        return time.prefix(10) == today.prefix(10) ? String(time.dropFirst(11)) : time
    }

    /// `Ends at 17:30`, or `Paused`.
    func progress(_ countdown: Countdown) -> String {
        countdown.deadlineUSec.map { "Ends at \(time($0))" } ?? "Paused"
    }

    /// `Ends in 30 s`.
    func warning(_ countdown: Countdown) -> String {
        let (remaining, overflow) = (countdown.deadlineUSec ?? now).subtractingReportingOverflow(now)
        // A second that has begun counts whole.
        let seconds = overflow ? 0 : max(0, remaining / 1_000_000 + (remaining % 1_000_000 > 0 ? 1 : 0))
        return "Ends in \(ApproximateDuration.text(seconds * 1_000_000))"
    }

    /// `Ended at 17:30`, or `Ended at 17:30, shown 2 h 3 min late`.
    func end(_ countdown: Countdown) -> String {
        guard let ended = countdown.endedUSec else { return "Ended" }
        let (difference, overflow) = now.subtractingReportingOverflow(ended)
        let lateness = overflow ? 0 : difference
        let isLate = lateness >= Self.reportedLateness
        return "Ended at \(time(ended))" + (isLate ? ", shown \(ApproximateDuration.text(lateness)) late" : "")
    }
}
