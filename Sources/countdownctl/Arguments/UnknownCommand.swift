import Text

/// An unknown subcommand, and advice on the right one. A proposed command is accepted as it is.
struct UnknownCommand: Equatable {
    let word: String
    let arguments: [String]

    /// Nil if the word is a subcommand or an option.
    init?(_ typed: [String]) {
        guard let word = typed.first, !word.hasPrefix("-"), word != "help", Subcommands.named(word) == nil
        else { return nil }
        self.word = word
        arguments = Array(typed.dropFirst())
    }

    /// The message: what is wrong, and what is expected.
    var sentence: String {
        let beginning = "unknown command \(quoted(word))"
        if let advice { return "\(beginning); \(advice)" }
        let names = CommandName.allCases.map(\.rawValue)
        // Further away, the word has less in common with the name than not.
        guard let nearest = names.min(by: { distance(to: $0) < distance(to: $1) }),
            distance(to: nearest) * 2 < word.count
        else {
            let timer = timer([word] + arguments).map { "did you mean \($0)?" }
            return "\(beginning); \(timer ?? "`countdownctl -h` lists the commands")"
        }
        let command = nearest == "start" ? start : command(nearest)
        return "\(beginning); did you mean \(command)?"
    }

    /// The subcommands for a word that other programs have, with another meaning or several.
    private var advice: String? {
        switch word {
        case "restart", "reset": "\(command("start", ending: "--restart")) starts it again"
        case "extend":
            "\(command("start", ending: "--extend")) adds time, \(command("adjust", sample: ["KEY", "+5m"])) adds or removes time"
        case "stop", "kill", "abort":
            "\(command("cancel", keysAlone: true)) ends it, \(command("pause", keysAlone: true)) keeps the remaining time"
        case "add", "new", "create", "set": "\(start) starts a countdown, `countdownctl adjust tea +5m` adds time"
        case "follow", "tail", "monitor":
            "`countdownctl watch` follows every countdown, `countdownctl attach tea` one countdown to its end"
        default: nil
        }
    }

    /// The arguments as arguments of `start`, or as a timer if they begin with a duration or a time.
    private var start: String { timer(arguments) ?? command("start") }

    /// Words as a timer if they begin or end with a duration or a time, which then comes first.
    private func timer(_ typed: [String]) -> String? {
        let (clock, words) = (ClockText.local, typed.prefix { !$0.hasPrefix("-") })
        let begin = words.indices.first { place in
            guard let (count, _) = TypedTiming.longest(of: words[place...], clock) else { return false }
            return place == 0 || count == words.count - place && typed.first == word
        }
        guard let begin else { return nil }
        let right = Array(words[begin...]) + words[..<begin] + typed[words.endIndex...]
        guard TimerCommand.accepts(right) else { return nil }
        return "`\((["countdownctl"] + right.map(ShellWord.quote)).joined(separator: " "))`"
    }

    /// The command with the subcommand in the place of the word, as it could be typed in a shell; with other arguments if it would
    /// be refused.
    private func command(
        _ name: String,
        ending: String? = nil,
        keysAlone: Bool = false,
        sample: [String] = ["KEY"]
    ) -> String {
        var words = arguments.filter { $0 != ending }
        if keysAlone { words = words.filter { !DurationParser.isMeant(by: $0) } }
        let end = ending.map { [$0] } ?? []
        let needsKey = words.isEmpty && !["list", "watch", "status", "version"].contains(name)
        if needsKey || Subcommands.named(name)?.accepts(words + end) != true { words = sample }
        return "`\((["countdownctl", name] + words.map(ShellWord.quote) + end).joined(separator: " "))`"
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
