import CountdownCore
import Glibc
import System
import Text

/// The options of the command line. They are the whole configuration.
struct Options: Equatable {
    enum Access: String, CaseIterable {
        /// The daemon's user and root.
        case owner
        /// Every user that the socket's mode admits.
        case socket
    }

    enum ParseResult: Equatable {
        case run(Options)
        /// Print the store in this directory, as a daemon with these options would read it.
        case printStore(String, Options)
        case showHelp
        case showVersion
    }

    var socket: String?
    var socketMode: UInt32?
    var socketGroup: UInt32?
    var stateDirectory: String?
    var leeway = Duration.zero
    var access = Access.owner
    var durability = Durability.process
    /// The limits, with those that options change.
    var limits = Limits()
    var logLevel = Log.Level.info
    /// The socket of the bridge to the engine of a fleet; nil if the countdowns are not shared.
    var backend: String?
    var withoutBackend = WithoutBackend.serve

    /// Who can connect to a socket that is made here.
    var socketRights: Listener.Access {
        Listener.Access(mode: socketMode ?? (socketGroup == nil ? 0o600 : 0o660), group: socketGroup)
    }

    /// An end takes some 200 bytes of memory.
    private static let longestHistory = 10_000_000

    /// An hour, in microseconds.
    private static let longestLeeway: Int64 = 3_600_000_000

    static let help = """
        countdownd keeps keyed countdowns for all programs of its user.

        Usage: countdownd [OPTION…]

          --socket PATH           listen there (default: systemd's socket, else
                                  $XDG_RUNTIME_DIR/countdownd/io.countdownd)
          --socket-mode MODE      the mode of that socket, such as 0660 (default: 0600, or 0660 with --socket-group);
                                  other users also need --access socket
          --socket-group GROUP    the group of that socket, as a name or a number
          --state-directory DIR   keep the countdowns there (default: systemd's $STATE_DIRECTORY, else
                                  $XDG_STATE_HOME/countdownd, else ~/.local/state/countdownd)
          --durability process|power-loss
                                  what an answered change survives: a crash of the daemon, or also a power failure, for
                                  which every change waits for the disk (default: process)
          --history NUMBER        the number of ends to keep for clients that reconnect (default: 100000)
          --leeway DURATION       let countdowns end up to so much later, to wake up less often (default: 0)
          --backend PATH          share the countdowns with a fleet, by the bridge that listens there
          --backend-down serve|refuse
                                  while the engine of the fleet cannot be reached: answer what changes nothing from the
                                  countdowns that are known, or refuse it (default: serve)
          --access owner|socket   who may call: its user and root, or every user that the socket's mode admits
                                  (default: owner)
          --log-level LEVEL       error, warning, notice, info or debug (default: info; keys are logged at debug)
          --print-store DIRECTORY print what a start would serve from this state directory, or folder of a log, as lines
                                  of JSON, and to standard error what it would report; change nothing, and exit
          --help                  print this text
          --version               print the version

        It runs in the foreground until SIGTERM or SIGINT. As a service of the user's systemd:
          systemctl --user enable --now countdownd.socket
        """

    /// Parses the arguments after the program's name. If an option is repeated, its last value counts.
    static func parse(_ arguments: [String]) throws(OptionParser.UsageError) -> ParseResult {
        var options = Options()
        var parser = OptionParser(
            arguments,
            flags: ["--help", "-h", "--version"],
            options: [
                "--socket", "--socket-mode", "--socket-group", "--state-directory", "--durability", "--history",
                "--leeway", "--access", "--log-level", "--backend", "--backend-down", "--print-store",
            ]
        )
        var printed: String?
        while let argument = try parser.next() {
            switch argument {
            case .flag("--version"): return .showVersion
            case .flag: return .showHelp
            case .option("--print-store", let value): printed = value
            case .option(let name, let value): try options.set(name, to: value)
            case .operand(let word):
                throw OptionParser.UsageError("unexpected argument '\(PrintableText.escape(word))'; see --help")
            }
        }
        guard options.access == .socket || options.socketRights.mode & 0o022 == 0 else {
            throw OptionParser.UsageError("the mode of the socket admits other users: use --access socket, too")
        }
        return printed.map { .printStore($0, options) } ?? .run(options)
    }

    private mutating func set(_ option: String, to value: String) throws(OptionParser.UsageError) {
        func invalid(_ expectation: String) -> OptionParser.UsageError {
            OptionParser.UsageError(invalid: value, of: option, expectation: expectation)
        }
        switch option {
        case "--socket": socket = value
        case "--socket-mode":
            guard let mode = UInt32(value, radix: 8), mode <= 0o777, mode & 0o600 == 0o600 else {
                throw invalid("an octal mode that lets the owner read and write, such as 0660")
            }
            socketMode = mode
        case "--socket-group":
            guard let group = unsafe getgrnam(value)?.pointee.gr_gid ?? UInt32(value), group != .max else {
                throw invalid("the name or number of a group")
            }
            socketGroup = group
        case "--state-directory": stateDirectory = value
        case "--backend":
            guard SocketAddress.isPath(value) else {
                throw invalid("the path of a socket, of 1 to \(SocketAddress.pathLimit) bytes")
            }
            backend = value
        case "--backend-down":
            guard let withoutBackend = WithoutBackend(rawValue: value) else { throw invalid("serve or refuse") }
            self.withoutBackend = withoutBackend
        case "--durability":
            guard let durability = Durability(rawValue: value) else { throw invalid("process or power-loss") }
            self.durability = durability
        case "--history":
            guard let history = Int(value), (0...Self.longestHistory).contains(history) else {
                throw invalid("a number from 0 to \(Self.longestHistory)")
            }
            limits.history = history
        case "--leeway":
            guard let length = try? DurationParser.parse(value), length <= Self.longestLeeway else {
                throw invalid("a duration of at most 1h, such as 250ms")
            }
            leeway = Duration(microseconds: length)
        case "--access":
            guard let access = Access(rawValue: value) else { throw invalid("owner or socket") }
            self.access = access
        default:
            guard let level = Log.Level(name: value) else { throw invalid("error, warning, notice, info or debug") }
            logLevel = level
        }
    }
}
