public import System

/// The lines of a log.
public final class Lines: Sendable {
    private let lines = Guarded<[String]>([])

    /// No lines yet.
    public init() {}

    /// The lines so far, each as `level: message`.
    public var all: [String] { lines.withLock { $0 } }

    /// A log that keeps its lines here.
    public var log: Log {
        Log(level: .debug) { [self] level, message, _ in lines.withLock { $0.append("\(level): \(message)") } }
    }
}
