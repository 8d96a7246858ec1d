import IPC

/// The state of an interactive screen, without the terminal: it handles events, returns actions, and draws frames.
protocol Screen {
    mutating func handle(_ event: ScreenEvent) -> [ScreenAction]

    func frame(on canvas: Canvas) -> Frame

    /// The lines that stay on the terminal after the screen is left.
    func remains(on canvas: Canvas) -> [StyledLine]
}

enum ScreenEvent {
    case key(TerminalKey)
    case paste(String)
    /// A click on a target.
    case click
    /// Whether the terminal has the keyboard.
    case focus(Bool)
    /// An event of the watch.
    case told(Event)
    /// A change of the watch itself, with the message for a person if there is something new to say.
    case notice(WatchEvent, sentence: String?)
    /// A call that was asked for was answered.
    case answered(Result<Countdown, CommandFailure>)
    /// A command that was asked for has ended.
    case ended(CommandEnding)
}

enum ScreenAction: Equatable {
    /// A call of the daemon, to be answered.
    case call(CountdownRequest)
    /// A command to be run; one at a time.
    case run(ShellCommand)
    /// A line for an event, to stay above the picture.
    case tell(Event)
    /// Lines to stay above the picture.
    case print([String])
    case leave(ExitCode)
}

/// A key and its effect.
typealias KeyHint = (key: String, meaning: String)

extension StyledLine {
    /// A line with as many keys and their effects as there is room for.
    init(_ hints: [KeyHint], on canvas: Canvas) {
        for hint in hints {
            let gap = width > 0 ? "   " : ""
            let name = hint.key.isEmpty ? "" : "\(hint.key) "
            guard width + DisplayWidth.of(gap + name + hint.meaning) <= canvas.columns else { break }
            append(gap)
            append(name, .bold, canvas.palette)
            append(hint.meaning, .faint, canvas.palette)
        }
    }
}
