import ArgumentParser
import IPC
import System

/// A subcommand, which returns an exit code.
protocol Subcommand: ParsableCommand {
    /// Does it.
    ///
    /// - Throws: a `CommandFailure`, or a `StreamFailure` of standard output.
    func perform() throws -> ExitCode
}

/// The keys that a shell completes: running and paused countdowns, as the daemon lists them.
enum KeyCompletion {
    /// More than anybody looks through.
    private static let limit: Int64 = 200
    /// The longest wait for a daemon that does not answer, in microseconds.
    private static let patience: Int64 = 5_000_000

    /// The completion of a key under which a countdown may be started.
    static let any = CompletionKind.custom { words, _, prefix in offers(beginningWith: prefix, behind: words) }

    /// The completion of a countdown's key: the words that stand for one come first.
    static let existing = CompletionKind.custom { words, place, prefix in
        // bash has @ as a word of its own, and takes it together with what follows for the word to be replaced.
        let isDivided = prefix.first != "@" && words.indices.contains(place) && words[..<place].last == "@"
        let typed = isDivided ? "@\(prefix)" : prefix
        return CountdownReference.allCases.map(\.rawValue).filter { $0.hasPrefix(typed) }
            + offers(beginningWith: typed, behind: words)
    }

    private static func offers(beginningWith prefix: String, behind words: [String]) -> [String] {
        // Pressing Tab must not log in to another machine.
        words.contains(where: RemoteInvocation.isOption) ? [] : keys(beginningWith: prefix)
    }

    /// Empty if there is no daemon: a shell cannot show an error here.
    private static func keys(beginningWith prefix: String) -> [String] {
        let request = List(match: ["\(escaped(prefix))*"], soonest: limit)
        guard var client = try? DaemonEndpoint().connect(), (try? client.start(streaming: request)) != nil else {
            return []
        }
        let deadline = MonotonicDeadline.after(microseconds: patience)
        var keys: [String] = []
        while let page = try? client.nextReply(to: List.self, until: deadline) {
            keys += page.reply.countdowns.map(\.key)
            if !page.continues { break }
        }
        return keys.filter { $0.hasPrefix(prefix) && isHarmless($0) }
    }

    /// Whether a shell reads the key as one plain word: bash expands completions.
    private static func isHarmless(_ key: String) -> Bool {
        let ascii = String(decoding: key.utf8.filter { $0 < 0x80 }, as: UTF8.self)
        return PrintableText.isPrintable(key) && (ascii.isEmpty || ShellWord.quote(ascii) == ascii)
    }

    /// The text as a pattern that matches it alone.
    private static func escaped(_ text: String) -> String {
        text.map { "*?[".contains($0) ? "[\($0)]" : String($0) }.joined()
    }
}

/// The output options of every subcommand that prints data. They repeat those of `MessageOptions`, because an option
/// group in an option group would add 8 % to the instructions of the whole program.
struct OutputOptions: ParsableArguments {
    // `ArgumentNormalizer` adds the value to `--json` alone: ArgumentParser's own optional values ignore unknown ones.
    @Option(
        help: ArgumentHelp(
            "Print JSON objects: --json or --json=pretty.",
            valueName: "short|pretty"
        )
    )
    var json: JSONStyle?

    @Option(help: ArgumentHelp("Use colours: auto respects NO_COLOR.", valueName: "when"))
    var color = ColorChoice.auto

    @Flag(name: .shortAndLong, help: MessageOptions.quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?

    /// The output that the options select.
    var output: Output {
        Output(
            isQuiet: quiet,
            json: json,
            palette: Palette(
                isColoured: color.allows(
                    isTerminal: StandardStream.output.isTerminal,
                    environment: Environment.value
                )
            )
        )
    }
}

/// The options of subcommands that print no data.
struct MessageOptions: ParsableArguments {
    static let quietHelp: ArgumentHelp = "Print errors only."

    @Flag(name: .shortAndLong, help: quietHelp)
    var quiet = false

    @Option(help: HostOption.help, completion: HostOption.completion)
    var host: String?
}

extension JSONStyle: ExpressibleByArgument {}

/// When to colour.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal that can, unless NO_COLOR is set.
    case auto
    case always
    case never

    func allows(isTerminal: Bool, environment: (String) -> String?) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: isTerminal && environment("NO_COLOR") == nil && environment("TERM") != "dumb"
        }
    }
}

/// The option `--host` for the daemon of another machine. Subcommands declare it for help and completion only:
/// `RemoteInvocation` removes it before a subcommand is parsed.
///
/// Each declares it itself: as an option group it would add 8 % to the instructions of the whole program.
enum HostOption {
    static let help = ArgumentHelp("Use the daemon of another machine, over ssh.", valueName: "host")

    /// The names in the configuration of ssh, patterns apart.
    static let completion = CompletionKind.shellCommand(
        "sed -n 's/^ *[Hh]ost[ =]*//p' ~/.ssh/config 2> /dev/null | tr ' ' '\\n' | grep '^[A-Za-z0-9._-]*$'"
    )
}

/// The countdowns that a call selects; all if there are neither keys nor patterns.
struct KeySelection: Equatable {
    /// Taken as they are.
    var keys: [String] = []
    /// Glob patterns.
    var patterns: [String] = []

    /// Selects keys literally.
    init(keys: [String]) { self.keys = keys }

    /// Keys, and words that may be patterns. A word without *, ? or [ is a key; the daemon accepts more keys than patterns.
    init(typed words: [String], keys: [String] = []) {
        self.keys = keys
        for word in words {
            if word.contains(where: { "*?[".contains($0) }) { patterns.append(word) } else { self.keys.append(word) }
        }
    }

    /// The selection of these patterns, with the countdowns that stand for words of them looked up once.
    ///
    /// - Throws: if a word stands for a countdown and there is none, or no daemon.
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

    /// Whether no more than one key can match.
    var isOne: Bool { keys.count == 1 && patterns.isEmpty }

    /// The patterns as calls take them.
    var match: [String]? { patterns.isEmpty ? nil : patterns }

    /// The keys as calls take them.
    var named: [String]? { keys.isEmpty ? nil : keys }
}

/// The countdowns that `list` and `watch` select.
struct PatternArguments: ParsableArguments {
    @Argument(help: "Keys, patterns that keys match, @next or @last.", completion: KeyCompletion.existing)
    var patterns: [String] = []

    @Option(name: .customLong("key"), help: KeyArgument.literalHelp)
    var keys: [String] = []
}
