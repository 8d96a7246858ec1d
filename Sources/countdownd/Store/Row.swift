import CountdownCore
import Varlink

/// A countdown as a row of the view `countdown`: a line of a batch, which is a JSON array.
struct Row {
    enum State: Int64 {
        case running = 0
        case paused = 1
        case finished = 2
        case cancelled = 3
        /// Ended and not to be kept: the row says so until those before it are deleted.
        case forgotten = 4
    }

    private let countdown: KeyedCountdown
    private let state: State
    private let epoch: Int64?
    private let instant: Int64
    private let rest: Int64

    init(_ countdown: KeyedCountdown, epoch: Int64) {
        self.countdown = countdown
        switch countdown.phase {
        case .running(.elapsed(let deadline)):
            (state, self.epoch, instant, rest) = (.running, epoch, deadline.microseconds, 0)
        case .running(.wall(let deadline)):
            (state, self.epoch, instant, rest) = (.running, nil, deadline.microseconds, 0)
        case .paused(let remaining):
            (state, self.epoch, instant, rest) = (.paused, nil, remaining.microseconds, 0)
        case .finished(let end, let late):
            (state, self.epoch, instant, rest) =
                (countdown.forget ? .forgotten : .finished, nil, end.microseconds, late.microseconds)
        case .cancelled(let end, let remaining):
            (state, self.epoch, instant, rest) =
                (countdown.forget ? .forgotten : .cancelled, nil, end.microseconds, remaining.microseconds)
        }
    }

    /// Writes the values in the order of the columns of the view, but that in place of the revision stands how far it is
    /// from the one that the batch counts from. Of a countdown without label and metadata that is to be kept, as most are,
    /// the line ends before these three.
    func encode(into writer: inout JSONWriter, from first: Revision) {
        writer.array { writer in
            countdown.key.withBytes { key in
                writer.elements(atMost: Self.room(forKey: key.count)) { encodeFigures(key, from: first, into: &$0) }
            }
            guard countdown.label != nil || !countdown.metadata.isEmpty || countdown.forget else { return }
            if let label = countdown.label { writer.element(label) } else { writer.elementNull() }
            if countdown.metadata.isEmpty { writer.elementNull() } else { writer.element(countdown.metadata) }
            writer.element(countdown.forget ? 1 : 0)
        }
    }

    private func encodeFigures(_ key: Span<UInt8>, from first: Revision, into elements: inout JSONMembers) {
        elements.firstElement(countdown.revision.number - first.number)
        elements.element(utf8: key)
        elements.element(state.rawValue)
        elements.element(countdown.clock == .elapsed ? 0 : 1)
        if let epoch { elements.element(epoch) } else { elements.elementNull() }
        elements.element(instant)
        elements.element(rest)
        elements.element(countdown.duration.microseconds)
        elements.element(countdown.started.microseconds)
    }

    /// Eight integers, each with a comma.
    private static func room(forKey bytes: Int) -> Int { 8 * 21 + 1 + JSONMembers.room(forString: bytes) }
}
