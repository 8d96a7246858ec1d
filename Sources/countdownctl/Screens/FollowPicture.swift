import IPC
import Text
import Varlink

/// The frame of followed countdowns: one as a bar, several as a table, with key hints below.
extension FollowScreen {
    func frame(on canvas: Canvas) -> Frame {
        guard isComplete else { return Frame() }
        var frame = picture(on: canvas)
        frame.lines = frame.lines.prefix(max(canvas.rows - 1, 1)) + [noteLine(on: canvas)]
        return frame
    }

    func remains(on canvas: Canvas) -> [StyledLine] {
        isComplete ? picture(on: canvas, showsSelection: false).lines : []
    }

    private func picture(on canvas: Canvas, showsSelection: Bool = true) -> Frame {
        if subject != .several {
            let lines = selection.map { BarPicture(countdown: $0, canvas: canvas).lines } ?? []
            return Frame(lines: lines, nextChange: selection?.nextSecond)
        }
        let (above, shown, below) = window(of: max(canvas.rows - 2, 1), around: showsSelection ? selection : nil)
        let table = TablePicture(countdowns: shown, selected: showsSelection ? selection?.key : nil, canvas: canvas)
        var lines = table.lines
        if above > 0 { lines.insert(StyledLine("\(above) above", .faint, on: canvas), at: 0) }
        if below > 0 { lines.append(StyledLine("and \(below) more", .faint, on: canvas)) }
        return Frame(lines: lines, nextChange: shown.compactMap(\.nextSecond).min())
    }

    /// The countdowns that fit, the selected one among them, and how many are above and below. With less than three rows, all
    /// are for countdowns.
    private func window(of rows: Int, around selection: Countdown?) -> (above: Int, shown: [Countdown], below: Int) {
        let count = countdowns.count
        if count <= rows { return (0, soonest(rows), 0) }
        let first = soonest(rows > 2 ? rows - 1 : rows)
        if selection.map({ selection in first.contains { $0.key == selection.key } }) ?? true {
            return (0, first, rows > 2 ? count - first.count : 0)
        }
        let all = soonest(count)
        let last = all.firstIndex { $0.key == selection?.key } ?? 0
        guard rows > 2 else { return (0, Array(all[...last].suffix(rows)), 0) }
        let isAtEnd = last == count - 1
        let shown = all[...last].suffix(isAtEnd ? rows - 1 : rows - 2)
        return (shown.startIndex, Array(shown), count - shown.endIndex)
    }

    private func noteLine(on canvas: Canvas) -> StyledLine {
        if isLost { return StyledLine(EventStream.lostSentence, .yellow, on: canvas) }
        switch note {
        case .question(let key):
            let name = PrintableText.escape(key)
            let question = "cancel \(canvas.glyphs.fit(name, columns: max(canvas.columns - 14, 1))) (y/n)?"
            return StyledLine(question, .bold, on: canvas)
        case .failure(let sentence): return StyledLine(sentence, .red, on: canvas)
        case .tooLittleLeft: return StyledLine("less than a minute is left; c cancels", .yellow, on: canvas)
        case nil: return StyledLine(canvas.hasKeys ? hints : [("ctrl-c", StyledLine.leaving)], on: canvas)
        }
    }

    /// The key hints, the most useful first.
    private var hints: [KeyHint] {
        guard let selection else { return [("", "nothing is running"), ("q", StyledLine.leaving)] }
        let space = selection.state == .paused ? "resume" : "pause"
        let hints = [("space", space), ("q", StyledLine.leaving), ("+/-", "a minute"), ("c", "cancel")]
        return subject == .several && countdowns.count > 1 ? hints + [("j/k", "select")] : hints
    }
}

extension Countdown {
    /// The microseconds until the remaining time has a whole second less; nil if it does not run on.
    fileprivate var nextSecond: Int64? {
        state == .running && remainingUSec > 0 ? (remainingUSec - 1) % 1_000_000 + 1 : nil
    }
}

/// A countdown as a bar: on one line if there is room, otherwise on up to three.
struct BarPicture {
    /// The shortest bar that says something beside its texts.
    private static let narrowest = 8
    private static let widest = 40

    let countdown: Countdown
    let canvas: Canvas

    var lines: [StyledLine] {
        let name = CountdownText.name(countdown)
        if let whole = bar(named: "\(name)  ") { return [whole] }
        let first = StyledLine(name, tint, on: canvas)
        if let second = bar(named: "") { return [first, second] }
        let width = min(canvas.columns - 2, Self.widest)
        let bare = width > 0 ? ProgressBar.text(countdown.progress, width: width, canvas.glyphs) : ""
        return [first, line("\(remaining)  \(ending)"), line(bare)]
    }

