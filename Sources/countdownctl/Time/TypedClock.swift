import Text

/// A time of day as it is typed: `17:30`, `5:30:15 pm`, `5pm`, `17 Uhr`, `17.30 Uhr`, `5点半`, `noon`, `midnight`.
struct TypedClock {
    /// From 0 to 24.
    var hour: Int
    var minute = 0
    var second = 0
    /// Of a second, in microseconds.
    var fraction: Int64 = 0
    /// For an hour that may be another one: the text with each of them.
    var readings: [String] = []
    /// For midnight: the text with the beginning and with the end of a day.
    var midnights: [String] = []
    /// Whether it is a word, such as noon.
    var isNamed = false
    private var isWrong = false

    init(hour: Int) { self.hour = hour }

    /// Whether a clock shows it; the end of the day is 24:00.
    var exists: Bool {
        !isWrong && minute < 60 && second < 60 && (hour < 24 || (hour, minute, second, fraction) == (24, 0, 0, 0))
    }

    /// Reads a time; nil, with the place as it was, if none is next. After a date the colon may be missing.
    static func read(_ scanner: inout TextScanner, isCompact: Bool) -> TypedClock? {
        var ahead = scanner
        guard let time = named(&ahead) ?? compact(&ahead, isCompact) ?? numbered(&ahead) else { return nil }
        // The Z of ISO 8601.
        guard ahead.isAtBoundary || ahead.next.map({ $0 | 0x20 == UInt8(ascii: "z") }) == true else { return nil }
        scanner = ahead
        return time
    }

    private static func named(_ scanner: inout TextScanner) -> TypedClock? {
        let start = scanner
        guard let hour = scanner.name({ names[$0.lowercased()] }) else { return nil }
        var time = TypedClock(hour: hour)
        time.isNamed = true
        if hour == 24 { time.midnights = ["0:00", "24:00"].map { scanner.text(with: $0, since: start) } }
        return time
    }

    /// `1730`, `173005`.
    private static func compact(_ scanner: inout TextScanner, _ isCompact: Bool) -> TypedClock? {
        guard isCompact, let run = scanner.integer(digits: 6...6) ?? scanner.integer(digits: 4...4).map({ $0 * 100 })
        else { return nil }
        var time = TypedClock(hour: Int(run / 10_000))
        (time.minute, time.second) = (Int(run / 100 % 100), Int(run % 100))
        time.readFraction(&scanner)
        return time
    }

    private static func numbered(_ scanner: inout TextScanner) -> TypedClock? {
        let start = scanner
        guard let hour = scanner.integer(digits: 1...2) else { return nil }
        var time = TypedClock(hour: Int(hour))
        var hasMinutes = scanner.skip(":")
        if hasMinutes {
            guard time.readMinutes(&scanner) else { return nil }
        } else {
            hasMinutes = time.readWithUnit(&scanner)
        }
        if time.readHalf(&scanner) { return time }
        if time.hour == 12, let hour = midday(&scanner) {
            // `12:00 midnight` may begin the day or end it, or have a label.
            if hour == 24 { time.readings = [scanner.text(with: "midnight", since: start)] }
            return time
        }
        if hasMinutes { return time }
        _ = scanner.skipWords("o'clock")
        guard time.hour <= 24,
            [nil, UInt8(ascii: " "), UInt8(ascii: ",")].contains(scanner.next) || scanner.isAtBoundary,
            !"-./:%+".utf8.contains(scanner.next ?? 0)
        else { return nil }
        let meanings = 1...12 ~= hour ? ["\(hour)am", "\(hour)pm"] : ["\(hour):00"]
        time.readings = meanings.map { scanner.text(with: $0, since: start) }
        return time
    }

    private mutating func readMinutes(_ scanner: inout TextScanner) -> Bool {
        guard let minute = scanner.integer(digits: 2...2) else { return false }
        self.minute = Int(minute)
        if scanner.skip(":") {
            guard let second = scanner.integer(digits: 2...2) else { return false }
            self.second = Int(second)
            readFraction(&scanner)
        }
        _ = scanner.skipWords("uhr")
        return true
    }

    private mutating func readFraction(_ scanner: inout TextScanner) {
        guard scanner.next == UInt8(ascii: "."), let part = scanner.decimal() else { return }
        fraction = Int64(part.times(1_000_000))
    }

