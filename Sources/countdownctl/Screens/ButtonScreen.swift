import IPC
import System

/// A button alone on a terminal.
struct ButtonScreen: Screen {
    private(set) var button: CountdownButton
    /// Whether the screen is left as soon as it counts.
    let leavesWhenCounting: Bool
    private var isLost = false
    /// Whether somebody wanted to leave while the command ran.
    private var isLeaving = false

    init(_ button: CountdownButton, leavesWhenCounting: Bool = false) {
        self.button = button
        self.leavesWhenCounting = leavesWhenCounting
    }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        var actions: [ScreenAction] = []
        switch event {
        case .key(.enter), .key(.character(" ")), .click: actions = button.press()
        case .key(.character("q")), .key(.character("Q")): isLeaving = true
        case .notice(.lost): isLost = true
        case .notice(.back): isLost = false
        default: break
        }
        actions += button.handle(event)
        // What a command that still runs has done would not be counted.
        if isLeaving, !button.isBusy { actions.append(.leave(leavesWhenCounting ? .interrupted : .success)) }
        if leavesWhenCounting, button.countdown != nil { actions.append(.leave(.success)) }
        return actions
    }

    func frame(on canvas: Canvas) -> Frame {
        var frame = ButtonPicture(button, on: canvas).frame
        frame.lines.append(note(on: canvas))
        return frame
    }

    func remains(on canvas: Canvas) -> [StyledLine] {
        // A button that nobody can press any more is gone; what it began is not.
        guard let countdown = button.countdown else { return [] }
        let state = CountdownText(canvas.clock).state(countdown)
        let name = "\(CountdownText.name(countdown)):"
        let isNarrow = DisplayWidth.of("\(name) \(state)") > canvas.columns
        return (isNarrow ? [name, state] : ["\(name) \(state)"]).map { StyledLine($0, on: canvas) }
    }

    private func note(on canvas: Canvas) -> StyledLine {
        if isLost { return StyledLine(EventStream.Notice.lostSentence, .yellow, on: canvas) }
        if isLeaving { return StyledLine("waiting for the command; Ctrl-C stops it", .yellow, on: canvas) }
        let press = button.isEnabled ? [KeyHints.Hint("enter", "press")] : []
        return KeyHints.line(press + [KeyHints.Hint("q", "leave")], on: canvas)
    }
}

/// How a button looks: a frame around its title, dim while it takes no presses, and beside it what there is to say.
struct ButtonPicture {
    /// The fewest rows that a frame around a title takes with what stands below.
    static let height = 3

    private let button: CountdownButton
    private let canvas: Canvas
    /// Whether it has the keyboard where there is something else that could have it.
    private let isFocused: Bool

    init(_ button: CountdownButton, on canvas: Canvas, isFocused: Bool = true) {
        self.button = button
        self.canvas = canvas
        self.isFocused = isFocused
    }

    /// Its lines, the whole button being what can be clicked.
    var frame: Frame {
        let width = self.width
        guard canvas.rows > Self.height, canvas.columns >= width else { return narrowFrame }
        var lines = border(width: width).map { text in
            var line = StyledLine()
            line.append(text, tint, canvas.palette)
            return line
        }
        let target = Frame.Target(rows: 0..<Self.height, columns: 0..<width)
        if let (remark, tint) = remark {
            if width + 2 + DisplayWidth.of(remark) <= canvas.columns {
                lines[1].append("  ")
                lines[1].append(remark, tint, canvas.palette)
            } else {
                lines.append(StyledLine(remark, tint, on: canvas))
            }
        }
        return Frame(lines: lines, targets: [target])
    }

    /// What stands on the button now.
    var title: String {
        switch button.phase {
        case .unknown, .idle, .running, .starting: Self.printable(button.title)
        case .counting(let countdown): button.titles.counting.render(countdown.remainingUSec)
        }
    }

    /// A title or sentence that somebody typed for this button. It is compared with nothing, so its backslashes stay.
    private static func printable(_ text: String) -> String { PrintableText.escape(text, doublesBackslashes: false) }

    /// One line with the title in brackets, where there is no room for more.
    private var narrowFrame: Frame {
        let text = "[\(canvas.fit(title, columns: canvas.columns - 2))]"
        var lines = [StyledLine(text, tint, on: canvas)]
        let target = Frame.Target(rows: 0..<1, columns: 0..<lines[0].width)
        if let (remark, tint) = remark { lines.append(StyledLine(remark, tint, on: canvas)) }
        return Frame(lines: lines, targets: [target])
    }

    /// The same for all its titles, so that nothing moves while it counts.
    private var width: Int {
        let full = button.titles.counting.render(button.countdown?.durationUSec ?? button.start.durationUSec ?? 0)
        let titles = [button.titles.title, button.titles.again ?? "", full, title].map(Self.printable)
        return titles.reduce(0) { max($0, DisplayWidth.of($1)) } + 6
    }

    private var tint: Palette.Tint { button.isEnabled && isFocused ? .bold : .faint }

    private func border(width: Int) -> [String] {
        let inner = width - 2
        let space = inner - DisplayWidth.of(title)
        let left = String(repeating: " ", count: space / 2)
        let right = String(repeating: " ", count: space - space / 2)
        let (corners, line, side) = strokes
        let edge = String(repeating: line, count: inner)
        return [
            "\(corners[0])\(edge)\(corners[1])", "\(side)\(left)\(title)\(right)\(side)",
            "\(corners[2])\(edge)\(corners[3])",
        ]
    }

    /// Heavy where it can be pressed, so that this is to be seen without colours too.
    private var strokes: (corners: [String], line: String, side: String) {
        switch (canvas.glyphs, button.isEnabled) {
        case (.blocks, true): (["┏", "┓", "┗", "┛"], "━", "┃")
        case (.blocks, false): (["┌", "┐", "└", "┘"], "─", "│")
        case (.ascii, true): (["+", "+", "+", "+"], "=", "|")
        case (.ascii, false): (["+", "+", "+", "+"], "-", ":")
        }
    }

    private var remark: (String, Palette.Tint?)? {
        if let failure = button.failure { return (Self.printable(failure), .red) }
        switch button.phase {
        case .unknown, .idle: return nil
        case .running, .starting: return ("…", .faint)
        case .counting(let countdown) where countdown.state == .paused: return ("paused", .yellow)
        case .counting(let countdown): return button.titles.sent.map { ($0.render(countdown.remainingUSec), nil) }
        }
    }
}
