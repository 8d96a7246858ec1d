import IPC

/// The command line.
struct NotifierOptions: Equatable {
    enum Command: Equatable {
        case run(NotifierOptions)
        case showHelp
        case showVersion
    }

    /// Glob patterns; with `keys` none, all countdowns are meant.
    var patterns: [String] = []
    /// Taken as they are.
    var keys: [String] = []
    var showsProgress = false
    var stateDirectory: String?

    static let help = """
        countdown-notify tells endings of countdowns as desktop notifications.

        Usage: countdown-notify [OPTION…] [PATTERN…]

        Endings of the countdowns whose key matches a pattern are told, of all where there is none: tea, 'login/*'.
        What has been told is remembered: what ended while it did not run is told when it is started again.

          --progress              show the progress of what runs as well, updated in place
          --state-directory DIR   remember there what has been told (default: systemd's $STATE_DIRECTORY, else
                                  $XDG_STATE_HOME/countdown-notify, else ~/.local/state/countdown-notify)
          --help                  this text
          --version               the version

        It runs in the foreground until SIGTERM or SIGINT, and waits for what is not there: the daemon, the session
        bus, whoever shows notifications. Two at a time need a directory each. As a service of the user's systemd:
          systemctl --user enable --now countdown-notify

        Exit codes:
           0  stopped
          64  what was typed cannot be meant
          69  another one tells from that directory, or there is no place for a socket of the daemon
          71  the system lacks something
          73  the directory cannot be had
          76  what answered is no countdownd, or one that speaks otherwise
          77  the daemon serves another user
        """

    /// Reads the arguments behind the program's name; an option that stands twice counts as it stands last.
    static func parse(_ arguments: [String]) throws(Exit) -> Command {
        var options = NotifierOptions()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            switch parts[0] {
            case "--":
                for word in rest { try options.add(word) }
                rest = []
            case "--help", "-h": return .showHelp
            case "--version": return .showVersion
            case "--progress": options.showsProgress = true
            case "--state-directory":
                guard let value = parts.count > 1 ? parts[1] : rest.popFirst(), !value.isEmpty else {
                    throw Exit.usage("--state-directory needs a value, see --help")
                }
                options.stateDirectory = value
            case _ where argument.hasPrefix("-"): throw Exit.usage("there is no option \(argument), see --help")
            default: try options.add(argument)
            }
        }
        return .run(options)
    }

    /// What has nothing of a pattern is a key, of which the daemon takes more.
    private mutating func add(_ word: String) throws(Exit) {
        guard !word.isEmpty else { throw Exit.usage("an empty pattern matches nothing; without any, all are told") }
        if word.contains(where: { "*?[".contains($0) }) { patterns.append(word) } else { keys.append(word) }
    }

    /// The watch of those that were named.
    ///
    /// - Parameters:
    ///   - tick: microseconds between ticks, 0 for none.
    ///   - since: the revision up to which all is known.
    /// - Returns: the call that begins it.
    func watch(tick: Int64, since: Int64? = nil) -> Watch {
        Watch(
            match: patterns.isEmpty ? nil : patterns,
            tickUSec: tick,
            since: since,
            heartbeatUSec: ResumableWatch.heartbeat,
            keys: keys.isEmpty ? nil : keys
        )
    }
}

extension Exit {
    fileprivate static func usage(_ sentence: String) -> Exit { Exit(64, sentence) }
}
