import Synchronization

@testable import countdownd

/// What a log was told.
final class Lines: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// A log that keeps its lines here, each as `level: message`.
    var log: Log {
        Log(level: .debug) { [self] level, message in lines.withLock { $0.append("\(level): \(message)") } }
    }
}
