import CountdownControls
import IPC
import Text

/// A button alone on a terminal.
struct ButtonScreen: Screen {
    private var button: CommandButton
    /// Whether the screen is left as soon as it counts.
    let leavesWhenCounting: Bool
    /// Whether the user quit while the command ran.
    private var isLeaving = false

    init(_ button: CommandButton, leavesWhenCounting: Bool = false) {
        self.button = button
        self.leavesWhenCounting = leavesWhenCounting
    }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        var actions: [ScreenAction] = []
        switch event {
        case .key(.enter), .key(.character(" ")), .click: actions = button.press()
        case .key(.character("q")), .key(.character("Q")): isLeaving = true
        default: break
        }
        actions += button.handle(event)
        if leavesWhenCounting, button.control.countdown != nil { actions.append(.leave(.success)) }
        // A command that still runs must finish, so that its countdown starts.
        if isLeaving, !isBusy { actions.append(.leave(leavesWhenCounting ? .interrupted : .success)) }
        return actions
    }

    mutating func count(to now: Duration) { button.count(to: now) }

    var isBusy: Bool { button.control.isBusy }

    func frame(on canvas: Canvas) -> Frame {
        var frame = ButtonPicture(button.control, on: canvas).frame
        frame.lines.append(note(on: canvas))
        return frame
    }

    func remains(on canvas: Canvas) -> [StyledLine] {
        // The button is removed; its countdown is described.
        guard let countdown = button.control.countdown else { return [] }
        let state = CountdownText(canvas.clock).state(countdown)
        let name = "\(CountdownText.name(countdown)):"
        let isNarrow = DisplayWidth.of("\(name) \(state)") > canvas.columns
        return (isNarrow ? [name, state] : ["\(name) \(state)"]).map { StyledLine($0, on: canvas) }
    }

    private func note(on canvas: Canvas) -> StyledLine {
        if button.control.isAway { return StyledLine(EventStream.lostSentence, .yellow, on: canvas) }
        if isBusy, isLeaving || canvas.isLeaving { return ButtonPicture.waiting(on: canvas) }
        let press: [KeyHint] = button.control.isEnabled ? [("enter", "press")] : []
        return StyledLine(press + [("q", StyledLine.leaving)], on: canvas)
    }
}

/// The picture of a button: a frame around its title, dim while it is disabled, with a remark beside it.
struct ButtonPicture {
    /// The rows of a frame around a title.
    static let height = 3

    private let button: KeyedButton
    private let canvas: Canvas
    private let isFocused: Bool

    init(_ button: KeyedButton, on canvas: Canvas, isFocused: Bool = true) {
        self.button = button
        self.canvas = canvas
        self.isFocused = isFocused
    }

    /// Its lines; the whole button is the target of clicks.
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
        return Frame(lines: lines, target: target, nextChange: button.nextChange?.microseconds)
    }

    /// The line below while the screen is to be left and the command still runs.
    static func waiting(on canvas: Canvas) -> StyledLine {
        StyledLine("waiting for the command; Ctrl-C stops it", .yellow, on: canvas)
    }

    var title: String { Self.printable(button.title) }

    /// A title or message in printable form. It is not compared with other text, so its backslashes stay.
    private static func printable(_ text: String) -> String { PrintableText.escape(text, doublesBackslashes: false) }

    /// One line with the title in brackets, if there is no room for a frame.
    private var narrowFrame: Frame {
        let text = "[\(canvas.glyphs.fit(title, columns: canvas.columns - 2))]"
        var lines = [StyledLine(text, tint, on: canvas)]
        let target = Frame.Target(rows: 0..<1, columns: 0..<lines[0].width)
        if let (remark, tint) = remark { lines.append(StyledLine(remark, tint, on: canvas)) }
        return Frame(lines: lines, target: target, nextChange: button.nextChange?.microseconds)
    }

    /// The same for all its titles, so that nothing moves while it counts.
    private var width: Int {
        let full = Duration.microseconds(button.countdown?.durationUSec ?? button.start.durationUSec ?? 0)
        let titles = [
            button.titles.idle, button.titles.again ?? "", button.titles.counting.text(for: full), button.title,
        ]
        .map(Self.printable)
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

    /// Heavy if it is enabled, so that this is visible without colours.
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
        if button.isBusy { return ("…", .faint) }
        if button.countdown?.state == .paused { return ("paused", .yellow) }
        return button.message.map { (Self.printable($0), nil) }
    }
}
