import Glibc
import RedisBackend
import System

/// The program: reads the command line, starts the bridge, and waits for signals.
@main
enum CountdowndRedis {
    static func main() {
        do {
            switch try Options.parse(ProcessArguments.read()) {
            case .showHelp: print(Options.help)
            case .showVersion: print(Options.version)
            case .run(let options): try run(options)
            }
        } catch let error as OptionParser.UsageError {
            end(error.sentence, status: EX_USAGE)
        } catch {
            end("\(error)", status: EX_CONFIG)
        }
    }

    private static func run(_ options: Options) throws -> Never {
        signal(SIGPIPE, SIG_IGN)
        // Before any thread starts, because threads inherit which signals are blocked.
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in [SIGTERM, SIGINT, SIGHUP, SIGUSR1] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let server = try BackendServer(options, log: Log())
        if let shift = options.clockShift { server.setClockShift(shift) }
        while true {
            var number: Int32 = 0
            guard sigwait(&signals, &number) == 0 else { continue }
            switch number {
            case SIGHUP: server.reload()
            case SIGUSR1: server.setClockShift(options.clockShift ?? 0)
            default: exit(EXIT_SUCCESS)
            }
        }
    }

    private static func end(_ sentence: String, status: Int32) -> Never {
        Log.writeLine("countdownd-redis: \(PrintableText.escape(sentence, doublesBackslashes: false))\n")
        exit(status)
    }
}
