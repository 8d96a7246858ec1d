/// A unit of length that always has the same number of microseconds.
///
/// The raw value is that number.
public enum DurationUnit: Int64, CaseIterable, Sendable {
    /// `us`.
    case microsecond = 1
    /// `ms`.
    case millisecond = 1_000
    /// `s`.
    case second = 1_000_000
    /// `m`.
    case minute = 60_000_000
    /// `h`.
    case hour = 3_600_000_000
    /// `d`.
    case day = 86_400_000_000
    /// `w`.
    case week = 604_800_000_000

    /// Units that systemd.time(7) has, which are no fixed length; `M` is its month.
    static let ofCalendar: Set<String> = ["M", "month", "months", "y", "Y", "year", "years"]

    /// The unit of a name in English, German or Chinese. Names of one or two letters are lower case: `M` may be a month.
    public init?(_ name: String) {
        let name = name.utf8.count > 2 ? name.lowercased() : name
        guard let unit = Self.allCases.first(where: { $0.names.contains(name) }) else { return nil }
        self = unit
    }

    /// The unit in microseconds.
    public var microseconds: Int64 { rawValue }

    /// The shortest name.
    public var symbol: String { names[0] }

    /// The units that may be missing after this one, the next smaller one first.
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
        case .microsecond: ["us", "\u{B5}s", "\u{3BC}s", "usec", "microsecond", "microseconds", "微秒"]
        case .millisecond: ["ms", "msec", "millisecond", "milliseconds", "millisekunde", "millisekunden", "毫秒"]
        case .second: ["s", "sec", "secs", "second", "seconds", "sek", "sekunde", "sekunden", "秒", "秒钟", "秒鐘"]
        case .minute: ["m", "min", "mins", "minute", "minutes", "minuten", "分", "分钟", "分鐘"]
        case .hour: ["h", "hr", "hrs", "hour", "hours", "std", "stunde", "stunden", "小时", "小時", "钟头", "鐘頭"]
        case .day: ["d", "day", "days", "tag", "tage", "tagen", "天"]
        case .week: ["w", "week", "weeks", "woche", "wochen", "周", "週", "星期", "礼拜", "禮拜"]
        }
    }
}
