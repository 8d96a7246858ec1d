import IPC

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

    mutating func take(_ event: ScreenEvent) -> [ScreenAction] {
        var actions: [ScreenAction] = []
        switch event {
        case .key(.enter), .key(.character(" ")), .click: actions = button.press()
        case .key(.character("q")), .key(.character("Q")): isLeaving = true
        case .notice(.lost): isLost = true
        case .notice(.back): isLost = false
        default: break
        }
        actions += button.take(event)
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
        if isLeaving { return StyledLine("leaves when the command has ended; Ctrl-C ends it", .yellow, on: canvas) }
        let press = button.isEnabled ? [KeyHints.Hint("enter", "press")] : []
        return KeyHints.line(press + [KeyHints.Hint("q", "leave")], on: canvas)
    }
}
