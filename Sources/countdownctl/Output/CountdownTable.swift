import ArgumentParser
import IPC
import Text

/// Countdowns in the columns of `list`.
enum CountdownTable {
    /// The order in which columns are narrowed or dropped, the least important first.
    private static let narrowing: [Table.Narrowing] = [
        .cut("LABEL", least: 16), .leaveOut("DURATION"), .cut("LABEL", least: 8), .leaveOut("LABEL"),
        .leaveOut("STATE"), .cut("KEY", least: 8), .leaveOut("END"), .cut("KEY", least: 1),
    ]

    /// The lines, in the order of the countdowns; narrowed to `columns` if possible.
    static func lines(
        _ countdowns: [Countdown],
        clock: ClockText,
        legend: Bool,
        palette: Palette,
        columns: Int? = nil,
        glyphs: Glyphs = .blocks
    ) -> [String] {
        guard !countdowns.isEmpty else { return [] }
        var table = Table(columns: [
            Table.Column(title: "KEY"),
            Table.Column(title: "STATE"),
            Table.Column(title: "REMAINING", alignsRight: true),
            Table.Column(title: "DURATION", alignsRight: true),
            Table.Column(title: "END"),
            Table.Column(title: "LABEL"),
        ])
        for countdown in countdowns { table.append(row(countdown, clock)) }
        if let columns { table.narrow(to: columns, legend: legend, glyphs: glyphs, by: narrowing) }
        return table.lines(legend: legend, palette: palette)
    }

    private static func row(_ countdown: Countdown, _ clock: ClockText) -> [Table.Cell] {
        let end = (countdown.endedUSec ?? countdown.deadlineUSec).map(clock.render)
        return [
            Table.Cell(text: PrintableText.escape(countdown.key)),
            Table.Cell(text: countdown.state.rawValue, tint: Palette.Tint(countdown.state)),
            Table.Cell(text: RemainingFormat.render(countdown.remainingUSec)),
            Table.Cell(text: DurationFormat.render(countdown.durationUSec.roundedToTellingDigits)),
            Table.Cell(text: end ?? "-"),
            Table.Cell(text: PrintableText.escape(countdown.label ?? "")),
        ]
    }
}

extension Int64 {
    /// Microseconds rounded for people: to seconds from a minute on, to milliseconds from a second on.
    fileprivate var roundedToTellingDigits: Int64 {
        let digit: Int64 = self >= 60_000_000 ? 1_000_000 : self >= 1_000_000 ? 1_000 : 1
        let (sum, overflow) = addingReportingOverflow(digit / 2)
        return overflow ? self : sum / digit * digit
    }
}

/// The order of a list.
enum ListOrder: String, CaseIterable, ExpressibleByArgument {
    /// Running by deadline, then paused by remaining time, then ended, the latest end first.
    case end
    case key
    case remaining
    case duration
    case started
    case state

    /// Whether one comes before another; those that are alike go by their keys.
    func precedes(_ left: Countdown, _ right: Countdown) -> Bool {
        switch self {
        case .end: left.endsBefore(right)
        case .key: left.key < right.key
        case .remaining: (left.remainingUSec, left.key) < (right.remainingUSec, right.key)
        case .duration: (left.durationUSec, left.key) < (right.durationUSec, right.key)
        case .started: (left.startedUSec, left.key) < (right.startedUSec, right.key)
        case .state: (Self.rank(left.state), left.key) < (Self.rank(right.state), right.key)
        }
    }

    private static func rank(_ state: Countdown.State) -> Int { Countdown.State.allCases.firstIndex(of: state) ?? 0 }
}
