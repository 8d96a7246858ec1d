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
        func column(_ title: String, alignsRight: Bool = false, _ text: (Countdown) -> String) -> Table.Column {
            Table.Column(title: title, alignsRight: alignsRight, cells: countdowns.map { Table.Cell(text: text($0)) })
        }
        let states = countdowns.map { Table.Cell(text: $0.state.rawValue, tint: Palette.Tint($0.state)) }
        var table = Table(columns: [
            column("KEY") { PrintableText.escape($0.key) },
            Table.Column(title: "STATE", cells: states),
            column("REMAINING", alignsRight: true) { RemainingFormat.render($0.remainingUSec) },
            column("DURATION", alignsRight: true) { DurationFormat.rounded($0.durationUSec) },
            column("END") { ($0.endedUSec ?? $0.deadlineUSec).map(clock.render) ?? "-" },
            column("LABEL") { PrintableText.escape($0.label ?? "") },
        ])
        if let columns { table.narrow(to: columns, legend: legend, glyphs: glyphs, by: narrowing) }
        return table.lines(legend: legend, palette: palette)
    }
}

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
