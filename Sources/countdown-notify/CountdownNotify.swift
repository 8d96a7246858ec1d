import CLinux
import Glibc
import IPC
import System

/// The program: reads the command line, and runs until it is told to end.
@main
enum CountdownNotify {
    static func main() {
        do throws(Exit) {
            switch try Options.parse(ProcessArguments.read()) {
            case .showHelp: print(Options.help)
            case .showVersion: print("countdown-notify \(Version.current)")
            case .run(let options): try run(options)
            }
        } catch {
            writeLine(error.sentence)
            exit(error.status)
        }
    }

    private static func run(_ options: Options) throws(Exit) {
        guard linux_take_signals() == 0 else { throw Exit(EX_OSERR, "cannot take signals: \(systemMessage(errno))") }
        let signals = linux_signal_descriptor()
        guard signals >= 0 else { throw Exit(EX_OSERR, "cannot wait for signals: \(systemMessage(errno))") }
        let record = try Record(in: Record.directory(option: options.stateDirectory))
        let path: String
        do {
            path = try Address.forClient().path
        } catch {
            throw Exit(error)
        }
        try Notifier(options, at: path, record: record, signals: signals).run()
    }
}
