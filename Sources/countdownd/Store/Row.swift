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

    /// What a row says.
    enum Reading {
        case countdown(Countdown)
        case forgotten(Key, Revision)
    }

    /// Reads the row that a statement stands on.
    ///
    /// - Parameters:
    ///   - statement: a query for `columns`.
    ///   - shift: by how much the instants of an epoch are moved onto this boot's clock.
    /// - Returns: what the row says, nil where it cannot be one of ours.
    static func read(_ statement: Statement, shift: (Int64) -> TimeSpan?) -> Reading? {
        let revision = Revision(statement.integer(0))
        // Where any of these were beyond what is ever written, sums of them could overflow.
        guard revision.number > 0, isPossible(revision.number),
            (Int32(5)...8).allSatisfy({ isPossible(statement.integer($0)) })
        else { return nil }
        guard let key = statement.text(1).flatMap({ text in try? Key(text) }),
            let state = State(rawValue: statement.integer(2)),
            let clock = clock(statement.integer(3))
        else { return nil }
        if state == .forgotten { return .forgotten(key, revision) }
        guard let phase = phase(state, clock, statement, shift: shift),
            let metadata = metadata(from: statement.text(10))
        else { return nil }
        return .countdown(
            Countdown(
                key: key,
                phase: phase,
                clock: clock,
                length: TimeSpan(microseconds: statement.integer(7)),
                started: WallInstant(microseconds: statement.integer(8)),
                label: statement.text(9),
                metadata: metadata,
                forget: statement.integer(11) != 0,
                revision: revision
            )
        )
    }

    /// Whether a number is one of microseconds, or a revision, that a daemon may have written.
    static func isPossible(_ number: Int64) -> Bool {
        number.magnitude < 1 << 53
    }

    private static func clock(_ number: Int64) -> Clock? {
        switch number {
        case 0: .elapsed
        case 1: .wall
        default: nil
        }
    }

    private static func phase(
        _ state: State,
        _ clock: Clock,
        _ statement: Statement,
        shift: (Int64) -> TimeSpan?
    ) -> Phase? {
        let instant = statement.integer(5)
        let rest = TimeSpan(microseconds: statement.integer(6))
        switch state {
        case .running where clock == .elapsed:
            guard let shift = shift(statement.integer(4)) else { return nil }
            return .running(until: .elapsed(BootInstant(microseconds: instant) + shift))
        case .running: return .running(until: .wall(WallInstant(microseconds: instant)))
        case .paused: return .paused(remaining: TimeSpan(microseconds: instant))
        case .finished: return .finished(at: WallInstant(microseconds: instant), late: rest)
        case .cancelled: return .cancelled(at: WallInstant(microseconds: instant), remaining: rest)
        case .forgotten: return nil
        }
    }

    // MARK: Metadata

    private static func text(of metadata: [String: String]) -> String? {
        guard !metadata.isEmpty else { return nil }
        var writer = JSONWriter()
        writer.object { writer in
            for (name, value) in metadata { writer.member(named: name, value) }
        }
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private static func metadata(from text: String?) -> [String: String]? {
        guard let text else { return [:] }
        var writer = JSONWriter()
        writer.object { $0.member("metadata", raw: Array(text.utf8)) }
        guard let object = try? JSONObject(parsing: writer.bytes) else { return nil }
        return try? object.stringMap("metadata")
    }
}
