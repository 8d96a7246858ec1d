import IPC
import System

/// A countdown as `show` prints it: a line for what it is, then a field a line.
struct CountdownDetails {
    let countdown: Countdown
    let clock: ClockText
    let palette: Palette

    var lines: [String] {
        let state = palette.paint(countdown.state.rawValue, Palette.Tint(countdown.state))
        return [palette.paint(CountdownText.name(countdown), .bold)]
            + fields(state).map { name, value in
                "\(String(repeating: " ", count: 9 - name.count))\(name): \(value)"
            }
    }

    private func fields(_ state: String) -> [(String, String)] {
        var fields = [
            ("State", state),
            ("Left", "\(RemainingText.render(countdown.remainingUSec)) of \(length)\(progress)"),
            ("Started", clock.render(countdown.startedUSec)),
        ]
        if let end = countdown.endedUSec {
            fields.append(("Ended", clock.render(end)))
        } else if let deadline = countdown.deadlineUSec {
            fields.append(("Ends", "\(clock.render(deadline))\(clockRule)"))
        }
        for (name, value) in (countdown.metadata ?? [:]).sorted(by: { $0.key < $1.key }) {
            fields.append(("Metadata", "\(PrintableText.escape(name))=\(PrintableText.escape(value))"))
        }
        if countdown.forget { fields.append(("Kept", "until its end only")) }
        fields.append(("Revision", "\(countdown.revision)"))
        return fields
    }

    private var length: String { LengthText.render(countdown.durationUSec) }

    private var progress: String {
        guard countdown.state != .finished, countdown.durationUSec > 0 else { return "" }
        return ", \(Int(countdown.progress * 100)) % gone"
    }

    /// What follows the system clock where it is set is worth a word; what does not is what one expects.
    private var clockRule: String { countdown.clock == .wall ? " by the system clock" : "" }
}

extension Countdown {
    /// From 0 at the beginning to 1 at the end.
    var progress: Double {
        guard durationUSec > 0 else { return 1 }
        return min(max(1 - Double(remainingUSec) / Double(durationUSec), 0), 1)
    }
}
