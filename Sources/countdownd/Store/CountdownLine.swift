import CountdownCore
import Varlink

/// A change as a line of the log: a JSON array of the revision, the key, the state, the clock (0 elapsed, 1 wall), the boot of an elapsed
/// deadline, the deadline or what is left or the end, the lateness or what was left, the duration, the start, and, unless they are
/// usual, the label, the metadata and whether the end is forgotten. All times are in microseconds.
enum CountdownLine {
    enum State: Int64 {
        case running = 0
        case paused = 1
        case finished = 2
        case cancelled = 3
        /// Ended, and not kept as history. Earlier lines of its key do not count.
        case forgotten = 4
    }

    /// Writes the line of a countdown. The last three values are left out if the countdown has no label and no metadata and is kept as
    /// history, which is usual.
    static func write(_ countdown: KeyedCountdown, boot: Int64, into lines: inout JSONWriter) {
        lines.array { line in
            writeFields(of: countdown, boot: boot, into: &line)
            guard countdown.hasAnnotations || countdown.forget else { return }
            if let label = countdown.label { line.element(label) } else { line.elementNull() }
            if countdown.metadata.isEmpty { line.elementNull() } else { line.element(countdown.metadata) }
            line.element(countdown.forget ? 1 : 0)
        }
        lines.endLine()
    }

    private static func writeFields(of countdown: KeyedCountdown, boot: Int64, into writer: inout JSONWriter) {
        let (state, instant, rest): (State, Int64, Int64) =
            switch countdown.phase {
            case .running(.elapsed(let deadline)): (.running, deadline.microseconds, 0)
            case .running(.wall(let deadline)): (.running, deadline.microseconds, 0)
            case .paused(let remaining): (.paused, remaining.microseconds, 0)
            case .finished(let end, let late): (.finished, end.microseconds, late.microseconds)
            case .cancelled(let end, let remaining): (.cancelled, end.microseconds, remaining.microseconds)
            }
        writer.element(countdown.revision.number)
        countdown.key.withBytes { writer.write(utf8: $0) }
        writer.element((countdown.forget && !countdown.isLive ? State.forgotten : state).rawValue)
        writer.element(countdown.clock == .elapsed ? 0 : 1)
        if case .running(.elapsed) = countdown.phase { writer.element(boot) } else { writer.elementNull() }
        writer.element(instant)
        writer.element(rest)
        writer.element(countdown.duration.microseconds)
        writer.element(countdown.started.microseconds)
    }
}

/// Reading lines. Whatever a line contains, it becomes a valid value or a description of its fault.
extension CountdownLine {
    /// The contents of a line.
    enum Content {
        case countdown(KeyedCountdown)
        case forgotten(Key, Revision)
        /// No daemon writes such a line. Its key and its revision are nil if they are not known.
        case malformed(Key?, Revision?, fault: String)

        /// The key; nil if it is not known.
        var key: Key? {
            switch self {
            case .countdown(let countdown): countdown.key
            case .forgotten(let key, _): key
            case .malformed(let key, _, _): key
            }
        }

        /// The revision of the change; nil if it is invalid or not known.
        var revision: Revision? {
            switch self {
            case .countdown(let countdown): countdown.revision
            case .forgotten(_, let revision): revision
            case .malformed(_, let revision, _): revision
            }
        }
    }

    private struct Fault: Error {
        let text: String
    }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: its range in the text, without the line break.
    ///   - text: ends with a NUL.
    ///   - last: the newest revision that was read before.
    ///   - shift: the difference between the clock of a stored boot and the clock of this boot; nil if the boot is not
    ///     stored.
    /// - Returns: the contents of the line.
    static func read(
        _ line: Range<Int>,
        of text: Span<UInt8>,
        after last: Revision,
        shift: (Int64) -> Duration?
    ) -> Content {
        let values = JSONReader.read(text.extracting(line.lowerBound...), length: line.count) { Values(from: &$0) }
        guard values.isWhole, let number = values.revision else {
            return .malformed(nil, nil, fault: "not a JSON array of values that begins with an integer")
        }
        let revision = Revision(stored: number)
        do throws(Fault) {
            guard let revision, revision > last else { throw Fault(text: "invalid revision \(number)") }
            return try read(values, revision, shift: shift)
        } catch {
            return .malformed(values.key, revision, fault: error.text)
        }
    }