    /// `17 Uhr`, `17 Uhr 30`, `17.30 Uhr`, `17点30分`, `5点半`; false, with the place as it was, for an hour alone.
    private mutating func readWithUnit(_ scanner: inout TextScanner) -> Bool {
        var ahead = scanner
        if ahead.skip("."), let minute = ahead.integer(digits: 2...2), ahead.skipWords("uhr") {
            (scanner, self.minute) = (ahead, Int(minute))
            return true
        }
        ahead = scanner
        let isGerman = ahead.skipWords("uhr")
        guard isGerman || ahead.name({ ["点", "點"].contains($0) ? true : nil }) != nil else { return false }
        scanner = ahead
        if isGerman { ahead.skipSpaces() }
        if ahead.skip(name: "半") {
            minute = 30
        } else if !isDay(ahead), let minute = ahead.integer(digits: 2...2), ahead.skip(name: "分") || ahead.isAtBoundary,
            ahead.next != UInt8(ascii: ":")
        {
            self.minute = Int(minute)
        } else {
            // An hour that only a clock of 24 hours has.
            return isGerman || !(1...12 ~= hour)
        }
        scanner = ahead
        return true
    }

    private func isDay(_ scanner: TextScanner) -> Bool {
        var ahead = scanner
        return TypedDay.read(&ahead) != nil
    }

    /// Reads am or pm.
    private mutating func readHalf(_ scanner: inout TextScanner) -> Bool {
        var ahead = scanner
        ahead.skipSpaces()
        let word = ahead.word().lowercased()
        let isDotted = ["a", "p"].contains(word) && ahead.skip(".") && ahead.skipWord("m")
        guard isDotted || ["am", "pm"].contains(word) else { return false }
        // `17:00 am Freitag`.
        if !(1...12 ~= hour), word == "am", !ahead.isAtEnd { return false }
        if isDotted { _ = ahead.skip(".") }
        scanner = ahead
        isWrong = !(1...12 ~= hour)
        hour = hour % 12 + (word.first == "p" ? 12 : 0)
        return true
    }

    /// The noon of `12 noon`.
    private static func midday(_ scanner: inout TextScanner) -> Int? {
        var ahead = scanner
        ahead.skipSpaces()
        guard let hour = ahead.name({ names[$0.lowercased()] }) else { return nil }
        scanner = ahead
        return hour
    }

    private static let names = [
        "noon": 12, "midday": 12, "mittag": 12, "mittags": 12, "中午": 12, "正午": 12, "midnight": 24, "mitternacht": 24,
        "午夜": 24,
    ]
}

/// A part of the day, by which an hour up to 12 is in the morning or in the evening.
enum PartOfDay: String {
    case morning
    case afternoon
    case evening
    case night

    var phrase: String { self == .night ? "at night" : "in the \(rawValue)" }

    /// The hour that is meant by an hour in this part; nil if it has none.
    func hour(_ hour: Int) -> Int? {
        switch (self, hour) {
        case (.morning, 0...11), (.afternoon, 12...18), (.evening, 16...24), (.night, 0...5), (.night, 20...24): hour
        case (.afternoon, 1...6), (.evening, 4...11), (.night, 8...11): hour + 12
        default: nil
        }
    }

    /// Reads it, and whether it says by itself that it belongs to a time.
    static func read(_ scanner: inout TextScanner) -> (part: PartOfDay, isAdverb: Bool)? {
        guard let word = scanner.name({ names[$0.lowercased()] == nil ? nil : $0.lowercased() }), let part = names[word]
        else { return nil }
        return (part, PartOfDay(rawValue: word) == nil)
    }

    private static let names: [String: PartOfDay] = [
        "morning": .morning, "morgens": .morning, "morgen": .morning, "früh": .morning, "vormittags": .morning,
        "vormittag": .morning, "早上": .morning, "上午": .morning, "凌晨": .morning, "afternoon": .afternoon,
        "nachmittags": .afternoon, "nachmittag": .afternoon, "下午": .afternoon, "evening": .evening, "abends": .evening,
        "abend": .evening, "晚上": .evening, "今晚": .evening, "night": .night, "nachts": .night, "nacht": .night,
    ]
}
