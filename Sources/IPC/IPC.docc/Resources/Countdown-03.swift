import Glibc
import IPC

/// Starts a countdown, or finds it running, and follows it: countdown KEY [SECONDS]
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
        for try await case .event(let event) in countdowns.events(Watch(keys: [key])) {
            switch event.type {
            // From now on the daemon sends every change, so no event of the countdown is missed.
            case .synced where !hasStarted:
                let reply = try await countdowns.start(key, for: duration)
                show("\(reply.outcome)", remainingUSec: reply.countdown.remainingUSec)
                hasStarted = true
            default: break
            }
        }
    }

    func show(_ what: String, remainingUSec: Int64?) {
        print("\(key): \(what), \(((remainingUSec ?? 0) + 500_000) / 1_000_000) s left")
        fflush(nil)
    }
}
