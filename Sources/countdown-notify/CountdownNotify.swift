import Glibc
import IPC
import System
import Varlink

/// The program: reads the command line and runs until SIGTERM or SIGINT.
@main
enum CountdownNotify {
    static func main() {
        do throws(Exit) {
            switch try NotifierOptions.parse(ProcessArguments.read()) {
            case .showHelp: print(NotifierOptions.help)
            case .showVersion: print("countdown-notify \(Version.current)")
            case .run(let options): try run(options)
            }
        } catch {
            writeLine(error.sentence)
            exit(error.status)
        }
    }

    private static func run(_ options: NotifierOptions) throws(Exit) {
        // A service manager that ends sends SIGHUP as well; writing to a closed standard error must not end the program.
        signal(SIGHUP, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        let signals: SignalDescriptor
        do {
            signals = try SignalDescriptor([SIGTERM, SIGINT])
        } catch {
            throw Exit(EX_OSERR, "cannot receive signals: \(error)")
        }
        let stateFile = try StateFile(in: StateFile.directory(option: options.stateDirectory))
        let path: String
        do {
            path = try Address.forClient().path
        } catch {
            throw Exit(error)
        }
        try Notifier(options, at: path, stateFile: stateFile, signals: signals).run()
    }
}

/// Why the program ends.
struct Exit: Error, Equatable {
    /// The exit code, from sysexits.h.
    let status: Int32
    /// What is wrong and what is expected.
    let sentence: String

    init(_ status: Int32, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// There is no place for the daemon's socket.
    init(_ error: AddressError) {
        let status = error == .emptyOption ? EX_USAGE : EX_UNAVAILABLE
        self.init(status, "\(error), or set \(Address.variable) to the path of a socket")
    }

    /// The daemon refused the watch, and would refuse it again.
    init(_ error: ClientError) {
        switch error {
        case .unreachable(_, EACCES), .unreachable(_, EPERM), .service(.permissionDenied):
            self.init(EX_NOPERM, "\(error)")
        case .service(.invalidParameter("match")):
            self.init(EX_USAGE, "a pattern has 1 to 255 bytes, and a ] after each [; write [[] for a [")
        case .service(.invalidParameter("keys")):
            self.init(EX_USAGE, "a key has 1 to 255 bytes and no control characters")
        case .countdown(.limitReached(let limit, let maximum)):
            self.init(EX_USAGE, "the daemon accepts patterns up to its limit \(limit) of \(maximum)")
        case .callTooLong: self.init(EX_USAGE, "too many patterns: \(error)")
        default: self.init(EX_PROTOCOL, "\(error)")
        }
    }
}
