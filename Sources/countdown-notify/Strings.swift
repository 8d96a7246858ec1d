import CLinux
import Glibc
import IPC
import System

/// What is said of countdowns.
struct Strings {
    /// Microseconds since 1970.
    let now: Int64
    /// The local date and time of so many microseconds since 1970: `2026-01-31 17:30`.
    let localMinute: (Int64) -> String

    /// From here on an ending is told late; what a loaded machine takes is not worth a word.
    static let lateness: Int64 = 5_000_000

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

    /// `17:30`, with the date where it is not today's.
    func time(_ instant: Int64) -> String {
        let (time, today) = (localMinute(instant), localMinute(now))
        return time.prefix(10) == today.prefix(10) ? String(time.dropFirst(11)) : time
    }

    /// `Ended at 17:30`; `Ended at 17:30, told 2 h 3 min late`.
    func ending(_ countdown: Countdown) -> String {
        guard let ended = countdown.endedUSec else { return "Ended" }
        let late = now - ended
        return "Ended at \(time(ended))" + (late < Self.lateness ? "" : ", told \(Self.length(late)) late")
    }

    /// A length as people say it, to two units: `7 s`, `12 min`, `2 h 3 min`, `3 d 4 h`.
    static func length(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60)
        if days > 0 { return hours > 0 ? "\(days) d \(hours) h" : "\(days) d" }
        if hours > 0 { return minutes > 0 ? "\(hours) h \(minutes) min" : "\(hours) h" }
        return minutes > 0 ? "\(minutes) min" : "\(seconds) s"
    }
}

/// The clock of the machine and the place.
enum WallClock {
    /// Microseconds since 1970.
    static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The local date and time to the minute, by the zone that is set now.
    static func localMinute(_ instant: Int64) -> String {
        tzset()
        return unsafe String(unsafeUninitializedCapacity: Int(LINUX_MINUTE_LENGTH)) {
            unsafe Int(linux_local_minute(time_t(instant / 1_000_000), $0.baseAddress))
        }
    }
}
