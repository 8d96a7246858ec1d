import Glibc
import IPC
import System
import Text

/// The request on the command line.
enum NotifierCommand: Equatable {
    case run(NotifierOptions)
    /// Show a notification, ring, and print each missing part.
    case test(NotifierOptions)
    case showHelp
    case showVersion
}

/// The command line of countdown-notify.
struct NotifierOptions: Equatable {
    var selection = KeySelection()
    var showsProgress = false
    /// Whether the program ends when the session bus does.
    var endsWithBus = false
    var rules = AnnouncementRules()
    var maximumSounds = 20
    /// The file of the alarm; nil for the one of the sound theme.
    var sound: String?
    /// What names that file, for errors: the option, or a line of the file of defaults.
    var soundOrigin = "--sound"
    /// Whether the machine is woken from suspend.
    var wakes = false
    var stateDirectory: String?

    static let help = """
        countdown-notify shows the ends of countdowns as desktop notifications.

        Usage: countdown-notify [OPTION…] [PATTERN…]

        Shows the ends of the countdowns whose key matches a pattern, such as tea or 'login/*'; without a pattern, of
        all. Ends that happen while it does not run are shown when it is started again.

          --progress              also show the progress of running countdowns, updated in place
          --session               exit when the session bus ends, for desktops without systemd
          --ring yes|once|no      play the alarm at an end until it is answered, once, or not at all (default: yes);
                                  the metadata ring=… of a countdown overrides it
          --ring-times COUNT      play it at most this often for an end (default: 20)
          --sound FILE            play this file (default: the alarm of the sound theme)
          --critical PATTERN      show the ends of these keys with critical urgency; may be repeated
          --warn DURATION         also notify this long before an end, such as 1m; the metadata warn=… overrides it
          --wake                  wake the machine from suspend for countdowns with the metadata wake=yes; needs
                                  CAP_WAKE_ALARM
          --state-directory DIR   remember there which ends were shown (default: systemd's $STATE_DIRECTORY, else
                                  $XDG_STATE_HOME/countdown-notify, else ~/.local/state/countdown-notify)
          --test                  show a notification, ring once, name missing parts, and exit
          --help                  show this help
          --version               show the version

        It runs in the foreground until SIGTERM or SIGINT. If the daemon, the session bus or the notification service
        is missing, it waits for it. Two instances need two state directories. As a systemd user service:
          systemctl --user enable --now countdown-notify

        The file countdownd/config in $XDG_CONFIG_HOME or ~/.config has defaults, such as ring = once, in lines of
        ring, ring-times, sound, warn and snooze, the duration of the button that adds time. Options override it.

        Exit codes:
           0  stopped, or with --session the bus ended
          64  usage error, in the file of defaults too
          66  the file of --sound cannot be read
          69  the state directory is in use, there is no place for the daemon's socket, or --test found something
              missing
          71  system error
          73  the state directory cannot be used
          76  protocol mismatch with the daemon
          77  the daemon serves another user
        """

    /// Parses the arguments after the program's name. If an option is repeated, its last value counts; options override
    /// the file of defaults, whose errors are usage errors, too.
    static func parse(
        _ arguments: [String],
        defaults: () throws(DefaultsFile.Invalid) -> DefaultsFile
    ) throws(Exit) -> NotifierCommand {
        var options = NotifierOptions()
        let fault = options.apply(defaults)
        var parser = OptionParser(
            arguments,
            flags: ["--help", "-h", "--version", "--progress", "--session", "--wake", "--test"],
            options: ["--state-directory", "--ring", "--ring-times", "--sound", "--critical", "--warn"]
        )
        var isTest = false
        do throws(OptionParser.UsageError) {
            while let argument = try parser.next() {
                switch argument {
                case .flag("--version"): return .showVersion
                case .flag("--progress"): options.showsProgress = true
                case .flag("--session"): options.endsWithBus = true
                case .flag("--wake"): options.wakes = true
                case .flag("--test"): isTest = true
                case .flag: return .showHelp
                case .option(let name, let value): try options.set(name, value)
                case .operand(""): throw OptionParser.UsageError("invalid pattern '': use a key or a pattern")
                case .operand(let word): options.selection.add(typed: word)
                }
            }
        } catch {
            throw Exit(EX_USAGE, error.sentence)
        }
        if let fault { throw fault }
        return isTest ? .test(options) : .run(options)
    }

    /// Sets the defaults of the file. Returns why the file cannot be used; nil if it can.
    private mutating func apply(_ defaults: () throws(DefaultsFile.Invalid) -> DefaultsFile) -> Exit? {
        do throws(DefaultsFile.Invalid) {
            for setting in try defaults().settings {
                do throws(OptionParser.UsageError) {
                    try set(setting.name.rawValue, setting.value)
                } catch {
                    throw setting.invalid(error.sentence)
                }
                if setting.name == .sound { soundOrigin = "\(setting.place): sound" }
            }
            return nil
        } catch {
            return Exit(EX_USAGE, error.sentence)
        }
    }

    /// Sets an option, or the default of the same name.
    private mutating func set(_ name: String, _ value: String) throws(OptionParser.UsageError) {
        func invalid(_ expectation: String) -> OptionParser.UsageError {
            OptionParser.UsageError(invalid: value, of: name, expectation: expectation)
        }
        switch name.drop(while: { $0 == "-" }) {
        case "ring":
            guard let mode = RingMode(rawValue: value) else { throw invalid("yes, once or no") }
            rules.ring = mode
        case "ring-times":
            guard let count = Int(value), count > 0 else { throw invalid("a number of at least 1") }
            maximumSounds = count
        case "sound": (sound, soundOrigin) = (value, name)
        case "critical":
            guard let pattern = KeyPattern(value) else { throw invalid("a pattern with a ] after each [") }
            rules.critical.append(pattern)
        case "warn": rules.warningUSec = try OptionParser.duration(value, of: name)
        case "snooze": rules.snoozeUSec = try OptionParser.duration(value, of: name)
        default: stateDirectory = value
        }
    }

    /// Checks that the file of the alarm can be read, if one is named.
    func checkSound() throws(Exit) {
        guard let sound else { return }
        do throws(SystemFailure) {
            guard try !FileStatus.read(sound).isDirectory else { throw SystemFailure("open", code: EISDIR) }
            guard unsafe access(sound, R_OK) == 0 else { throw SystemFailure("open") }
        } catch {
            throw Exit(EX_NOINPUT, "\(soundOrigin) \(PrintableText.escape(sound)): \(systemMessage(error.code))")
        }
    }
}
