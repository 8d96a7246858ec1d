import Glibc
import IPC

/// Starts a countdown, or finds it running, and follows it to its end: countdown KEY [SECONDS]
///
/// The countdown belongs to the daemon: stop this program and run it again, and the countdown is still running. If the
/// daemon restarts, no end is missed.
@main
struct Command {
    static func main() async {
        let words = CommandLine.arguments.dropFirst()
        guard let key = words.first, let seconds = Double(words.dropFirst().first ?? "60") else {
            print("usage: countdown KEY [SECONDS]")
            exit(64)
        }
        do {
            for try await step in try AsyncClient().follow(key, for: .seconds(seconds)) {
                let left = ((step.remaining ?? .zero) + .milliseconds(500)).components.seconds
                let line = "\(key): \(step.type == .tick ? "running" : step.type.rawValue), \(left) s left\n"
                write(step.type == .away ? STDERR_FILENO : STDOUT_FILENO, line, line.utf8.count)
            }
        } catch {
            print("\(key): \(error)")
            exit(1)
        }
    }
}
