import CountdownControls
import IPC

/// A form for a code, with an optional button that has the code sent again.
struct CodeScreen: Screen {
    /// The effect of Enter if the code is full.
    private static let done = "done"

    private(set) var input: CodeField
    private var button: CommandButton?
    let isHidden: Bool
    /// Whether a full code can be mended until Enter.
    let confirms: Bool
    /// Whether the terminal has the keyboard.
    private var hasKeyboard = true
    /// Whether keys are for the button.
    private var isAtButton = false
    /// Whether Enter came before the code was full.
    private var isMissingSome = false
    /// Whether a text was pasted that has no code, or several.
    private var hasFoundNone = false
    /// Whether the code is taken, and only a command is waited for that runs.
    private var isTaken = false

    init(_ input: CodeField, button: CommandButton? = nil, isHidden: Bool, confirms: Bool) {
        self.input = input
        self.button = button
        self.isHidden = isHidden
        self.confirms = confirms
    }

    mutating func handle(_ event: ScreenEvent) -> [ScreenAction] {
        var actions = button?.handle(event) ?? []
        switch event {
        case .key(let key) where !isTaken: actions += handle(key)
        case .paste(let text) where !isTaken:
            let before = input
            accept(input.paste(text))
            (isMissingSome, hasFoundNone, isAtButton) = (false, input == before, false)
        case .click where !isTaken: actions += button?.press() ?? []
        case .focus(let hasKeyboard): self.hasKeyboard = hasKeyboard
        case .key, .paste, .click, .notice, .told, .answered, .ended, .woken: break
        }
        // A command that still runs must finish, so that its countdown starts.
        if isTaken, !isBusy { actions.append(.leave(.success)) }
        return actions
    }

    mutating func count(to now: Duration) { button?.count(to: now) }

    var isBusy: Bool { button?.control.isBusy == true }

    /// Takes a code that is full, unless it can be mended until Enter.
    private mutating func accept(_ code: String?) {
        if code != nil, !confirms { isTaken = true }
    }

    private mutating func handle(_ key: TerminalKey) -> [ScreenAction] {
        (isMissingSome, hasFoundNone) = (false, false)
        switch key {
        case .tab: isAtButton = button != nil && !isAtButton
        case .enter where isAtButton, .character(" ") where isAtButton: return button?.press() ?? []
        case .enter:
            isTaken = input.isFull
            isMissingSome = !input.isFull
        case .character(let character):
            isAtButton = false
            accept(input.type(character))
        case .backspace: input.deleteBackward()
        case .delete: input.deleteForward()
        case .left: input.move(by: -1)
        case .right: input.move(by: 1)
        case .home: input.move(by: -input.length)
        case .end: input.move(by: input.length)
        case .control, .escape, .up, .down: break
        }
        return []
    }

    func frame(on canvas: Canvas) -> Frame {
        let code = CodePicture(
            input: input,
            isHidden: isHidden,
            hasKeyboard: hasKeyboard && !isAtButton && !isTaken,
            canvas: canvas
        )
        var frame = Frame(lines: code.lines)
        if let button {
            let picture = ButtonPicture(button.control, on: canvas, isFocused: isAtButton)
            frame = frame.with(picture.frame, beside: code.width + 3, on: canvas)
        }
        frame.lines.append(note(on: canvas))
        return frame
    }

    func remains(on canvas: Canvas) -> [StyledLine] { [] }

    private func note(on canvas: Canvas) -> StyledLine {
        if button?.control.isAway == true { return StyledLine(EventStream.lostSentence, .yellow, on: canvas) }
        if isBusy, isTaken || canvas.isLeaving { return ButtonPicture.waiting(on: canvas) }
        if hasFoundNone { return StyledLine("no code in the text, or several; type it", .yellow, on: canvas) }
        if isMissingSome { return StyledLine("\(input.length - input.characters.count) more", .yellow, on: canvas) }
        var hints: [KeyHint] = []
        if confirms, input.isFull { hints.append(("enter", Self.done)) }
        if isAtButton {
            if button?.control.isEnabled == true { hints.append(("enter", "press")) }
            hints.append(("tab", "to the code"))
        } else if button?.control.isEnabled == true {
            hints.append(("tab", "to the button"))
        }
        let kept = hints.first?.meaning == Self.done ? Self.done : StyledLine.leaving
        return StyledLine(hints + [("ctrl-c", StyledLine.leaving)], keeping: kept, on: canvas)
    }
}

extension Frame {
    /// The frame of a button, with the lines at its left, or above it if there is no room.
    fileprivate func with(_ button: Frame, beside column: Int, on canvas: Canvas) -> Frame {
        let width = button.lines.reduce(0) { max($0, $1.width) }
        let fits = button.lines.count == ButtonPicture.height && column + width <= canvas.columns
        var joined = button
        joined.target = fits ? button.target?.moved(right: column) : button.target?.moved(down: lines.count)
        joined.lines = fits ? [StyledLine()] + lines : lines + button.lines
        guard fits else { return joined }
        for place in joined.lines.indices {
            joined.lines[place].pad(to: column)
            joined.lines[place].append(button.lines[place])
        }
        return joined
    }
}

/// How a code looks while it is typed: a box for each character, with a line under it that lights when it is filled.
struct CodePicture {
    static let box = 3

    /// Its spacing is in columns, if there is room.
    let input: CodeField
    let isHidden: Bool
    /// Whether the cursor may be seen at all.
    let hasKeyboard: Bool
    let canvas: Canvas

    /// How wide the boxes are on this canvas.
    var width: Int { input.length * Self.box + (input.length - 1) * fittingSpacing }

    /// Two lines: the boxes, or a notice if they do not fit.
    var lines: [StyledLine] {
        guard canvas.columns >= input.length * Self.box else {
            let least = input.length * Self.box + 1
            let progress = "\(input.characters.count) of \(input.length)"
            return [
                StyledLine(progress, on: canvas),
                StyledLine("needs \(least) columns", .yellow, on: canvas),
            ]
        }
        var top = StyledLine()
        var bottom = StyledLine()
        let gap = String(repeating: " ", count: fittingSpacing)
        for place in 0..<input.length {
            if place > 0 {
                top.append(gap)
                bottom.append(gap)
            }
            top.append(" \(content(place)) ", .bold, canvas.palette)
            let isFilled = place < input.characters.count
            bottom.append(stroke(isFilled), isFilled ? .green : .faint, canvas.palette)
        }
        return [top, bottom]
    }

    private var fittingSpacing: Int {
        guard input.length > 1 else { return 0 }
        return max(min(input.spacing, (canvas.columns - input.length * Self.box) / (input.length - 1)), 0)
    }

    private func hasCursor(_ place: Int) -> Bool { place == input.cursor && hasKeyboard }

    private func content(_ place: Int) -> String {
        if hasCursor(place) { return canvas.glyphs == .ascii ? "|" : "│" }
        guard place < input.characters.count else { return " " }
        return isHidden ? (canvas.glyphs == .ascii ? "*" : "•") : String(input.characters[place])
    }

    private func stroke(_ isFilled: Bool) -> String {
        let stroke = canvas.glyphs == .ascii ? (isFilled ? "=" : "-") : (isFilled ? "━" : "─")
        // Without spacing, boxes are separated by their lines.
        return fittingSpacing == 0 && input.length > 1 ? " \(stroke) " : String(repeating: stroke, count: Self.box)
    }
}
