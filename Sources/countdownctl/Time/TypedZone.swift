import Glibc
import System
import Text

/// A zone as it is typed behind a time: `UTC`, `+02:00`, `UTC-5`, `Europe/Berlin`.
enum TypedZone {
    /// Reads a zone; nil, with the place as it was, if none is next. An offset after an ISO date needs no UTC before it.
    static func read(
        _ scanner: inout TextScanner,
        _ text: String,
        isISO: Bool
    ) throws(ClockTimeError) -> (any Zone)? {
        let start = scanner
        if let (seconds, isShort) = try offset(&scanner, text) {
            guard isISO || seconds >= 0 && !isShort else {
                // `9:00-10:00` may be two times, and `+1` a guest.
                let reading = scanner.text(with: " UTC\(scanner.text(since: start))", since: start)
                throw .several(
                    text,
                    reason: "an offset needs UTC before it",
                    readings: [reading.substituting(" ", for: "  ")]
                )
            }
            return FixedZone(offset: seconds)
        }
        let word = scanner.word()
        if ["utc", "gmt"].contains(word.lowercased()) || word == "Z" || isISO && word == "z" {
            var ahead = scanner
            ahead.skipSpaces()
            guard let (seconds, _) = try offset(&ahead, text) else { return FixedZone(offset: 0) }
            scanner = ahead
            return FixedZone(offset: seconds)
        }
        if scanner.next == UInt8(ascii: "/"), areas.contains(word.lowercased()) {
            let rest = scanner.run { ShellWord.alphanumerics.contains($0) || "/_+-".utf8.contains($0) }
            guard let zone = NamedZone(word + rest) else {
                throw .invalid(
                    text,
                    "this machine has no zone file \(quoted(word + rest)); names are like Europe/Berlin"
                )
            }
            return zone
        }
        guard abbreviations.contains(word) || abbreviations.contains(word.uppercased()) && !words.contains(word) else {
            scanner = start
            return nil
        }
        throw .invalid(
            text,
            "\(quoted(word)) has several meanings; use a name such as Europe/Berlin, or UTC and an offset"
        )
    }

    /// Seconds east of UTC, and whether it is an hour alone.
    private static func offset(
        _ scanner: inout TextScanner,
        _ text: String
    ) throws(ClockTimeError) -> (seconds: Int64, isShort: Bool)? {
        var ahead = scanner
        guard let sign: Int64 = ahead.skip("+") ? 1 : ahead.skip("-") ? -1 : nil else { return nil }
        var (hours, minutes): (Int64, Int64) = (0, 0)
        var isShort = false
        if let run = ahead.integer(digits: 4...4) {
            (hours, minutes) = run.quotientAndRemainder(dividingBy: 100)
        } else {
            guard let run = ahead.integer(digits: 1...2) else { return nil }
            hours = run
            isShort = !ahead.skip(":")
            if !isShort {
                guard let run = ahead.integer(digits: 2...2) else { return nil }
                minutes = run
            }
        }
        guard ahead.isAtBoundary else { return nil }
        guard hours < 24, minutes < 60 else { throw .noSuchTime(text) }
        scanner = ahead
        return (sign * (hours * 3_600 + minutes * 60), isShort)
    }

    /// The areas of the names of the tz database.
    private static let areas: Set = [
        "africa", "america", "antarctica", "arctic", "asia", "atlantic", "australia", "brazil", "canada", "chile",
        "etc",
        "europe", "indian", "mexico", "pacific", "us",
    ]
    private static let abbreviations = Set(
        """
        ACDT ACST ADT AEDT AEST AET AKDT AKST ART AST AWST BRT BST CAT CDT CEST CET CST CT EAT EDT EEST EET EST ET HDT HKT \
        HST ICT IDT IST JST KST MDT MESZ MEZ MSK MST MT NDT NST NZDT NZST PDT PHT PKT PST PT SAST SGT SST WAT WEST WET WIB WIT
        """.split(separator: " ").map(String.init)
    )
    /// Words that are such an abbreviation only in capitals.
    private static let words: Set = [
        "art", "cat", "eat", "est", "et", "ist", "west", "West", "wet", "wit", "Wit", "Cat", "Art",
    ]
}

/// An offset from UTC in seconds.
struct FixedZone: Zone {
    let offset: Int64

    func civilTime(at seconds: Int64) -> CivilTime { CivilTime(secondsAtUTC: seconds + offset) }

    func instants(of time: CivilTime) -> CivilInstants { .once(time.secondsAtUTC - offset) }
}

/// A zone of the tz database. The C library knows one zone at a time, so it is set for each question.
struct NamedZone: Zone {
    private let path: String

    /// Nil if the machine has no file for it.
    init?(_ name: String) {
        path = "\(Environment.value(of: "TZDIR") ?? "/usr/share/zoneinfo")/\(name)"
        guard let bytes = try? StoredText.bytes(of: path, limit: 4), bytes.starts(with: "TZif".utf8) else { return nil }
    }

    func civilTime(at seconds: Int64) -> CivilTime { inside { $0.civilTime(at: seconds) } }

    func instants(of time: CivilTime) -> CivilInstants { inside { $0.instants(of: time) } }

    private func inside<Value>(_ body: (LocalZone) -> Value) -> Value {
        let before = unsafe getenv("TZ").map { unsafe String(cString: $0) }
        unsafe setenv("TZ", ":\(path)", 1)
        defer {
            if let before { unsafe setenv("TZ", before, 1) } else { unsafe unsetenv("TZ") }
            tzset()
        }
        return body(LocalZone())
    }
}
