import Text

/// A point in time as it is typed: `17:30`, `5:30 pm`, `tomorrow at 9:00`, `9am on Friday`, `24 Dec 18:00`,
/// `17:30 Europe/Berlin`, ISO 8601 with or without an offset, and `@` with the seconds since 1970.
struct ClockTimeParser {
    /// Microseconds since 1970.
    let now: Int64
    let zone: any Zone

    /// The instant that is meant, which lies ahead. The day may be known from other words. An error has only readings that are right.
    func parse(_ text: String, on day: TypedDay? = nil) throws(ClockTimeError) -> ClockTime {
        func right(_ readings: [String]) -> [String] { readings.filter { (try? read($0, on: day)) != nil } }
        do {
            return try read(text, on: day)
        } catch {
            switch error {
            case .several(_, let reason, let readings): throw .several(text, reason: reason, readings: right(readings))
            case .incomplete(_, let reason, let readings):
                throw .incomplete(text, reason: reason, readings: right(readings))
            default: throw error
            }
        }
    }

    private func read(_ text: String, on day: TypedDay?) throws(ClockTimeError) -> ClockTime {
        var scanner = TextScanner(text)
        scanner.skipSpaces()
        if scanner.skip("@") {
            guard let seconds = scanner.decimal(), seconds.digits <= TextScanner.digitLimit, scanner.isAtEnd else {
                throw .invalid(text, "@ takes the seconds since 1970, as in @1772355600")
            }
            return try ahead(seconds.times(1_000_000), text)
        }
        var moment = TypedMoment(day: day)
        repeat {
            try moment.readPiece(&scanner, text)
            scanner.skipSpaces()
        } while !scanner.isAtEnd
        return try ahead(moment, text)
    }

    /// The first instant ahead at which the clocks of its zone show the moment.
    private func ahead(_ moment: TypedMoment, _ text: String) throws(ClockTimeError) -> ClockTime {
        let zone = moment.zone ?? zone
        let time = try moment.timeOfDay(text)
        let today = zone.civilTime(at: now.wholeSeconds).date
        if case .later = moment.day {
            let here = self.zone.civilTime(at: now.wholeSeconds).date
            guard here == today else {
                throw .invalid(text, "it is another day there; use a date such as \(today.iso)")
            }
        }
        let days = (moment.day ?? .next).candidates(from: today)
        guard !days.isEmpty else { throw .noSuchTime(text) }
        for (number, day) in days.enumerated() {
            var civil = day.adding(days: time.hour / 24)
            (civil.hour, civil.minute, civil.second) = (time.hour % 24, time.minute, time.second)
            if var found = soonest(civil, time.fraction, in: zone) {
                if moment.day == nil, number == 1 { found.notes.insert(.passedToday, at: 0) }
                guard found.instant - now <= DurationParser.longest else { throw .tooFar(text) }
                return found
            }
            // A date that is today's is not next year's.
            if day == today, case .ofYear = moment.day { throw .passed(text) }
        }
        throw .passed(text)
    }

    private func ahead(_ microseconds: Int128, _ text: String) throws(ClockTimeError) -> ClockTime {
        guard microseconds > now else { throw .passed(text) }
        guard let instant = Int64(exactly: microseconds), instant - now <= DurationParser.longest else {
            throw .tooFar(text)
        }
        return ClockTime(instant: instant)
    }

    /// The first instant ahead at which the clocks show a time.
    private func soonest(_ time: CivilTime, _ fraction: Int64, in zone: any Zone) -> ClockTime? {
        func instant(_ seconds: Int64, _ notes: ClockTime.Note...) -> ClockTime {
            ClockTime(instant: seconds * 1_000_000 + fraction, notes: notes)
        }
        let found: ClockTime
        switch zone.instants(of: time) {
        case .once(let seconds): found = instant(seconds)
        case .never(let seconds): found = instant(seconds, .skipped)
        case .twice(let first, let second):
            let first = instant(first, .firstOfTwo)
            found = first.instant > now ? first : instant(second, .secondOfTwo)
        }
        return found.instant > now ? found : nil
    }
}

/// An instant that was typed, with notes on how it was understood.
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

extension Int64 {
    /// The whole seconds in a number of microseconds, rounded down.
    var wholeSeconds: Int64 { self / 1_000_000 - (self % 1_000_000 < 0 ? 1 : 0) }

    /// This minus another number, or the largest or smallest number if that does not fit: the daemon of another machine
    /// can answer any number.
    func clampedDifference(from other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (self < other ? .min : .max) : difference
    }
}

extension ClockTime.Note {
    func sentence(about text: String) -> String {
        switch self {
        case .passedToday: "\(quoted(text)) has passed today; using tomorrow"
        case .skipped: "\(quoted(text)) is skipped when the clocks go forward; using the time after the gap"
        case .firstOfTwo: "\(quoted(text)) occurs twice when the clocks go back; using the first"
        case .secondOfTwo: "\(quoted(text)) occurs twice when the clocks go back; using the second"
        }
    }
}
