import Text

/// An unknown subcommand, and advice on the right one.
struct UnknownCommand: Equatable {
    let word: String
    let arguments: [String]

    /// Nil if the word is a subcommand or an option.
    init?(_ typed: [String]) {
        guard let word = typed.first, !word.hasPrefix("-"), word != "help", Countdownctl.subcommand(named: word) == nil
        else { return nil }
        self.word = word
        arguments = Array(typed.dropFirst())
    }

    /// The message: what is wrong, and what is expected.
    var sentence: String {
        let beginning = "unknown command \(quoted(word))"
        if let advice { return "\(beginning); \(advice)" }
        let names = Countdownctl.subcommands.map { $0.names[0] }
        // Further away, the word has less in common with the name than not.
        if let nearest = names.min(by: { distance(to: $0) < distance(to: $1) }), distance(to: nearest) * 2 < word.count
        {
            return "\(beginning); did you mean \(command(nearest))?"
        }
        return "\(beginning); `countdownctl -h` lists the commands"
    }

    /// The subcommands for a word that other programs have, with another meaning or several.
    private var advice: String? {
        switch word {
        case "restart", "reset": "\(command("start", ending: "--restart")) starts it again"
        case "extend": "\(command("start", ending: "--extend")) adds time, \(command("adjust")) adds or removes time"
        case "stop", "kill", "abort":
            "\(command("cancel", keysAlone: true)) ends it, \(command("pause", keysAlone: true)) keeps the remaining time"
        case "add", "new", "create", "set":
            "\(command("start")) starts a countdown, `countdownctl adjust tea +5m` adds time"
        case "follow", "tail", "monitor":
            "`countdownctl watch` follows every countdown, `countdownctl attach tea` one countdown to its end"
        default: nil
        }
    }

    /// The command with the subcommand in the place of the word, as it could be typed in a shell.
    private func command(_ name: String, ending: String? = nil, keysAlone: Bool = false) -> String {
        var words = arguments.filter { $0 != ending }
        if keysAlone { words = words.filter { !DurationParser.isMeant(by: $0) } }
        if words.isEmpty, !["list", "watch", "status"].contains(name) { words = ["KEY"] }
        let all = ["countdownctl", name] + words.map(ShellWord.quote) + (ending.map { [$0] } ?? [])
        return "`\(all.joined(separator: " "))`"
    }

    /// How many letters have to be put in, left out or changed to make the subcommand of the word.
    private func distance(to name: String) -> Int {
        let target = Array(name)
        var row = Array(0...target.count)
        for (line, letter) in word.enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for (column, other) in target.enumerated() {
                let changed = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(changed, row[column] + 1, diagonal + 1)
            }
        }
        return row[target.count]
    }
}
