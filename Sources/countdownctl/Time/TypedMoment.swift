import Text

/// The pieces of a point in time: a day, a time of day, a part of the day and a zone, each at most once and in any order.
struct TypedMoment {
    private(set) var day: TypedDay?
    private(set) var zone: (any Zone)?
    private var time: TypedClock?
    private var part: PartOfDay?
    private var isISO = false

    /// Words before a piece.
    static let links: Set = ["at", "on", "in", "the", "this", "um", "am", "den", "dem", "der"]

    init(day: TypedDay?) { self.day = day }

    /// Whether a text behind a time begins with another piece. The name of a time, such as midnight, begins a label.
    static func canGoOn(with text: String) -> Bool {
        var scanner = TextScanner(text)
        var moment = TypedMoment(day: nil)
        if (try? moment.readPiece(&scanner, text)) != nil { return moment.time?.isNamed != true }
        // Zones are pieces only behind a time.
        scanner = TextScanner(text)
        moment.time = TypedClock(hour: 0)
        do throws(ClockTimeError) {
            try moment.readPiece(&scanner, text)
            return true
        } catch {
            if case .notATime = error { return false }
            if case .isDuration = error { return false }
            return true
        }
    }

    /// Whether a text begins with the name of a day, or with words before one.
    static func beginsWithWeekday(_ text: String) -> Bool {
        var scanner = TextScanner(text)
        _ = TypedMoment(day: nil).skipLinks(&scanner)
        return TypedDay.weekday(&scanner) != nil
    }

    /// Reads the next piece.
    mutating func readPiece(_ scanner: inout TextScanner, _ text: String) throws(ClockTimeError) {
        let isLinked = skipLinks(&scanner)
        let start = scanner
        try refuseNext(scanner, text)
        if isLinked { try refuseOrdinal(scanner, text) }
        if day == nil, let found = TypedDay.read(&scanner) {
            (day, isISO) = (found, found.isDate)
            if scanner.skip("T") || scanner.skip("t"), scanner.isAtEnd { throw notATime(text) }
        } else if scanner.skipWord("tonight") {
            guard day == nil, part == nil else { throw notATime(text) }
            (day, part) = (.later(0), .evening)
        } else if time == nil, let found = TypedClock.read(&scanner, isCompact: isISO) {
            time = found
        } else if part == nil, let found = PartOfDay.read(&scanner) {
            guard isLinked || time == nil || day != nil || found.isAdverb else {
                let reading = scanner.text(with: found.part.phrase, since: start)
                throw .several(text, reason: "a part of the day or a label", readings: [reading])
            }
            part = found.part
        } else if zone == nil, time != nil || day != nil, let found = try TypedZone.read(&scanner, text, isISO: isISO) {
            zone = found
        } else {
            throw notATime(text)
        }
    }

    /// The time of day in hours from 0 to 24, if a clock has it.
    func timeOfDay(_ text: String) throws(ClockTimeError) -> TypedClock {
        guard var time else {
            guard let day, part == nil else { throw notATime(text) }
            if day.isDate { return TypedClock(hour: 0) }
            throw .incomplete(text, reason: "missing time of day", readings: ["\(text) 9:00"])
        }
        if let part {
            guard let hour = part.hour(time.hour), part != .night || hour >= 12 || day == nil else {
                throw .invalid(text, "no such time \(part.phrase)")
            }
            time.hour = hour
        } else if !time.readings.isEmpty {
            let isNoon = time.hour == 12 && time.readings.count == 1
            throw .incomplete(text, reason: isNoon ? "12:00 is noon" : "missing minutes", readings: time.readings)
        }
        if !time.midnights.isEmpty, day != nil, part == nil {
            throw .several(text, reason: "midnight begins a day and ends it", readings: time.midnights)
        }
        guard time.exists else { throw .noSuchTime(text) }
        return time
    }

    private func skipLinks(_ scanner: inout TextScanner) -> Bool {
        var found = false
        while true {
            scanner.skipSpaces()
            _ = scanner.skip(",")
            scanner.skipSpaces()
            var ahead = scanner
            guard let word = ahead.name({ $0.lowercased() }), Self.links.contains(word), !ahead.isAtEnd else {
                return found
            }
            (scanner, found) = (ahead, true)
        }
    }

    /// `next Friday` is the coming one for some people and the one after it for others.
    private func refuseNext(_ scanner: TextScanner, _ text: String) throws(ClockTimeError) {
        var ahead = scanner
        guard
            let next = ahead.name({ ["next", "nächsten", "nächste", "下", "下个"].contains($0.lowercased()) ? $0 : nil })
        else { return }
        ahead.skipSpaces()
        let named = ahead
        if TypedDay.weekday(&ahead) != nil {
            let name = ahead.text(since: named)
            throw .several(
                text,
                reason: "\(quoted("\(next) \(name)")) is the coming one or the one after it",
                readings: [ahead.text(with: name, since: scanner)]
            )
        }
        if ahead.name({ ["week", "month", "year", "woche", "周", "星期", "月"].contains($0.lowercased()) ? true : nil })
            != nil
        {
            throw .invalid(text, "use a day, such as Friday or 24 December")
        }
    }

    /// `the 24th` may be of this month or the next.
    private func refuseOrdinal(_ scanner: TextScanner, _ text: String) throws(ClockTimeError) {
        var ahead = scanner
        guard TypedDay.read(&ahead) == nil, ahead.integer(digits: 1...2) != nil else { return }
        let before = ahead
        TypedDay.skipOrdinal(&ahead)
        guard ahead.text(since: before) != "", ahead.isAtBoundary else { return }
        throw .invalid(text, "missing month; use for example 24 December")
    }

    private func notATime(_ text: String) -> ClockTimeError {
        DurationParser.isMeant(by: text) ? .isDuration(text) : .notATime(text)
    }
}
