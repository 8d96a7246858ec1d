import ArgumentParser
import IPC
import System

/// The keys that a subcommand takes, each as it is: no pattern.
struct KeyArguments: ParsableArguments {
    @Argument(help: ArgumentHelp("The keys, or @next or @last.", valueName: "key"), completion: KeyCompletion.existing)
    var words: [String] = []

    @Option(name: .customLong("key"), help: KeyHelp.literal)
    var keys: [String] = []

    /// The keys, at least one; otherwise throws how the subcommand is typed.
    func required(by subcommand: String) throws(CommandFailure) -> [KeyWord] {
        guard !words.isEmpty || !keys.isEmpty else { throw missingKey(subcommand) }
        return words.map(KeyWord.init) + keys.map(KeyWord.key)
    }
}

/// A subcommand with one key, as it is: no pattern. It declares the arguments itself, because an option group would add 5 % to the
/// instructions of the whole program.
protocol KeySubcommand: Subcommand {
    var word: String? { get }
    var key: String? { get }
}

extension KeySubcommand {
    /// The key; without one, throws how the subcommand is typed.
    func requiredKey() throws(CommandFailure) -> KeyWord {
        guard word == nil || key == nil else { throw .usage("use either KEY or --key") }
        guard let found = key.map(KeyWord.key) ?? word.map(KeyWord.init) else { throw missingKey(Self.name.rawValue) }
        return found
    }
}

/// The help of keys.
enum KeyHelp {
    static let word = ArgumentHelp("The key, or @next or @last.", valueName: "key")
    static let literal = ArgumentHelp("A key, even if it is called @next or @last.", valueName: "key")
}

private func missingKey(_ subcommand: String) -> CommandFailure {
    .usage("missing key; for example `countdownctl \(subcommand) tea`")
}

/// The condition under which a change is made.
struct RevisionOption: ParsableArguments {
    @Option(help: ArgumentHelp("Change it only if it has this revision.", valueName: "revision"))
    var ifRevision: Int64?

    /// Checks that the condition is about one key.
    func check(_ words: [KeyWord]) throws(CommandFailure) {
        guard ifRevision != nil else { return }
        guard words.count == 1 else { throw .usage("--if-revision needs exactly one key, not \(words.count)") }
        guard case .reference(let reference) = words[0] else { return }
        throw .usage("--if-revision needs a key, not \(reference.rawValue)")
    }
}

extension KeySelection {
    /// The selection of these patterns, with the countdowns that stand for words of them looked up once.
    init(_ arguments: PatternArguments) throws(CommandFailure) {
        var words: [String] = []
        var keys = arguments.keys
        for word in arguments.patterns {
            if case .reference = KeyWord(typed: word) {
                keys.append(try DaemonEndpoint().key(of: KeyWord(typed: word)))
            } else {
                words.append(word)
            }
        }
        self.init(typed: words, keys: keys)
    }
}

/// The countdowns that `list` and `watch` select.
struct PatternArguments: ParsableArguments {
    @Argument(help: "Keys, patterns that keys match, @next or @last.", completion: KeyCompletion.existing)
    var patterns: [String] = []

    @Option(name: .customLong("key"), help: KeyHelp.literal)
    var keys: [String] = []
}
