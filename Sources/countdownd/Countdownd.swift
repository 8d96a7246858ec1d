import Glibc
import IPC
import System
import Text

/// The program: reads the command line, opens the socket, and starts the daemon.
@main
enum Countdownd {
    /// How many file descriptors must be free at the start. The store, the socket and libdispatch take about 16, and
    /// libdispatch traps if it gets none; the rest is for clients.
    private static let neededDescriptors = 24
    /// Threads of libdispatch: its manager, one for the daemon, one that waits for the disk, and one in reserve.
    private static let neededThreads = 4

    static func main() {
        do throws(OptionParser.UsageError) {
            switch try Options.parse(ProcessArguments.read()) {
            case .showHelp: print(Options.help)
            case .showVersion: print("countdownd \(Version.current)")
            case .printStore(let directory, let options): printStore(in: directory, options)
            case .run(let options): run(options)
            }
        } catch {
            end(error.sentence, status: EX_USAGE)
        }
    }

    private static func printStore(in directory: String, _ options: Options) {
        do throws(StoreFailure) {
            try PrintStore(directory: directory, options: options).run()
        } catch {
            end(error.advice, status: EXIT_FAILURE)
        }
    }

    private static func run(_ options: Options) -> Never {
        do throws(Surroundings.Shortage) {
            try Surroundings.check(descriptors: neededDescriptors, threads: neededThreads)
        } catch {
            end(error.sentence, status: Surroundings.Shortage.status)
        }
        prepareProcess()
        let log = Log(level: options.logLevel, journalStream: Environment.value(of: "JOURNAL_STREAM"))
        let serviceManager = ServiceManager()
        do {
            // Before any thread starts, because threads inherit which signals are blocked.
            let signals = try SignalDescriptor([SIGTERM, SIGINT])
            let daemon = try Daemon(
                options: options,
                log: log,
                serviceManager: serviceManager,
                signals: signals,
                storage: storage(options, log),
                listen: { try listener(options, serviceManager) }
            )
            daemon.run()
        } catch OpenError.held(let path, let holder) {
            end("\(path) is held by another countdownd: \(holder)", status: EX_UNAVAILABLE)
        } catch let failure as Listener.Failure {
            end("\(failure)", status: EX_UNAVAILABLE)
        } catch let failure as AddressError {
            let sentence = failure == .emptyPath ? "--socket needs a path" : "\(failure), or use --socket"
            end(sentence, status: EX_UNAVAILABLE)
        } catch {
            end("\(error)", status: EX_OSERR)
        }
    }

    /// Sets the state of the whole process. This must come before any thread starts.
    private static func prepareProcess() {
        umask(0o077)
        // Otherwise libdispatch logs to syslog each thread that must not raise its priority.
        unsafe setenv("LIBDISPATCH_LOG", "NO", 0)
        signal(SIGHUP, SIG_IGN)
        signal(SIGPIPE, SIG_IGN)
        // A write beyond the limit on the size of files then fails, and the daemon lives.
        signal(SIGXFSZ, SIG_IGN)
        // A shell without job control lets programs in the background ignore SIGINT; the daemon stops on it all the same.
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }

    private static func storage(_ options: Options, _ log: Log) -> RetryingStore {
        let location = StoreLocation(
            directory: StateDirectory.path(of: "countdownd", option: options.stateDirectory),
            durability: options.durability,
            limits: options.limits,
            followsEngine: options.backend != nil,
            log: log
        )
        return RetryingStore(location: location, log: log)
    }

    /// The socket that systemd passed, or else one of our own.
    private static func listener(_ options: Options, _ serviceManager: ServiceManager) throws -> Listener {
        switch serviceManager.takeActivation() {
        case .socket(let descriptor):
            guard options.socketMode == nil, options.socketGroup == nil else {
                end("systemd made the socket: use SocketMode= and SocketGroup= of its unit", status: EX_CONFIG)
            }
            return try Listener(activated: descriptor)
        case .unusable(let sentence): end(sentence, status: EX_CONFIG)
        case .none:
            let path = try Address.forServer(option: options.socket).path
            return try Listener(at: path, access: options.socketRights)
        }
    }

    private static func end(_ sentence: String, status: Int32) -> Never {
        Log.end("countdownd", sentence, status: status)
    }
}
