import CountdownCore
import Varlink

/// How a row is read. Whoever has written in the table, what comes of it is one of our values, or a word on what is wrong.
extension Row {
    /// What a row says.
    enum Reading {
        case countdown(KeyedCountdown)
        case forgotten(Key, Revision)
        /// No daemon writes such a row.
        case impossible(Impossible)

        /// That of the change; nil where there can be none such, or it is not known.
        var revision: Revision? {
            switch self {
            case .countdown(let countdown): countdown.revision
            case .forgotten(_, let revision): revision
            case .impossible(let row): row.revision
            }
        }
    }

    /// What can be known of a row that no daemon writes.
    struct Impossible {
        /// Of which countdown it is.
        var key: Key?
        var revision: Revision?
        /// Words for which row it is, and what is wrong with it.
        var place: String
        var fault: String
    }

    private struct Fault: Error {
        let text: String
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - line: of the batch.
    ///   - batch: in which the line is.
    ///   - last: the newest revision that was read before.
    ///   - shift: by how much the instants of an epoch are moved onto this boot's clock; nil where there is no such epoch.
    /// - Returns: what it says.
    static func read(
        _ line: Range<Int>,
        of batch: Batch,
        after last: Revision,
        shift: (Int64) -> Duration?
    ) -> Reading {
        let values = Values(line, of: batch)
        guard values.isWhole, let distance = values.distance else {
            let fault = "it is no JSON array of values, the first an integer"
            return .impossible(Impossible(place: "in the batch that counts from \(batch.first)", fault: fault))
        }
        let number = batch.first &+ distance
        let revision = Batch.distances.contains(distance) ? Revision(stored: number) : nil
        do throws(Fault) {
            guard let revision, revision > last else { throw Fault(text: "no change can have that revision") }
            return try read(values, revision, shift: shift)
        } catch {
            let place = "with revision \(number)"
            return .impossible(Impossible(key: values.key, revision: revision, place: place, fault: error.text))
        }
    }

    private static func read(
        _ values: borrowing Values,
        _ revision: Revision,
        shift: (Int64) -> Duration?
    ) throws(Fault) -> Reading {
        guard let key = values.key else { throw Fault(text: "its key is none") }
        guard let state = values.state.flatMap(State.init) else { throw Fault(text: "its state is not known") }
        if state == .forgotten { return .forgotten(key, revision) }
        let clock = try clock(values)
        return .countdown(
            KeyedCountdown(
                key: key,
                phase: try phase(state, clock, values, shift: shift),
                clock: clock,
                duration: try span(values.length, "length", atLeast: 1),
                started: WallInstant(microseconds: try number(values.started, "started")),
                label: try text(values.label),
                metadata: try map(values.metadata),
                forget: try number(values.forget, "forget") != 0,
                revision: revision
            )
        )
    }

    private static func clock(_ values: borrowing Values) throws(Fault) -> Clock {
        switch values.clock {
        case 0: .elapsed
        case 1: .wall
        default: throw Fault(text: "its clock is not known")
        }
    }

    private static func phase(
        _ state: State,
        _ clock: Clock,
        _ values: borrowing Values,
        shift: (Int64) -> Duration?
    ) throws(Fault) -> Phase {
        let instant = try number(values.instant, "instant")
        let rest = try span(values.rest, "rest", atLeast: 0)
        switch state {
        case .running where clock == .elapsed:
            guard let shift = values.epoch.flatMap(shift) else { throw Fault(text: "its epoch is not known") }
            return .running(until: .elapsed(BootInstant(microseconds: instant) + shift))
        case .running: return .running(until: .wall(WallInstant(microseconds: instant)))
        case .paused: return .paused(remaining: try span(values.instant, "instant", atLeast: 0))
        case .finished: return .finished(at: WallInstant(microseconds: instant), late: rest)
        case .cancelled, .forgotten: return .cancelled(at: WallInstant(microseconds: instant), remaining: rest)
        }
    }

    // MARK: Columns

    /// Whether a number is one of microseconds that a daemon may have written: beyond, sums of them could overflow.
    static func isPossible(_ number: Int64) -> Bool {
        number.magnitude < 1 << 53
    }

    private static func number(_ value: Int64?, _ name: String) throws(Fault) -> Int64 {
        guard let value, isPossible(value) else { throw Fault(text: "its \(name) is no number of microseconds") }
        return value
    }

    private static func span(_ value: Int64?, _ name: String, atLeast least: Int64) throws(Fault) -> Duration {
        let number = try number(value, name)
        guard number >= least else { throw Fault(text: "its \(name) is less than \(least)") }
        return Duration(microseconds: number)
    }

    private static func text(_ label: Value<String>) throws(Fault) -> String? {
        switch label {
        case .none: nil
        case .some(let text): text
        case .other: throw Fault(text: "its label is no text")
        }
    }

    private static func map(_ metadata: Value<[String: String]>) throws(Fault) -> [String: String] {
        switch metadata {
        case .none: [:]
        case .some(let map): map
        case .other: throw Fault(text: "its metadata is no JSON object of strings")
        }
    }
}

extension Row {
    /// A value that a countdown need not have.
    private enum Value<Content> {
        case none
        case some(Content)
        case other
    }

    /// The values of a line, each nil where it is of another kind than its column. They are never copied.
    private struct Values: ~Copyable {
        let key: Key?
        let distance, state, clock, epoch, instant, rest, length, started: Int64?
        var label = Value<String>.none
        var metadata = Value<[String: String]>.none
        var forget: Int64? = 0

        /// Whether the line is an array of a row's values.
        let isWhole: Bool

        init(_ line: Range<Int>, of batch: Batch) {
            var elements = JSONElements(batch.bytes, in: line)
            distance = elements.integer()
            key = elements.withString { text in try? Key(text) }
            (state, clock, epoch, instant) =
                (elements.integer(), elements.integer(), elements.integer(), elements.integer())
            (rest, length, started) = (elements.integer(), elements.integer(), elements.integer())
            if elements.hasMore {
                if !elements.takeNull() { label = elements.string().map { .some($0) } ?? .other }
                if !elements.takeNull() { metadata = elements.stringMap().map { .some($0) } ?? .other }
                forget = elements.integer()
            }
            isWhole = elements.isWhole
        }
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
