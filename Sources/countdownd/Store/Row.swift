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

    static let columns =
        "revision, key, state, clock, epoch, instant, rest, length, started, label, metadata, forget"
    static let parameters = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"

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

    func bind(to statement: Statement) {
        statement.bind(countdown.revision.number, at: 1)
        statement.bind(countdown.key.text, at: 2)
        statement.bind(state.rawValue, at: 3)
        statement.bind(countdown.clock == .elapsed ? 0 : 1, at: 4)
        statement.bind(epoch, at: 5)
        statement.bind(instant, at: 6)
        statement.bind(rest, at: 7)
        statement.bind(countdown.length.microseconds, at: 8)
        statement.bind(countdown.started.microseconds, at: 9)
        statement.bind(countdown.label, at: 10)
        statement.bind(Self.text(of: countdown.metadata), at: 11)
        statement.bind(countdown.forget ? 1 : 0, at: 12)
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
