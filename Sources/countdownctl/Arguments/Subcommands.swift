/// The subcommands of countdownctl.
enum Subcommands {
    /// The subcommands in the groups of the help.
    static let groups: [(name: String, commands: [any Subcommand.Type])] = [
        ("Start", [TimerCommand.self, StartCommand.self, SnoozeCommand.self]),
        ("Look", [ShowCommand.self, ListCommand.self, WatchCommand.self, AttachCommand.self]),
        (
            "Change",
            [
                AdjustCommand.self, PauseCommand.self, ResumeCommand.self, ToggleCommand.self, FinishCommand.self,
                CancelCommand.self,
            ]
        ),
        (
            "Script",
            [
                WaitCommand.self, IsRunningCommand.self, RunCommand.self, TemporarilyCommand.self, KeepCommand.self,
                UndoCommand.self, ButtonCommand.self, AskCodeCommand.self,
            ]
        ),
        ("Program", [StatusCommand.self, VersionCommand.self, UndoServiceCommand.self]),
    ]

    static var all: [any Subcommand.Type] { groups.flatMap(\.commands) }

    /// The subcommand with a name or alias; nil if the word is unknown.
    static func named(_ word: String) -> (any Subcommand.Type)? { all.first { $0.names.contains(word) } }
}
