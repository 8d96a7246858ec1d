import IPC

/// The state of an interactive screen, without the terminal: it handles events, returns actions, and draws frames.
protocol Screen {
    mutating func handle(_ event: ScreenEvent) -> [ScreenAction]

    /// Counts on to an instant, from the one before.
    mutating func count(to now: Duration)

    /// Whether it waits for a command or for the answer to its call, which must be known before the screen is left.
    var isBusy: Bool { get }

    func frame(on canvas: Canvas) -> Frame

    /// The lines that stay on the terminal after the screen is left.
    func remains(on canvas: Canvas) -> [StyledLine]
}

extension Screen {
    var isBusy: Bool { false }
}

/// Instants are microseconds of the boot clock.
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
    case answered(Result<Countdown, ClientError>, at: Int64)
    /// A command that was asked for has ended.
    case ended(CommandEnding, at: Int64)
    /// The instant of `wake` has come.
    case woken(at: Int64)
}

enum ScreenAction: Equatable {
    /// A call of the daemon, to be answered.
    case call(CountdownRequest)
    /// A command to be run; one at a time.
    case run(ShellCommand)
    /// An instant at which the screen is to be woken, in the place of the one before; nil for none.
    case wake(at: Int64?)
    /// A line for an event, to stay above the picture.
    case tell(Event)
    /// Lines to stay above the picture.
    case print([String])
    case leave(ExitCode)
}

/// A key and its effect.
typealias KeyHint = (key: String, meaning: String)

extension StyledLine {
    /// The effect of the key that leaves a screen.
    static let leaving = "leave"

    /// A line with as many keys and their effects as there is room for; the one that is kept goes last.
    init(_ hints: [KeyHint], keeping kept: String = leaving, on canvas: Canvas) {
        var hints = hints
        while !hints.isEmpty {
            var line = StyledLine()
            for hint in hints {
                line.append(line.width > 0 ? "   " : "")
                if !hint.key.isEmpty { line.append("\(hint.key) ", .bold, canvas.palette) }
                line.append(hint.meaning, .faint, canvas.palette)
            }
            guard line.width > canvas.columns else {
                self = line
                return
            }
            hints.remove(at: hints.lastIndex { $0.meaning != kept } ?? 0)
        }
        self.init()
    }
}
