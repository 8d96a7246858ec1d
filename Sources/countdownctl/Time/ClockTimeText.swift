/// A point in time as it is typed: `17:30`, `tomorrow 9:00`, `today 17:30`, ISO 8601 with or without an offset, and
/// `@` with the seconds since 1970.
struct ClockTimeText {
    /// Microseconds since 1970.
    let now: Int64
    let zone: any Zone

    /// The instant that is meant, which lies ahead.
    ///
    /// - Throws: what is wrong with the text.
    func parse(_ text: String) throws(ClockTimeInvalid) -> ClockTime {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        let found = try point(&scanner, text)
        scanner.skipSpaces()
        guard scanner.isAtEnd else { throw notATime(text) }
        return try ahead(found, text)
    }

    private func point(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeInvalid) -> TypedTime {
        if scanner.skip("@") {
            guard let seconds = scanner.decimal(), seconds.digits <= TextScanner.digitLimit else {
                throw .notAnEpoch(text)
            }
            return .instant(seconds.times(1_000_000))
        }
        switch scanner.word() {
        case "": break
        case "today": return .onDay(try timeOfDay(&scanner, text))
        case "tomorrow": return .onDay(try timeOfDay(&scanner, text).adding(days: 1))
        default: throw notATime(text)
        }
        var dated = scanner
        if let date = ISO8601Text.date(&dated) {
            scanner = dated
            return try ISO8601Text.time(&scanner, on: date, text)
        }
        return .next(try timeOfDay(&scanner, text))
    }

    /// `9:00` or `9:00:30`, on the day that it is now.
    private func timeOfDay(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeInvalid) -> CivilTime {
        scanner.skipSpaces()
        guard let hour = scanner.integer(digits: 1...2), scanner.skip(":"),
            let minute = scanner.integer(digits: 2...2)
        else { throw notATime(text) }
        var time = zone.civilTime(at: now.wholeSeconds)
        time.hour = Int(hour)
        time.minute = Int(minute)
        time.second = 0
        if scanner.skip(":") {
            guard let second = scanner.integer(digits: 2...2) else { throw notATime(text) }
            time.second = Int(second)
        }
        guard time.exists else { throw .noSuchTime(text) }
        return time
    }

    private func notATime(_ text: String) -> ClockTimeInvalid {
        DurationText.isMeant(by: text) ? .isDuration(text) : .notATime(text)
    }

    /// The instant that a time names, if it lies ahead.
    private func ahead(_ typed: TypedTime, _ text: String) throws(ClockTimeInvalid) -> ClockTime {
        switch typed {
        case .instant(let microseconds):
            guard microseconds > now else { throw .passed(text) }
            guard let instant = Int64(exactly: microseconds), instant - now <= DurationText.longest else {
                throw .tooFar(text)
            }
            return ClockTime(instant: instant)
        case .onDay(let time):
            guard let found = soonest(time) else { throw .passed(text) }
            guard found.instant - now <= DurationText.longest else { throw .tooFar(text) }
            return found
        case .next(let time):
            if let today = soonest(time) { return today }
            guard var tomorrow = soonest(time.adding(days: 1)) else { throw .passed(text) }
            tomorrow.notes.insert(.passedToday, at: 0)
            return tomorrow
        }
    }

    /// The first instant ahead at which the clocks show a time.
    private func soonest(_ time: CivilTime) -> ClockTime? {
        let found: ClockTime
        switch zone.instants(of: time) {
        case .once(let seconds): found = ClockTime(seconds: seconds)
        case .never(let seconds): found = ClockTime(seconds: seconds, notes: [.skipped])
        case .twice(let first, let second):
            let first = ClockTime(seconds: first, notes: [.firstOfTwo])
            found = first.instant > now ? first : ClockTime(seconds: second, notes: [.secondOfTwo])
        }
        return found.instant > now ? found : nil
    }
}

/// What was typed, before it is known when that is.
enum TypedTime {
    /// Microseconds since 1970.
    case instant(Int128)
    /// A time of a day that was named.
    case onDay(CivilTime)
    /// A time of day, today's first.
    case next(CivilTime)
}

/// A point in time that was typed, and what is to be said about it.
struct ClockTime: Equatable {
    /// Microseconds since 1970.
    let instant: Int64
    var notes: [Note] = []

    enum Note: Equatable {
        /// The time has passed today, so it is tomorrow's.
        case passedToday
        /// Clocks are put forward over it.
        case skipped
        /// Clocks are put back, and show it twice.
        case firstOfTwo
        case secondOfTwo
    }
}

extension ClockTime {
    fileprivate init(seconds: Int64, notes: [Note] = []) {
        self.init(instant: seconds * 1_000_000, notes: notes)
    }
}

extension Int64 {
    /// The whole seconds in so many microseconds, those before 1970 counted down.
    var wholeSeconds: Int64 { self / 1_000_000 - (self % 1_000_000 < 0 ? 1 : 0) }

    /// This minus another number, or the largest or smallest number if that does not fit: the daemon of another machine
    /// can answer any number.
    func clampedDifference(from other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}