    private func line(_ text: String) -> StyledLine { StyledLine(text, tint, on: canvas) }

    /// The bar between its texts; nil if there is no room for it.
    private func bar(named name: String) -> StyledLine? {
        let room = canvas.columns - DisplayWidth.of(name) - DisplayWidth.of(remaining) - DisplayWidth.of(ending) - 6
        guard room >= Self.narrowest + (name.isEmpty ? 2 : 0) else { return nil }
        let bar = ProgressBar.text(countdown.progress, width: min(room, Self.widest), canvas.glyphs)
        return line("\(name)\(remaining)  \(bar)  \(ending)")
    }

    private var tint: Palette.Tint? { countdown.state == .paused ? .yellow : nil }

    private var remaining: String { RemainingFormat.render(countdown.remainingUSec) }

    private var ending: String {
        countdown.deadlineUSec.map { "ends \(canvas.clock.render($0))" } ?? countdown.state.rawValue
    }
}

/// Countdowns in columns, with a bar each. If there is no room, the label is dropped first, then the bar, then the end.
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
            return countdowns.map { StyledLine(RemainingFormat.render($0.remainingUSec), on: canvas) }
        }
        return countdowns.map { line($0, columns) }
    }

    private func line(_ countdown: Countdown, _ columns: Columns) -> StyledLine {
        let tint: Palette.Tint? = countdown.state == .paused ? .yellow : nil
        var line = StyledLine()
        let mark = canvas.glyphs == .ascii ? "> " : "› "
        line.append(countdown.key == selected ? mark : "  ", .bold, canvas.palette)
        line.append(canvas.glyphs.fit(PrintableText.escape(countdown.key), columns: columns.key), tint, canvas.palette)
        let remaining = RemainingFormat.render(countdown.remainingUSec)
        line.pad(to: 2 + columns.key + 2 + columns.remaining - DisplayWidth.of(remaining))
        line.append(remaining, tint, canvas.palette)
        if columns.bar > 0 {
            let bar = ProgressBar.text(countdown.progress, width: columns.bar, canvas.glyphs)
            line.append("  \(bar)", tint, canvas.palette)
        }
        if columns.ending > 0 { line.append("  \(Self.ending(countdown, canvas.clock))", tint, canvas.palette) }
        guard columns.label > 0, let label = countdown.label, !label.isEmpty else { return line }
        line.pad(to: columns.labelStart)
        let text = canvas.glyphs.fit(PrintableText.escape(label), columns: columns.label)
        line.append("  \(text)", .faint, canvas.palette)
        return line
    }

    fileprivate static func ending(_ countdown: Countdown, _ clock: ClockText) -> String {
        countdown.deadlineUSec.map(clock.render) ?? countdown.state.rawValue
    }

    /// The width of each column; 0 if it is left out.
    private struct Columns {
        var key: Int
        let remaining: Int
        var bar = 0
        var ending = 0
        var label = 0
        /// The column at which the label begins.
        var labelStart: Int { 2 + key + 2 + remaining + (bar > 0 ? bar + 4 : 0) + (ending > 0 ? ending + 2 : 0) }

        init(_ countdowns: [Countdown], on canvas: Canvas) {
            func widest(_ text: (Countdown) -> String) -> Int {
                countdowns.reduce(0) { max($0, DisplayWidth.of(text($1))) }
            }
            remaining = widest { RemainingFormat.render($0.remainingUSec) }
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

/// How far a countdown is, as a bar between brackets.
enum ProgressBar {
    /// A bar with `width` columns between its brackets; the progress is from 0 at the beginning to 1 at the end.
    static func text(_ progress: Double, width: Int, _ glyphs: Glyphs) -> String {
        let eighths = Int((progress * Double(width * 8)).rounded(.down))
        let full = eighths / 8
        switch glyphs {
        case .ascii:
            return "[\(String(repeating: "#", count: full))\(String(repeating: "-", count: width - full))]"
        case .blocks:
            let parts = ["", "\u{258F}", "\u{258E}", "\u{258D}", "\u{258C}", "\u{258B}", "\u{258A}", "\u{2589}"]
            let part = parts[eighths % 8]
            let rest = width - full - (part.isEmpty ? 0 : 1)
            let filled = String(repeating: "\u{2588}", count: full) + part + String(repeating: " ", count: rest)
            return "\u{2595}\(filled)\u{258F}"
        }
    }
}
