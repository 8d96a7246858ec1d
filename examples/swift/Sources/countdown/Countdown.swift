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
            let command = Command(key: key, duration: .seconds(seconds))
            // If the daemon has lost its history, perhaps with the countdown, it begins again.
            while try await !command.reachesEnd() {}
        } catch {
            print("\(key): \(error)")
            exit(1)
        }
    }

    /// Follows the countdown to its end; false if the daemon has lost its history.
    func reachesEnd() async throws -> Bool {
        do {
            try await run()
            return true
        } catch ClientError.countdown(.historyTrimmed) {
            return false
        }
    }

    func run() async throws {
        let countdowns = try AsyncClient()
        var hasStarted = false
        for try await event in countdowns.events(Watch(keys: [key])) {
            switch event.type {
            // From now on the daemon sends every change, so no event of the countdown is missed.
            case .synced where !hasStarted:
                let reply = try await countdowns.start(key, for: duration)
                show("\(reply.outcome)", remainingUSec: reply.countdown.remainingUSec)
                hasStarted = true
            case .tick:
                show("running", remainingUSec: event.remainingUSec)
            case .finished, .cancelled:
                return print("\(key): \(event.type)")
            default: break
            }
        }
    }

    func show(_ what: String, remainingUSec: Int64?) {
        print("\(key): \(what), \(((remainingUSec ?? 0) + 500_000) / 1_000_000) s left")
        fflush(nil)
    }
}
