import CountdownCore
import Varlink

/// A countdown as a row of the table.
struct Row {
    enum State: Int64 {
        case running = 0
        case paused = 1
        case finished = 2
        case cancelled = 3
        /// Ended and not to be kept: the row says so until those before it are deleted.
        case forgotten = 4
    }

    /// All but that of the revision, in the order in which they are bound.
    static let columns = "key, state, clock, epoch, instant, rest, length, started, label, metadata, forget"
    static let columnCount: Int32 = 11

    private let countdown: Countdown
    private let state: State
    private let epoch: Int64?
    private let instant: Int64
    private let rest: Int64

    init(_ countdown: Countdown, epoch: Int64) {
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

    /// Binds all but the revision and the key to the parameters from that of the key on.
    func bind(to statement: Statement, from first: Int32) {
        statement.bind(state.rawValue, at: first + 1)
        statement.bind(countdown.clock == .elapsed ? 0 : 1, at: first + 2)
        statement.bind(epoch, at: first + 3)
        statement.bind(instant, at: first + 4)
        statement.bind(rest, at: first + 5)
        statement.bind(countdown.length.microseconds, at: first + 6)
        statement.bind(countdown.started.microseconds, at: first + 7)
        statement.bind(countdown.label, at: first + 8)
        statement.bind(Self.text(of: countdown.metadata), at: first + 9)
        statement.bind(countdown.forget ? 1 : 0, at: first + 10)
    }

    private static func text(of metadata: [String: String]) -> String? {
        guard !metadata.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in metadata { writer.member(named: name, value) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}
