import IPC
import System

/// How followed countdowns look: one as a bar, several as a table, and below what keys do.
extension FollowScreen {
    func frame(on canvas: Canvas) -> Frame {
        guard isSynced else { return Frame() }
        return Frame(lines: picture(on: canvas, rows: canvas.rows - 2) + [noteLine(on: canvas)])
    }

    func remains(on canvas: Canvas) -> [StyledLine] {
        isSynced ? picture(on: canvas, rows: canvas.rows - 2, showsSelection: false) : []
    }

    private func picture(on canvas: Canvas, rows: Int, showsSelection: Bool = true) -> [StyledLine] {
        if subject != .several { return selection.map { BarPicture($0, on: canvas).lines } ?? [] }
        let shown = soonest(max(rows, 1))
        let table = TablePicture(countdowns: shown, selected: showsSelection ? selection?.key : nil, canvas: canvas)
        var lines = table.lines
        let hidden = countdowns.count - shown.count
        if hidden > 0 { lines[lines.count - 1] = StyledLine("and \(hidden + 1) more", .faint, on: canvas) }
        return lines
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
        case nil: return KeyHints.line(canvas.hasKeys ? hints : [KeyHints.Hint("ctrl-c", "leave")], on: canvas)
        }
    }

    /// What keys do now, the most useful first.
    private var hints: [KeyHints.Hint] {
        let leave = KeyHints.Hint("q", "leave")
        guard let selection else { return [KeyHints.Hint("", "nothing is running"), leave] }
        var hints = [
            KeyHints.Hint("space", selection.state == .paused ? "resume" : "pause"), leave,
            KeyHints.Hint("+/-", "a minute"), KeyHints.Hint("c", "cancel"),
        ]
        if subject == .several, countdowns.count > 1 { hints.append(KeyHints.Hint("j/k", "select")) }
        return hints
    }
}

/// A countdown as a bar: on one line where there is room, else on up to three.
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

    private var remaining: String { RemainingText.render(countdown.remainingUSec) }

    private var ending: String {
        countdown.deadlineUSec.map { "ends \(canvas.clock.render($0))" } ?? countdown.state.rawValue
    }
}
