import IPC
import System

/// Countdowns in columns, with a bar each where there is room. What matters least goes first: the label, the bar, the
/// end.
struct TablePicture {
    private static let widestBar = 24
    private static let narrowestBar = 8

    let countdowns: [Countdown]
    /// The key that is marked; nil for none.
    let selected: String?
    let canvas: Canvas

    var lines: [StyledLine] {
        guard !countdowns.isEmpty else { return [] }
        let columns = Columns(countdowns, on: canvas)
        guard columns.key > 0 else {
            return countdowns.map { StyledLine(RemainingText.render($0.remainingUSec), on: canvas) }
        }
        return countdowns.map { line($0, columns) }
    }

    private func line(_ countdown: Countdown, _ columns: Columns) -> StyledLine {
        let tint: Palette.Tint? = countdown.state == .paused ? .yellow : nil
        var line = StyledLine()
        let mark = canvas.glyphs == .ascii ? "> " : "› "
        line.append(countdown.key == selected ? mark : "  ", .bold, canvas.palette)
        line.append(canvas.fit(PrintableText.escape(countdown.key), columns: columns.key), tint, canvas.palette)
        let remaining = RemainingText.render(countdown.remainingUSec)
        line.pad(to: 2 + columns.key + 2 + columns.remaining - DisplayWidth.of(remaining))
        line.append(remaining, tint, canvas.palette)
        if columns.bar > 0 {
            let bar = ProgressBar(name: "", remaining: "", ending: "", progress: countdown.progress)
            line.append("  \(bar.bar(width: columns.bar, canvas.glyphs))", tint, canvas.palette)
        }
        if columns.ending > 0 { line.append("  \(Self.ending(countdown, canvas.clock))", tint, canvas.palette) }
        guard columns.label > 0, let label = countdown.label, !label.isEmpty else { return line }
        line.pad(to: columns.labelStart)
        line.append("  \(canvas.fit(PrintableText.escape(label), columns: columns.label))", .faint, canvas.palette)
        return line
    }

    fileprivate static func ending(_ countdown: Countdown, _ clock: ClockText) -> String {
        countdown.deadlineUSec.map(clock.render) ?? countdown.state.rawValue
    }

    /// How wide each column is, 0 where it is left out.
    private struct Columns {
        var key: Int
        let remaining: Int
        var bar = 0
        var ending = 0
        var label = 0
        /// Where the label begins.
        var labelStart: Int { 2 + key + 2 + remaining + (bar > 0 ? bar + 4 : 0) + (ending > 0 ? ending + 2 : 0) }

        init(_ countdowns: [Countdown], on canvas: Canvas) {
            func widest(_ text: (Countdown) -> String) -> Int {
                countdowns.reduce(0) { max($0, DisplayWidth.of(text($1))) }
            }
            remaining = widest { RemainingText.render($0.remainingUSec) }
            let ending = widest { TablePicture.ending($0, canvas.clock) }
            let label = widest { PrintableText.escape($0.label ?? "") }
            key = widest { PrintableText.escape($0.key) }
            key = min(key, max(canvas.columns - 4 - remaining - ending - 2, 8))
            key = max(min(key, canvas.columns - 4 - remaining), 0)
            var room = canvas.columns - 4 - key - remaining
            if room >= ending + 2 {
                self.ending = ending
                room -= ending + 2
            }
            let labelRoom = label > 0 ? min(label, 16) + 2 : 0
            if room >= TablePicture.narrowestBar + 4 {
                bar = max(min(room - 4 - labelRoom, TablePicture.widestBar), TablePicture.narrowestBar)
                room -= bar + 4
            }
            if label > 0, self.ending > 0, room >= 6 { self.label = min(label, room - 2) }
        }
    }
}
