import CountdownCore

/// The flags of the command line: they are the whole configuration.
struct Options: Equatable {
    enum Access: String, CaseIterable {
        /// The user whose daemon it is, and root.
        case owner
        /// Whoever the socket's mode lets in.
        case socket
    }

    enum Command: Equatable {
        case run(Options)
        case showHelp
        case showVersion
    }

    /// What is wrong with the command line, as a sentence.
    struct Invalid: Error, Equatable {
        let sentence: String
    }

    var socket: String?
    var stateDirectory: String?
    var leeway = Duration.zero
    var access = Access.owner
    var durability = SQLiteStore.Durability.process
    var history = Policy().history
    var logLevel = Log.Level.info

    /// The limits, as they are set here.
    var policy: Policy {
        var policy = Policy()
        policy.history = history
        return policy
    }

    /// An ending takes some 200 bytes of memory.
    private static let longestHistory = 10_000_000

    static let help = """
        countdownd keeps countdowns under keys, for every program of its user.

        Usage: countdownd [OPTION…]

          --socket PATH           listen there (default: systemd's socket, else
                                  $XDG_RUNTIME_DIR/countdownd/io.countdownd)
          --state-directory DIR   keep the countdowns there (default: systemd's $STATE_DIRECTORY, else
                                  $XDG_STATE_HOME/countdownd, else ~/.local/state/countdownd)
          --durability process|power-loss
                                  what an answered change survives: the death of the process, or of the machine too,
                                  which makes every change wait for the disk (default: process)
          --history NUMBER        keep so many endings for who comes back (default: 100000)
          --leeway DURATION       end countdowns up to so much late, to wake up less often (default: 0; 250ms, 1s)
          --access owner|socket   who may speak to it: its user and root, or whoever the socket's mode lets in
                                  (default: owner)
          --log-level LEVEL       error, warning, notice, info or debug (default: info; keys are logged at debug)
          --help                  this text
          --version               the version

        It runs in the foreground until SIGTERM or SIGINT. As a service of the user's systemd:
          systemctl --user enable --now countdownd.socket
        """

    /// Reads the arguments behind the program's name; a flag that stands twice counts as it stands last.
    static func parse(_ arguments: [String]) throws(Invalid) -> Command {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "--help", "-h": return .showHelp
            case "--version": return .showVersion
            case "--socket", "--state-directory", "--durability", "--history", "--leeway", "--access", "--log-level":
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw Invalid(sentence: "\(parts[0]) needs a value, see --help")
                }
                try options.set(parts[0], to: value)
            default:
                throw Invalid(sentence: "there is no option \(argument), see --help")
            }
        }
        return .run(options)
    }

    private mutating func set(_ flag: String, to value: String) throws(Invalid) {
        switch flag {
        case "--socket": socket = value
        case "--state-directory": stateDirectory = value
        case "--durability":
            guard let durability = SQLiteStore.Durability(rawValue: value) else {
                throw Invalid(sentence: "--durability \(value): process or power-loss is meant")
            }
            self.durability = durability
        case "--history":
            guard let history = Int(value), (0...Self.longestHistory).contains(history) else {
                throw Invalid(sentence: "--history \(value): a number from 0 to \(Self.longestHistory) is meant")
            }
            self.history = history
        case "--leeway":
            guard let span = Self.span(value) else {
                throw Invalid(sentence: "--leeway \(value) is not a duration: 500us, 250ms and 1s are")
            }
            leeway = span
        case "--access":
            guard let access = Access(rawValue: value) else {
                throw Invalid(sentence: "--access \(value): owner or socket is meant")
            }
            self.access = access
        default:
            guard let level = Log.Level(name: value) else {
                throw Invalid(sentence: "--log-level \(value): error, warning, notice, info or debug is meant")
            }
            logLevel = level
        }
    }

    /// A whole number with its unit, up to an hour.
    private static func span(_ text: String) -> Duration? {
        let digits = text.prefix(while: \.isASCIIDigit)
        let units: [Substring: Int64] = ["us": 1, "ms": 1_000, "s": 1_000_000, "": 1_000_000, "min": 60_000_000]
        guard let number = Int64(digits), number <= 3_600_000_000, let unit = units[text[digits.endIndex...]] else {
            return nil
        }
        let span = Duration(microseconds: number * unit)
        return span <= .seconds(3_600) ? span : nil
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
