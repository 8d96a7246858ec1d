import Synchronization

@testable import countdownd

/// The lines of a log.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// A log that keeps its lines here, each as `level: message`.
    var log: Log {
        Log(level: .debug) { [self] level, message in lines.withLock { $0.append("\(level): \(message)") } }
    }
}
