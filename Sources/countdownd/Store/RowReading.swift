import CountdownCore
import Varlink

/// How a row is read. Whoever has written in the table, what comes of it is one of our values, or a word on what is wrong.
extension Row {
    /// What a row says.
    enum Reading {
        case countdown(Countdown)
        case forgotten(Key, Revision)
        /// No daemon writes such a row; of which countdown it is, where that can be read.
        case impossible(Key?, fault: String)
    }

    private struct Fault: Error {
        let text: String
    }

    /// Reads the row that a statement stands on.
    ///
    /// - Parameters:
    ///   - statement: a query for `columns`.
    ///   - shift: by how much the instants of an epoch are moved onto this boot's clock; nil where there is no such epoch.
    /// - Returns: what it says.
    static func read(_ statement: Statement, shift: (Int64) -> TimeSpan?) -> Reading {
        let key = statement.text(1).flatMap { text in try? Key(text) }
        do throws(Fault) {
            return try read(statement, key: key, shift: shift)
        } catch {
            return .impossible(key, fault: error.text)
        }
    }

    private static func read(
        _ statement: Statement,
        key: Key?,
        shift: (Int64) -> TimeSpan?
    ) throws(Fault) -> Reading {
        guard let revision = statement.integer(0).flatMap(Revision.init(stored:)) else {
            throw Fault(text: "no change can have that revision")
        }
        guard let key else { throw Fault(text: "its key is none") }
        guard let state = statement.integer(2).flatMap(State.init) else { throw Fault(text: "its state is not known") }
        if state == .forgotten { return .forgotten(key, revision) }
        let clock = try clock(of: statement)
        return .countdown(
            Countdown(
                key: key,
                phase: try phase(state, clock, statement, shift: shift),
                clock: clock,
                length: try span(7, "length", of: statement, atLeast: 1),
                started: WallInstant(microseconds: try number(8, "started", of: statement)),
                label: try optionalText(9, "label", of: statement),
                metadata: try metadata(from: optionalText(10, "metadata", of: statement)),
                forget: try number(11, "forget", of: statement) != 0,
                revision: revision
            )
        )
    }

    private static func clock(of statement: Statement) throws(Fault) -> Clock {
        switch statement.integer(3) {
        case 0: .elapsed
        case 1: .wall
        default: throw Fault(text: "its clock is not known")
        }
    }

    private static func phase(
        _ state: State,
        _ clock: Clock,
        _ statement: Statement,
        shift: (Int64) -> TimeSpan?
    ) throws(Fault) -> Phase {
        let instant = try number(5, "instant", of: statement)
        let rest = try span(6, "rest", of: statement, atLeast: 0)
        switch state {
        case .running where clock == .elapsed:
            guard let shift = statement.integer(4).flatMap(shift) else { throw Fault(text: "its epoch is not known") }
            return .running(until: .elapsed(BootInstant(microseconds: instant) + shift))
        case .running: return .running(until: .wall(WallInstant(microseconds: instant)))
        case .paused: return .paused(remaining: try span(5, "instant", of: statement, atLeast: 0))
        case .finished: return .finished(at: WallInstant(microseconds: instant), late: rest)
        case .cancelled, .forgotten: return .cancelled(at: WallInstant(microseconds: instant), remaining: rest)
        }
    }

    // MARK: Columns

    /// Whether a number is one of microseconds that a daemon may have written: beyond, sums of them could overflow.
    static func isPossible(_ number: Int64) -> Bool {
        number.magnitude < 1 << 53
    }

    private static func number(_ column: Int32, _ name: String, of statement: Statement) throws(Fault) -> Int64 {
        guard let number = statement.integer(column), isPossible(number) else {
            throw Fault(text: "its \(name) is no number of microseconds")
        }
        return number
    }

    private static func span(
        _ column: Int32,
        _ name: String,
        of statement: Statement,
        atLeast least: Int64
    ) throws(Fault) -> TimeSpan {
        let number = try number(column, name, of: statement)
        guard number >= least else { throw Fault(text: "its \(name) is less than \(least)") }
        return TimeSpan(microseconds: number)
    }

    private static func optionalText(
        _ column: Int32,
        _ name: String,
        of statement: Statement
    ) throws(Fault) -> String? {
        if let text = statement.text(column) { return text }
        guard statement.isNull(column) else { throw Fault(text: "its \(name) is no text in UTF-8") }
        return nil
    }

    private static func metadata(from text: String?) throws(Fault) -> [String: String] {
        guard let text else { return [:] }
        var writer = JSONWriter()
        writer.object { $0.member("metadata", raw: Array(text.utf8)) }
        guard let object = try? JSONObject(parsing: writer.bytes),
            let metadata = try? object.stringMap("metadata")
        else {
            throw Fault(text: "its metadata is no JSON object of strings")
        }
        return metadata
    }
}

extension Revision {
    /// Beyond this a store would run out of revisions below 2^53.
    private static let highest: Int64 = 1 << 53 - 1 << 40
    /// Where the system clock stands further ahead, new revisions do not follow it.
    static let latestClock: Int64 = 1 << 53 - 1 << 41

    /// Nil where no change can have had that revision.
    init?(stored number: Int64) {
        guard (1...Self.highest).contains(number) else { return nil }
        self.init(number)
    }
}
