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
            switch try NotifierOptions.parse(
                ProcessArguments.read(),
                defaults: { () throws(DefaultsFile.Invalid) in try DefaultsFile() }
            ) {
            case .showHelp: print(NotifierOptions.help)
            case .showVersion: print("countdown-notify \(Version.current)")
            case .run(let options): try run(options)
            case .test(let options): try exit(test(options))
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
        let timer = try make("cannot make a timer") { () throws(SystemFailure) in try BootTimer() }
        let stateFile = try StateFile(in: StateFile.directory(option: options.stateDirectory))
        try Notifier(options, at: socketPath(), stateFile: stateFile, signals: signals, timer: timer).run()
    }

    private static func test(_ options: NotifierOptions) throws(Exit) -> Int32 {
        signal(SIGPIPE, SIG_IGN)
        try options.checkSound()
        let rehearsal = try Rehearsal(options, signals: signals())
        return try rehearsal.run(at: socketPath())
    }

    private static func socketPath() throws(Exit) -> String {
        do {
            return try Address.forClient().path
        } catch {
            throw Exit(error)
        }
    }

    private static func signals() throws(Exit) -> SignalDescriptor {
        try make("cannot receive signals") { () throws(SystemFailure) in
            try SignalDescriptor([SIGTERM, SIGINT, SIGCHLD])
        }
    }

    /// What a call of the system makes.
    private static func make<Value: ~Copyable>(
        _ failed: String,
        _ value: () throws(SystemFailure) -> Value
    ) throws(Exit) -> Value {
        do {
            return try value()
        } catch {
            throw Exit(EX_OSERR, "\(failed): \(error)")
        }
    }
}
