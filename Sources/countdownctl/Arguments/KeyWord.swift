import ArgumentParser
import IPC

/// A key as it is typed: the key itself, or a word that stands for the key of a countdown.
enum KeyWord: Equatable, Sendable {
    case key(String)
    case reference(CountdownReference)

    /// A word in the place of a key.
    init(typed word: String) { self = CountdownReference(rawValue: word).map(Self.reference) ?? .key(word) }

    /// The word as it is typed.
    var text: String {
        switch self {
        case .key(let key): key
        case .reference(let reference): reference.rawValue
        }
    }
}

/// A word that stands for a countdown. Only countdownctl knows such words: it looks the countdown up, and calls the daemon
/// with its key. Cooldowns of commands are passed over.
enum CountdownReference: String, CaseIterable, Sendable {
    /// The running countdown that ends first. If none is running: the paused one with the least remaining time.
    case next = "@next"
    /// The running or paused countdown that was started last.
    case last = "@last"
}

/// The keys that a subcommand takes, each as it is: no pattern.
struct KeyArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The keys, or @next or @last.", valueName: "key"), completion: KeyCompletion.existing)
    var words: [String] = []

    @Option(name: .customLong("key"), help: KeyArgument.literalHelp)
    var keys: [String] = []

    /// The keys, of which there is one at least.
    ///
    /// - Throws: how the subcommand is typed.
    func required(by subcommand: String) throws(CommandFailure) -> [KeyWord] {
        guard !words.isEmpty || !keys.isEmpty else { throw missingKey(subcommand) }
        return words.map(KeyWord.init) + keys.map(KeyWord.key)
    }
}

/// The one key that a subcommand takes, as it is: no pattern.
struct KeyArgument: ParsableArguments {
    static let literalHelp = ArgumentHelp("A key, even if it is called @next or @last.", valueName: "key")

    @Argument(help: ArgumentHelp("The key, or @next or @last.", valueName: "key"), completion: KeyCompletion.existing)
    var word: String?

    @Option(name: .customLong("key"), help: literalHelp)
    var key: String?

    /// The key.
    ///
    /// - Throws: how the subcommand is typed.
    func required(by subcommand: String) throws(CommandFailure) -> KeyWord {
        guard word == nil || key == nil else { throw .usage("use either KEY or --key") }
        guard let found = key.map(KeyWord.key) ?? word.map(KeyWord.init) else { throw missingKey(subcommand) }
        return found
    }
}

private func missingKey(_ subcommand: String) -> CommandFailure {
    .usage("missing key; for example `countdownctl \(subcommand) tea`")
}

/// The key of a countdown that a subcommand may start.
///
/// - Throws: a usage error for a word that stands for a countdown, because it would not find what was started under it.
func newKey(_ word: String) throws(CommandFailure) -> String {
    guard case .key(let key) = KeyWord(typed: word) else {
        throw .usage("invalid key '\(word)': it stands for another countdown; use a key such as tea")
    }
    return key
}

/// The condition under which a change is made.
struct RevisionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Change it only if it has this revision.", valueName: "revision"))
    var ifRevision: Int64?

    /// Checks that the condition is about one key.
    ///
    /// - Throws: a usage error.
    func check(_ words: [KeyWord]) throws(CommandFailure) {
        guard ifRevision != nil else { return }
        guard words.count == 1 else { throw .usage("--if-revision needs exactly one key, not \(words.count)") }
        guard case .reference(let reference) = words[0] else { return }
        throw .usage("--if-revision needs a key, not \(reference.rawValue)")
    }
}