    private static func read(
        _ values: borrowing Values,
        _ revision: Revision,
        shift: (Int64) -> Duration?
    ) throws(Fault) -> Content {
        let key = try valid(values.key, "invalid key")
        let state = try valid(values.state.flatMap(State.init), "unknown state")
        if state == .forgotten { return .forgotten(key, revision) }
        let clock = try clock(values)
        return .countdown(
            KeyedCountdown(
                key: key,
                phase: try phase(state, clock, values, shift: shift),
                clock: clock,
                duration: try duration(values.length, "length", atLeast: 1),
                started: WallInstant(microseconds: try number(values.started, "started")),
                label: try valid(values.label, "its label is not a text"),
                metadata: try valid(values.metadata, "its metadata is not a JSON object of strings") ?? Metadata(),
                forget: try number(values.forget, "forget") != 0,
                revision: revision
            )
        )
    }

    private static func clock(_ values: borrowing Values) throws(Fault) -> DeadlineClock {
        switch values.clock {
        case 0: .elapsed
        case 1: .wall
        default: throw Fault(text: "unknown clock")
        }
    }

    private static func phase(
        _ state: State,
        _ clock: DeadlineClock,
        _ values: borrowing Values,
        shift: (Int64) -> Duration?
    ) throws(Fault) -> Phase {
        let instant = try number(values.instant, "instant")
        let rest = try duration(values.rest, "rest", atLeast: 0)
        switch state {
        case .running where values.boot != nil && clock == .elapsed:
            let shift = try valid(values.boot.flatMap(shift), "unknown boot")
            return .running(until: .elapsed(BootInstant(microseconds: instant) + shift))
        // Of an elapsed countdown of a fleet, too, because the clock of its engine is the same on every host.
        case .running: return .running(until: .wall(WallInstant(microseconds: instant)))
        case .paused: return .paused(remaining: try duration(values.instant, "instant", atLeast: 0))
        case .finished: return .finished(at: WallInstant(microseconds: instant), late: rest)
        case .cancelled, .forgotten: return .cancelled(at: WallInstant(microseconds: instant), remaining: rest)
        }
    }

    // MARK: Columns

    /// Whether a number of microseconds is small enough that sums cannot overflow. Whatever the kernel's clock is set to, what
    /// is written stays below 2^55.
    static func isInRange(_ number: Int64) -> Bool {
        number.magnitude < 1 << 60
    }

    private static func number(_ value: Int64?, _ name: String) throws(Fault) -> Int64 {
        guard let value, isInRange(value) else { throw Fault(text: "its \(name) is not a number of microseconds") }
        return value
    }

    private static func duration(_ value: Int64?, _ name: String, atLeast least: Int64) throws(Fault) -> Duration {
        let number = try number(value, name)
        guard number >= least else { throw Fault(text: "its \(name) is less than \(least)") }
        return Duration(microseconds: number)
    }

    private static func valid<Value>(_ value: Value?, _ fault: @autoclosure () -> String) throws(Fault) -> Value {
        guard let value else { throw Fault(text: fault()) }
        return value
    }
}

extension CountdownLine {
    /// The values of a line; each is nil if it has the wrong type. A label or metadata that is null is a nil inside. They are never
    /// copied.
    private struct Values: ~Copyable {
        let key: Key?
        let revision, state, clock, boot, instant, rest, length, started: Int64?
        var label: String?? = .some(nil)
        var metadata: Metadata?? = .some(nil)
        var forget: Int64? = 0

        /// Whether the line is a JSON array with the right number of values.
        let isWhole: Bool

        init(from reader: inout JSONReader) {
            _ = reader.beginArrayText()
            revision = Self.integer(&reader)
            key = reader.nextElement() ? Key.read(from: &reader) : nil
            (state, clock, boot, instant) =
                (Self.integer(&reader), Self.integer(&reader), Self.integer(&reader), Self.integer(&reader))
            (rest, length, started) = (Self.integer(&reader), Self.integer(&reader), Self.integer(&reader))
            var hasMore = reader.nextElement()
            if hasMore {
                label = try? String?.read(from: &reader)
                if reader.nextElement() { metadata = try? Metadata?.read(from: &reader) }
                forget = Self.integer(&reader)
                hasMore = reader.nextElement()
            }
            isWhole = reader.finish() == nil && !hasMore
        }

        private static func integer(_ reader: inout JSONReader) -> Int64? {
            reader.nextElement() ? reader.integer() : nil
        }
    }
}

extension Revision {
    /// With higher revisions a store could run out of revisions below 2^53.
    static let highest: Int64 = 1 << 53 - 1 << 40
    /// If the system clock is further ahead, new revisions do not follow it.
    static let latestClock: Int64 = 1 << 53 - 1 << 41

    /// Nil if invalid revision.
    init?(stored number: Int64) {
        guard (1...Self.highest).contains(number) else { return nil }
        self.init(number)
    }
}
