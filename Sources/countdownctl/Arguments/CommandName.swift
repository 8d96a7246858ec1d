/// The name of a subcommand, found without loading the subcommand or its help.
enum CommandName: String, CaseIterable {
    case timer, start, snooze, show, list, watch, attach, adjust, pause, resume, toggle, finish, cancel
    case wait, run, temporarily, keep, undo, button, status, version
    case isRunning = "is-running"
    case askCode = "ask-code"
    case undoService = "undo-service"

    /// The names in the groups of the help.
    static let groups: [(name: String, commands: [CommandName])] = [
        ("Start", [.timer, .start, .snooze]),
        ("Look", [.show, .list, .watch, .attach]),
        ("Change", [.adjust, .pause, .resume, .toggle, .finish, .cancel]),
        ("Script", [.wait, .isRunning, .run, .temporarily, .keep, .undo, .button, .askCode]),
        ("Program", [.status, .version, .undoService]),
    ]

    /// The name that a word is or stands for; nil if the word is unknown.
    init?(typed word: String) {
        guard let name = Self(rawValue: word) ?? Self.allCases.first(where: { $0.aliases.contains(word) }) else {
            return nil
        }
        self = name
    }

    /// Other words with this one meaning.
    var aliases: [String] {
        switch self {
        case .list: ["ls", "ps"]
        case .show: ["get", "info"]
        case .resume: ["unpause", "continue"]
        case .cancel: ["rm", "delete", "remove", "del"]
        default: []
        }
    }
}
