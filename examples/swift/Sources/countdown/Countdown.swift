import Glibc
import IPC

/// Starts a countdown, or finds it running, and follows it to its end: countdown KEY [SECONDS]
///
/// The countdown belongs to the daemon: stop this program and run it again, and the countdown is still running. If the
/// daemon restarts, the sequence of events resumes and misses none.
@main
struct Command {
    let key: String
    let duration: Duration

    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard let key = words.first, let seconds = Double(words.dropFirst().first ?? "60") else {
            print("usage: countdown KEY [SECONDS]")
            exit(64)
        }
        do {
            try await Command(key: key, duration: .seconds(seconds)).run()
        } catch {
            print("\(key): \(error)")
            exit(1)
        }
    }

    func run() async throws {
        let countdowns = try AsyncClient()
        var hasStarted = false
        for try await element in countdowns.events(Watch(keys: [key])) {
            switch element {
            case .event(let event):
                switch event.type {
                // From now on the daemon sends every change, so no event of the countdown is missed.
                case .synced where !hasStarted:
                    let reply = try await countdowns.start(key, for: duration)
                    show("\(reply.outcome)", reply.countdown.remaining)
                    hasStarted = true
                case .tick:
                    show("running", event.remaining ?? .zero)
                case .finished, .cancelled:
                    return print("\(key): \(event.type)")
                default: break
                }
            // The daemon has lost its history, perhaps with the countdown: begin again.
            case .historyTrimmed: hasStarted = false
            case .forgotten: if hasStarted { return print("\(key): ended while the daemon was away") }
            case .disconnected(let error): complain("\(error); trying again")
            }
        }
    }

    func complain(_ text: String) {
        let line = "\(key): \(text)\n"
        write(STDERR_FILENO, line, line.utf8.count)
    }

    func show(_ what: String, _ remaining: Duration) {
        print("\(key): \(what), \((remaining + .milliseconds(500)).components.seconds) s left")
        fflush(nil)
    }
}
