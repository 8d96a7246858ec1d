/// The subcommands of countdownctl.
enum Subcommands {
    /// The subcommand of a name.
    static func type(of name: CommandName) -> any Subcommand.Type {
        switch name {
        case .timer: TimerCommand.self
        case .start: StartCommand.self
        case .snooze: SnoozeCommand.self
        case .show: ShowCommand.self
        case .list: ListCommand.self
        case .watch: WatchCommand.self
        case .attach: AttachCommand.self
        case .adjust: AdjustCommand.self
        case .pause: PauseCommand.self
        case .resume: ResumeCommand.self
        case .toggle: ToggleCommand.self
        case .finish: FinishCommand.self
        case .cancel: CancelCommand.self
        case .wait: WaitCommand.self
        case .isRunning: IsRunningCommand.self
        case .run: RunCommand.self
        case .temporarily: TemporarilyCommand.self
        case .keep: KeepCommand.self
        case .undo: UndoCommand.self
        case .button: ButtonCommand.self
        case .askCode: AskCodeCommand.self
        case .status: StatusCommand.self
        case .version: VersionCommand.self
        case .undoService: UndoServiceCommand.self
        }
    }

    /// The subcommand with a name or alias; nil if the word is unknown.
    static func named(_ word: String) -> (any Subcommand.Type)? { CommandName(typed: word).map(type) }
}
