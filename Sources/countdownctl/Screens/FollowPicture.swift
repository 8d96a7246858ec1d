import IPC
import Text
import Varlink

/// The frame of followed countdowns: one as a bar, several as a table, with key hints below.
extension FollowScreen {
    func frame(on canvas: Canvas) -> Frame {
        guard isComplete else { return Frame() }
        return Frame(lines: picture(on: canvas, rows: canvas.rows - 2) + [noteLine(on: canvas)])
    }

    func remains(on canvas: Canvas) -> [StyledLine] {
        isComplete ? picture(on: canvas, rows: canvas.rows - 2, showsSelection: false) : []
    }

    private func picture(on canvas: Canvas, rows: Int, showsSelection: Bool = true) -> [StyledLine] {
        if subject != .several { return selection.map { BarPicture($0, on: canvas).lines } ?? [] }
        let (above, shown, below) = window(of: max(rows, 1), around: showsSelection ? selection : nil)
        let table = TablePicture(countdowns: shown, selected: showsSelection ? selection?.key : nil, canvas: canvas)
        var lines = table.lines
        if above > 0 { lines.insert(StyledLine("\(above) above", .faint, on: canvas), at: 0) }
        if below > 0 { lines.append(StyledLine("and \(below) more", .faint, on: canvas)) }
        return lines
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
        if isLost { return StyledLine(EventStream.Notice.lostSentence, .yellow, on: canvas) }
        switch note {
        case .question(let key):
            let name = PrintableText.escape(key)
            let question = "cancel \(canvas.fit(name, columns: max(canvas.columns - 14, 1))) (y/n)?"
            return StyledLine(question, .bold, on: canvas)
        case .failure(let sentence): return StyledLine(sentence, .red, on: canvas)
        case .tooLittleLeft: return StyledLine("less than a minute is left; c cancels", .yellow, on: canvas)
        case nil: return KeyHints.line(canvas.hasKeys ? hints : [KeyHints.KeyHint("ctrl-c", "leave")], on: canvas)
        }
    }

    /// The key hints, the most useful first.
    private var hints: [KeyHints.KeyHint] {
        let leave = KeyHints.KeyHint("q", "leave")
        guard let selection else { return [KeyHints.KeyHint("", "nothing is running"), leave] }
        var hints = [
            KeyHints.KeyHint("space", selection.state == .paused ? "resume" : "pause"), leave,
            KeyHints.KeyHint("+/-", "a minute"), KeyHints.KeyHint("c", "cancel"),
        ]
        if subject == .several, countdowns.count > 1 { hints.append(KeyHints.KeyHint("j/k", "select")) }
        return hints
    }
}

/// A countdown as a bar: on one line if there is room, otherwise on up to three.
struct BarPicture {
    /// The shortest bar that says something beside its texts.
    private static let narrowest = 8

    private let countdown: Countdown
    private let canvas: Canvas

    init(_ countdown: Countdown, on canvas: Canvas) {
        self.countdown = countdown
        self.canvas = canvas
    }

    var lines: [StyledLine] {
        let name = CountdownText.name(countdown)
        let texts = DisplayWidth.of(remaining) + DisplayWidth.of(ending) + 8
        if DisplayWidth.of(name) + texts + Self.narrowest <= canvas.columns {
            return [line(bar(named: name).line(columns: canvas.columns, glyphs: canvas.glyphs))]
        }
        let first = StyledLine(name, tint, on: canvas)
        if texts + Self.narrowest <= canvas.columns {
            return [first, line(bar(named: "").line(columns: canvas.columns, glyphs: canvas.glyphs))]
        }
        return [first, line("\(remaining)  \(ending)"), line(bare)]
    }

    private func line(_ text: String) -> StyledLine { StyledLine(text, tint, on: canvas) }

    private func bar(named name: String) -> ProgressBar {
        ProgressBar(name: name, remaining: remaining, ending: ending, progress: countdown.progress)
    }

    /// The bar without its texts.
    private var bare: String {
        let width = canvas.columns - 2
        return width > 0 ? bar(named: "").bar(width: min(width, 40), canvas.glyphs) : ""
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
        line.append(canvas.fit(PrintableText.escape(countdown.key), columns: columns.key), tint, canvas.palette)
        let remaining = RemainingFormat.render(countdown.remainingUSec)
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

/// One line of a terminal that shows a countdown: its name, what remains, how far it is, and when it ends.
struct ProgressBar {
    /// The narrowest bar that still says something.
    private static let narrowest = 8
    private static let widest = 40

    let name: String
    /// The text after the name: `4:59`.
    let remaining: String
    /// The text at the end: `ends 17:30:05`.
    let ending: String
    /// From 0 at the beginning to 1 at the end.
    let progress: Double

    /// The line, never wider than `columns`: if there is no room, first the bar is dropped, then the end is cut.
    func line(columns: Int, glyphs: Glyphs) -> String {
        let head = name.isEmpty ? remaining : "\(name)  \(remaining)"
        let tail = ending.isEmpty ? "" : "  \(ending)"
        let room = columns - DisplayWidth.of(head) - DisplayWidth.of(tail) - 4
        guard room >= Self.narrowest else { return DisplayWidth.prefix(head + tail, columns: columns) }
        return "\(head)  \(bar(width: min(room, Self.widest), glyphs))\(tail)"
    }

    /// A bar with `width` columns between its brackets.
    func bar(width: Int, _ glyphs: Glyphs) -> String {
        let eighths = Int((min(max(progress, 0), 1) * Double(width * 8)).rounded(.down))
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
