import CountdownControls
import IPC
import System
import Text

/// Countdowns in one line.
struct CountdownText {
    let clock: ClockText

    init(_ clock: ClockText = .local) { self.clock = clock }

    /// The key, followed by the label if there is one.
    static func name(_ countdown: Countdown) -> String {
        let key = PrintableText.escape(countdown.key)
        guard let label = countdown.label, !label.isEmpty else { return key }
        return "\(key) (\(PrintableText.escape(label)))"
    }

    /// `running, 4:12 left, ends 17:30:05`; `finished at 17:30:05`.
    func state(_ countdown: Countdown) -> String {
        switch countdown.state {
        case .running, .paused: "\(countdown.state.rawValue), \(remaining(countdown))"
        case .finished: "finished\(ended(countdown))"
        case .cancelled: "cancelled\(ended(countdown)), \(left(countdown))"
        }
    }

    /// `4:12 left, ends 17:30:05`; without an end if it is paused.
    func remaining(_ countdown: Countdown) -> String {
        guard let deadline = countdown.deadlineUSec else { return left(countdown) }
        return "\(left(countdown)), ends \(clock.render(deadline))"
    }

    private func left(_ countdown: Countdown) -> String { "\(RemainingFormat.render(countdown.remainingUSec)) left" }

    private func ended(_ countdown: Countdown) -> String {
        countdown.endedUSec.map { " at \(clock.render($0))" } ?? ""
    }
}

extension ClockText {
    /// An instant in the past, and how long it is ago: `17:30:05 (2m)`.
    func renderBeginning(_ instant: Int64) -> String {
        let duration = max(0, now.clampedDifference(from: instant)) / 1_000_000 * 1_000_000
        return "\(render(instant)) (\(DurationFormat.render(duration)))"
    }
}

/// An event in one line.
extension CountdownText {
    /// `tea: started, 5:00 left, ends 17:30:05`; nil for events that are not printed.
    func line(_ event: Event) -> String? {
        if event.type == .tick { return tick(event) }
        guard let countdown = event.countdown, let clause = clause(event, countdown) else { return nil }
        return "\(CountdownText.name(countdown)): \(clause)"
    }

    private func tick(_ event: Event) -> String? {
        guard let key = event.key, let remaining = event.remainingUSec else { return nil }
        return "\(PrintableText.escape(key)): \(RemainingFormat.render(remaining)) left"
    }

    private func clause(_ event: Event, _ countdown: Countdown) -> String? {
        switch event.type {
        case .attached: state(countdown)
        case .started, .restarted, .paused, .resumed: "\(event.type.rawValue), \(remaining(countdown))"
        case .adjusted where event.revision == nil: "the system clock was set, \(remaining(countdown))"
        case .adjusted: "adjusted, \(remaining(countdown))"
        case .finished: state(countdown) + late(event)
        case .cancelled: state(countdown)
        case .tick, .synced, .heartbeat: nil
        }
    }

    /// The lateness of the delivery, if it is at least a second.
    private func late(_ event: Event) -> String {
        guard let late = event.lateUSec, late >= 1_000_000 else { return "" }
        return ", delivered \(DurationFormat.render(late / 1_000_000 * 1_000_000)) late"
    }
}

/// Remaining time as timers show it: `0:07`, `4:59`, `1:02:03`, `3d 4:05:06`.
enum RemainingFormat {
    /// A second that has begun counts whole: a timer of five minutes shows 5:00 first, and 0:00 when it is over.
    static func render(_ microseconds: Int64) -> String { RemainingText.time(.microseconds(microseconds)) }

    /// The seconds of that text.
    static func seconds(_ microseconds: Int64) -> Int64 { RemainingText.seconds(.microseconds(microseconds)) }
}
