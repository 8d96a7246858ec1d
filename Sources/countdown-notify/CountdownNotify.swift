import Glibc
import IPC
import System
import Varlink

/// The program: reads the command line and runs until SIGTERM or SIGINT.
@main
enum CountdownNotify {
    static func main() {
        do throws(Exit) {
            try Self.openStandardStreams()
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

    private static func openStandardStreams() throws(Exit) {
        do throws(Surroundings.Shortage) {
            try Surroundings.openStandardStreams()
        } catch {
            throw Exit(Surroundings.Shortage.status, error.sentence)
        }
    }

    private static func run(_ options: NotifierOptions) throws(Exit) {
        // A service manager that ends sends SIGHUP as well; writing to a closed standard error must not end the program.
        signal(SIGHUP, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        try options.checkSound()
        let signals = try signals()
        let timer = try timer()
        let stateFile = try StateFile(in: StateFile.directory(option: options.stateDirectory))
        let path: String
        do {
            path = try Address.forClient().path
        } catch {
            throw Exit(error)
        }
        try Notifier(options, at: path, stateFile: stateFile, signals: signals, timer: timer).run()
    }

    private static func signals() throws(Exit) -> SignalDescriptor {
        do {
            return try SignalDescriptor([SIGTERM, SIGINT, SIGCHLD])
        } catch {
            throw Exit(EX_OSERR, "cannot receive signals: \(error)")
        }
    }

    private static func timer() throws(Exit) -> BootTimer {
        do {
            return try BootTimer()
        } catch {
            throw Exit(EX_OSERR, "cannot make a timer: \(error)")
        }
    }
}
