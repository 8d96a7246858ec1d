import FleetBridge
import Glibc
import System
import Text

/// The program: reads the command line, starts the bridge, and waits for signals.
@main
enum CountdowndRedis {
    /// How many file descriptors must be free at the start: for the engine, also while it is connected anew, for SwiftNIO,
    /// and 9 for each daemon.
    private static let neededDescriptors = 32
    /// Threads of SwiftNIO and of Swift's tasks, and one in reserve.
    private static let neededThreads = 6

    static func main() {
        do {
            switch try BridgeOptions.parse(ProcessArguments.read()) {
            case .showHelp: print(BridgeOptions.help)
            case .showVersion: print(BridgeOptions.version)
            case .run(let options): try run(options)
            }
        } catch let error as OptionParser.UsageError {
            end(error.sentence, status: EX_USAGE)
        } catch let error as Surroundings.Shortage {
            end(error.sentence, status: Surroundings.Shortage.status)
        } catch {
            end("\(error)", status: EX_CONFIG)
        }
    }

    private static func run(_ options: BridgeOptions) throws -> Never {
        try Surroundings.check(descriptors: neededDescriptors, threads: neededThreads)
        signal(SIGPIPE, SIG_IGN)
        // Before any thread starts, because threads inherit which signals are blocked.
        let signals = try SignalDescriptor([SIGTERM, SIGINT, SIGHUP])
        let server = try BridgeServer(options, log: Log(of: "countdownd-redis"))
        while true {
            var events = PollSet()
            events.add(signals.descriptor)
            let file = server.watchDescriptor.map { events.add($0) }
            events.add(server.nextLook)
            events.wait()
            if events.isReady(file) || server.nextLook?.hasPassed == true { server.listenAgainIfLost() }
            while let signal = signals.next() {
                switch signal {
                case SIGHUP: server.reload()
                default:
                    server.removeFile()
                    exit(EXIT_SUCCESS)
                }
            }
        }
    }

    private static func end(_ sentence: String, status: Int32) -> Never {
        Log.end("countdownd-redis", sentence, status: status)
    }
}
