import IPC
import System
import Varlink

@testable import countdown_notify

/// A countdown that has ended, at an instant in microseconds.
func ended(
    _ key: String,
    revision: Int64 = 1,
    at instant: Int64 = 0,
    label: String? = nil,
    metadata: TextMap<String>? = nil
) -> Countdown {
    Countdown(
        key: key,
        state: .finished,
        clock: .elapsed,
        durationUSec: 300_000_000,
        remainingUSec: 0,
        startedUSec: 0,
        endedUSec: instant,
        label: label,
        metadata: metadata,
        revision: revision
    )
}

/// A running countdown of 100 s.
func running(_ key: String, remaining: Int64 = 100_000_000, isPaused: Bool = false) -> Countdown {
    Countdown(
        key: key,
        state: isPaused ? .paused : .running,
        clock: .elapsed,
        durationUSec: 100_000_000,
        remainingUSec: remaining,
        startedUSec: 0,
        deadlineUSec: isPaused ? nil : remaining,
        revision: 1
    )
}

/// The event that reports a countdown.
func event(_ type: Event.Kind, _ countdown: Countdown) -> Event {
    Event(
        type: type,
        revision: countdown.revision,
        key: countdown.key,
        remainingUSec: countdown.remainingUSec,
        countdown: countdown
    )
}

extension Strings {
    /// Strings at an instant in microseconds, in a time zone without an offset: `day 000000 12:34`.
    static func at(_ now: Int64) -> Strings {
        Strings(now: now) { instant in
            let minutes = instant / 60_000_000
            let clock = [minutes / 60 % 24, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
            return "day \(String(1_000_000 + minutes / 1_440).dropFirst()) \(clock.joined(separator: ":"))"
        }
    }
}

extension NotifierOptions {
    /// The options of a command line, without a file of defaults.
    static func parse(_ arguments: [String]) throws(Exit) -> NotifierCommand {
        try parse(arguments) { () throws(DefaultsFile.Invalid) in try DefaultsFile { _ in nil } }
    }
}

extension MethodCall {
    /// The texts of a Notify: summary and body.
    var texts: [String] {
        arguments.count == 8 ? arguments[3...4].compactMap { if case .string(let text) = $0 { text } else { nil } } : []
    }

    /// The names and titles of the actions of a Notify.
    var actions: [String] {
        guard arguments.count == 8, case .strings(let actions) = arguments[5] else { return [] }
        return actions
    }

    /// A hint of a Notify.
    func hint(_ name: String) -> BusValue? {
        guard arguments.count == 8, case .dictionary(let hints) = arguments[6] else { return nil }
        return hints.first { $0.name == name }?.value
    }
}
