import CountdownCore

/// Lines that peers can bring about as often as they like. So many of each kind are written in a span of time; what is
/// over that is counted, and written as one line at the end of the span.
struct Complaints {
    enum Kind: CaseIterable {
        case notAccepting
        /// A user has too many connections.
        case excess
        /// What was told was not read.
        case slow
        /// What was sent is not finished, or waits.
        case hoarding
        case messageTooLong
        case brokenProtocol

        /// A program that breaks the protocol has a fault that is its own and nobody else's concern.
        var level: Log.Level { self == .brokenProtocol ? .debug : .warning }
    }

    private struct Span {
        let end: BootInstant
        var written = 0
        var withheld = 0
        /// The line that was withheld last.
        var last: String?
    }

    private let lines: Int
    private let length: Duration
    private var spans: [Kind: Span] = [:]

    init(policy: Policy) {
        (lines, length) = (policy.logLines, policy.logSpan)
    }

    /// When there is something to be summed up; nil where nothing was withheld.
    var next: BootInstant? { spans.values.filter { $0.withheld > 0 }.map(\.end).min() }

    /// Writes a line, or counts it.
    mutating func write(
        _ kind: Kind,
        _ message: String,
        fields: KeyValuePairs<String, String> = [:],
        to log: Log,
        at now: BootInstant
    ) {
        guard kind.level <= log.level else { return }
        sumUp(to: log, at: now)
        var span = spans[kind] ?? Span(end: now + length)
        if span.written < lines {
            span.written += 1
            log.write(kind.level, message, fields: fields)
        } else {
            span.withheld += 1
            span.last = message
        }
        spans[kind] = span
    }

    /// Ends the spans that are over, and writes what was withheld in them.
    mutating func sumUp(to log: Log, at now: BootInstant) {
        for kind in Kind.allCases {
            guard let span = spans[kind], span.end <= now else { continue }
            spans[kind] = nil
            guard let last = span.last else { continue }
            let more = span.withheld - 1
            log.write(kind.level, more > 0 ? "\(last), and \(more) more like it" : last, fields: ["MORE": "\(more)"])
        }
    }
}
