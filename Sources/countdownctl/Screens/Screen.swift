import IPC

/// The state of an interactive screen, without the terminal: it handles events, returns actions, and draws frames.
protocol Screen {
    /// Handles an event.
    mutating func handle(_ event: ScreenEvent) -> [ScreenAction]

    /// How it looks.
    func frame(on canvas: Canvas) -> Frame

    /// The lines that stay on the terminal after the screen is left.
    func remains(on canvas: Canvas) -> [StyledLine]
}

/// An event for a screen.
enum ScreenEvent {
    case key(TerminalKey)
    case paste(String)
    /// A click on a target.
    case click
    /// Whether the terminal has the keyboard.
    case focus(Bool)
    /// An event of the watch.
    case told(Event)
    /// Something happened to the watch.
    case notice(EventStream.Notice)
    /// A call that was asked for was answered.
    case answered(CountdownRequest, Result<Countdown, CommandFailure>)
    /// A command that was asked for has ended.
    case ended(CommandEnding)
}

/// An action that a screen asks for.
enum ScreenAction: Equatable {
    /// A call of the daemon, to be answered.
    case call(CountdownRequest)
    /// A command to be run; one at a time.
    case run(ShellCommand)
    /// A line for an event, to stay above the picture.
    case tell(Event)
    /// Lines to stay above the picture.
    case print([String])
    /// The end.
    case leave(ExitCode)
}

/// A line with the keys and their effects.
enum KeyHints {
    struct KeyHint {
        let key: String
        let meaning: String

        init(_ key: String, _ meaning: String) {
            self.key = key
            self.meaning = meaning
        }
    }

    /// As many of them as there is room for.
    static func line(_ hints: [KeyHint], on canvas: Canvas) -> StyledLine {
        var line = StyledLine()
        for hint in hints {
            let gap = line.width > 0 ? "   " : ""
            let name = hint.key.isEmpty ? "" : "\(hint.key) "
            guard line.width + DisplayWidth.of(gap + name + hint.meaning) <= canvas.columns else { break }
            line.append(gap)
            line.append(name, .bold, canvas.palette)
            line.append(hint.meaning, .faint, canvas.palette)
        }
        return line
    }
}
