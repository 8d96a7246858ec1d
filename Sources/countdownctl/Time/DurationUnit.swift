/// A unit of length that always has the same number of microseconds.
enum DurationUnit: Int64, CaseIterable {
    case microsecond = 1
    case millisecond = 1_000
    case second = 1_000_000
    case minute = 60_000_000
    case hour = 3_600_000_000
    case day = 86_400_000_000
    case week = 604_800_000_000

    /// Units that systemd.time(7) has, which are no fixed length; `M` is its month.
    static let ofCalendar: Set<String> = ["M", "month", "months", "y", "Y", "year", "years"]

    /// The unit of a name that systemd.time(7) gives it.
    init?(_ name: String) {
        guard let unit = Self.allCases.first(where: { $0.names.contains(name) }) else { return nil }
        self = unit
    }

    var microseconds: Int64 { rawValue }

    /// The shortest name.
    var symbol: String { names[0] }

    /// The units that somebody may mean who leaves one out behind this one: the next smaller one first.
    var smaller: [DurationUnit] {
        switch self {
        case .week: [.day, .hour]
        case .day: [.hour, .minute]
        case .hour: [.minute, .second]
        case .minute: [.second]
        case .second: [.millisecond]
        case .millisecond, .microsecond: [.microsecond]
        }
    }

    private var names: [String] {
        switch self {
        case .microsecond: ["us", "\u{B5}s", "\u{3BC}s", "usec"]
        case .millisecond: ["ms", "msec"]
        case .second: ["s", "sec", "second", "seconds"]
        case .minute: ["m", "min", "minute", "minutes"]
        case .hour: ["h", "hr", "hour", "hours"]
        case .day: ["d", "day", "days"]
        case .week: ["w", "week", "weeks"]
        }
    }
}
