import IPC
import System

/// What is said of countdowns in a line.
struct CountdownText {
    let clock: ClockText

    init(_ clock: ClockText = .local) { self.clock = clock }

    /// The key, with the label behind it where there is one.
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

    /// `4:12 left, ends 17:30:05`; of a paused one what is left alone.
    func remaining(_ countdown: Countdown) -> String {
        guard let deadline = countdown.deadlineUSec else { return left(countdown) }
        return "\(left(countdown)), ends \(clock.render(deadline))"
    }

    private func left(_ countdown: Countdown) -> String { "\(RemainingText.render(countdown.remainingUSec)) left" }

    private func ended(_ countdown: Countdown) -> String {
        countdown.endedUSec.map { " at \(clock.render($0))" } ?? ""
    }
}

extension ClockText {
    /// That of this place and this moment.
    static var local: ClockText { ClockText(zone: LocalZone(), now: wallClock()) }
}
