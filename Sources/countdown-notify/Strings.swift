import IPC
import System
import Text
import Varlink

/// The texts of notifications, in the language of the user if there are translations.
struct Strings {
    /// From this lateness on, in microseconds, a notification says how late it is. A loaded machine takes less.
    static let reportedLateness: Int64 = 5_000_000

    /// Microseconds since 1970.
    var now = WallClock.now
    /// The local date and time of an instant in microseconds since 1970: `2026-01-31 17:30`.
    var localMinute: (Int64) -> String = WallClock.localMinute
    /// The duration of the button that adds time, in microseconds.
    var snoozeUSec = AnnouncementRules().snoozeUSec
    /// Nil for English.
    var translations: Translations?

    /// A text with its values.
    func text(_ message: Message, _ values: String...) -> String {
        Self.fill(translations?.translation(of: message.rawValue) ?? message.rawValue, values)
    }

    /// A text for a number.
    func text(_ message: CountedMessage, _ number: Int) -> String {
        let (singular, plural) = (message.rawValue, message.plural)
        let format =
            translations?.translation(of: singular, plural: plural, number: number) ?? (number == 1 ? singular : plural)
        return Self.fill(format, ["\(number)"])
    }

    /// Puts values in the places of `%s`, `%d` and `%1$s`. Other characters, and places without a value, stay.
    static func fill(_ format: String, _ values: [String]) -> String {
        var result = ""
        var rest = format[...]
        var next = 0
        while let sign = rest.firstIndex(of: "%") {
            result += rest[..<sign]
            rest = rest[sign...]
            guard let (length, number) = place(rest), values.indices.contains(number ?? next) else {
                result.append(rest.removeFirst())
                continue
            }
            result += values[number ?? next]
            next += 1
            rest = rest.dropFirst(length)
        }
        return result + rest
    }

    /// The length of the place at the beginning of a text, and the index of its value if it names one; nil if the text does
    /// not begin with a place.
    private static func place(_ text: Substring) -> (length: Int, index: Int?)? {
        if text.hasPrefix("%s") || text.hasPrefix("%d") { return (2, nil) }
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), text.dropFirst(1 + digits.count).hasPrefix("$s") else { return nil }
        return (digits.count + 3, number - 1)
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

    /// `2 h 3 min`.
    func duration(_ microseconds: Int64) -> String {
        ApproximateDuration.parts(microseconds).map { number, unit in
            switch unit {
            case .day: text(.days, "\(number)")
            case .hour: text(.hours, "\(number)")
            case .minute: text(.minutes, "\(number)")
            case .second: text(.seconds, "\(number)")
            case .millisecond: text(.milliseconds, "\(number)")
            }
        }.joined(separator: " ")
    }

    /// `Ends at 17:30`, or `Paused`.
    func progress(_ countdown: Countdown) -> String {
        countdown.deadlineUSec.map { text(.endsAt, time($0)) } ?? text(.paused)
    }

    /// `Ends in 30 s`.
    func warning(_ countdown: Countdown) -> String {
        let (remaining, overflow) = (countdown.deadlineUSec ?? now).subtractingReportingOverflow(now)
        // A second that has begun counts whole.
        let seconds = overflow ? 0 : max(0, remaining / 1_000_000 + (remaining % 1_000_000 > 0 ? 1 : 0))
        return text(.endsIn, duration(seconds * 1_000_000))
    }

    /// `Ended at 17:30`, or `Ended at 17:30, shown 2 h 3 min late`, or why a change could not be undone.
    func end(_ countdown: Countdown) -> String {
        if let failure = countdown.undoFailure { return text(.notUndone, PrintableText.escape(failure)) }
        guard let ended = countdown.endedUSec else { return text(.ended) }
        let (difference, overflow) = now.subtractingReportingOverflow(ended)
        let lateness = overflow ? 0 : difference
        guard lateness >= Self.reportedLateness else { return text(.endedAt, time(ended)) }
        return text(.endedAtShownLate, time(ended), duration(lateness))
    }

    /// Why an action failed. Errors that only a broken or newer daemon makes are in English.
    func reason(_ error: ClientError) -> String {
        switch error {
        case .unreachable(let path, let code):
            text(.noDaemon, PrintableText.escape(path), systemMessage(code))
        case .disconnected: text(.disconnected)
        case .failed(let code): text(.connectionFailed, systemMessage(code))
        case .countdown(.limitReached(let limit, let maximum)): text(.limitReached, limit, "\(maximum)")
        case .countdown(.storageFailed(let reason)): text(.storageFailed, PrintableText.escape(reason))
        case .countdown(.unreachable(let reason)): text(.noFleet, PrintableText.escape(reason))
        case .countdown(let error): text(.refused, error.name.rawValue)
        case .service(.permissionDenied): text(.permissionDenied)
        case .service(let error): text(.refused, "\(error)")
        case .address, .cancelled, .callTooLong, .unknownError, .protocolViolation, .invalidReply: "\(error)"
        }
    }

    private func systemMessage(_ code: Int32) -> String {
        translations?.systemMessage(code) ?? System.systemMessage(code)
    }
}

extension Translations {
    /// The translations that are installed; nil if there are none.
    static var installed: Translations? { folder().map { Translations(domain: "countdownd", folder: $0) } }
}

extension Countdown {
    /// Why an undo failed, for which `countdownctl undo-service` started this countdown; nil for any other countdown.
    var undoFailure: String? { metadata?["undo-failure"] }
}
