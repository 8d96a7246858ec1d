import CountdownCore
import Fleet
import Glibc
import Varlink

/// A countdown as a row of the view `countdown`: a line of a batch, which is a JSON array.
struct Row {
    enum RowState: Int64 {
        case running = 0
        case paused = 1
        case finished = 2
        case cancelled = 3
        /// Ended, and not kept as history. The row hides earlier rows of its key until they are deleted.
        case forgotten = 4
    }

    private let state: RowState
    private let boot: Int64?
    private let instant: Int64
    private let rest: Int64

    private init(_ countdown: KeyedCountdown, boot: Int64) {
        switch countdown.phase {
        case .running(.elapsed(let deadline)):
            (state, self.boot, instant, rest) = (.running, boot, deadline.microseconds, 0)
        case .running(.wall(let deadline)):
            (state, self.boot, instant, rest) = (.running, nil, deadline.microseconds, 0)
        case .paused(let remaining):
            (state, self.boot, instant, rest) = (.paused, nil, remaining.microseconds, 0)
        case .finished(let end, let late):
            (state, self.boot, instant, rest) =
                (countdown.forget ? .forgotten : .finished, nil, end.microseconds, late.microseconds)
        case .cancelled(let end, let remaining):
            (state, self.boot, instant, rest) =
                (countdown.forget ? .forgotten : .cancelled, nil, end.microseconds, remaining.microseconds)
        }
    }

    /// Writes the values in the order of the view's columns, with the distance from the batch's first revision in place of
    /// the revision. The last three are left out if the countdown has no label and no metadata and is kept as history, which
    /// is usual.
    static func write(
        _ countdown: KeyedCountdown,
        boot: Int64,
        from first: Int64,
        into writer: inout JSONWriter
    ) {
        writer.array { writer in
            Row(countdown, boot: boot).writeFields(of: countdown, from: first, into: &writer)
            guard countdown.hasAnnotations || countdown.forget else { return }
            if let label = countdown.label { writer.element(label) } else { writer.elementNull() }
            if countdown.metadata.isEmpty { writer.elementNull() } else { writer.element(countdown.metadata) }
            writer.element(countdown.forget ? 1 : 0)
        }
    }

    private func writeFields(of countdown: KeyedCountdown, from first: Int64, into writer: inout JSONWriter) {
        writer.element(countdown.revision.number - first)
        countdown.key.withBytes { writer.write(utf8: $0) }
        writer.element(state.rawValue)
        writer.element(countdown.clock == .elapsed ? 0 : 1)
        if let boot { writer.element(boot) } else { writer.elementNull() }
        writer.element(instant)
        writer.element(rest)
        writer.element(countdown.duration.microseconds)
        writer.element(countdown.started.microseconds)
    }
}

/// A malformed row, which is not served.
struct SkippedRow: Equatable, CustomStringConvertible {
    let row: String
    let fault: String
    /// The revision of the missing change; nil if it cannot be known.
    let revision: Revision?

    var description: String { "\(row): \(fault)" }
}

/// Reading rows. Whatever the table contains, a row becomes a valid value or a description of its fault.
extension Row {
    /// The contents of a row.
    enum Content {
        case countdown(KeyedCountdown)
        case forgotten(Key, Revision)
        /// No daemon writes such a row. Its key is nil if it is not known.
        case malformed(Key?, SkippedRow)

        /// The revision of the change; nil if it is invalid or not known.
        var revision: Revision? {
            switch self {
            case .countdown(let countdown): countdown.revision
            case .forgotten(_, let revision): revision
            case .malformed(_, let row): row.revision
            }
        }
    }

    private struct Fault: Error {
        let text: String
    }

    /// Reads a row.
    ///
    /// - Parameters:
    ///   - line: the range of its line in the batch.
    ///   - batch: the batch.
    ///   - last: the newest revision that was read before.
    ///   - shift: the difference between the clock of a stored boot and the clock of this boot; nil if the boot is not
    ///     stored.
    /// - Returns: the contents of the row.
    static func read(
        _ line: Range<Int>,
        of batch: RowBatch,
        after last: Revision,
        shift: (Int64) -> Duration?
    ) -> Content {
        let values = Values.read(line, of: batch)
        guard values.isWhole, let distance = values.distance else {
            let fault = "not a JSON array of values that begins with an integer"
            let place = "in the batch that begins with \(batch.first)"
            return .malformed(nil, SkippedRow(row: place, fault: fault, revision: nil))
        }
        let number = batch.first &+ distance
        let revision = RowBatch.distances.contains(distance) ? Revision(stored: number) : nil
        do throws(Fault) {
            guard let revision, revision > last else { throw Fault(text: "invalid revision") }
            return try read(values, revision, shift: shift)
        } catch {
            let row = SkippedRow(row: "with revision \(number)", fault: error.text, revision: revision)
            return .malformed(values.key, row)
        }
    }

    private static func read(
        _ values: borrowing Values,
        _ revision: Revision,
        shift: (Int64) -> Duration?
    ) throws(Fault) -> Content {
        let key = try valid(values.key, "invalid key")
        let state = try valid(values.state.flatMap(RowState.init), "unknown state")
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
        _ state: RowState,
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

extension Row {
    /// The values of a line; each is nil if it has the wrong type. A label or metadata that is null is a nil inside. They are never
    /// copied.
    private struct Values: ~Copyable {
        let key: Key?
        let distance, state, clock, boot, instant, rest, length, started: Int64?
        var label: String?? = .some(nil)
        var metadata: Metadata?? = .some(nil)
        var forget: Int64? = 0

        /// Whether the line is a JSON array with the right number of values.
        let isWhole: Bool

        static func read(_ line: Range<Int>, of batch: RowBatch) -> Values {
            JSONReader.read(batch.text.span.extracting(line.lowerBound...), length: line.count) { reader in
                Values(from: &reader)
            }
        }

        private init(from reader: inout JSONReader) {
            _ = reader.beginArrayText()
            distance = Self.integer(&reader)
            key = reader.nextElement() ? Key.read(from: &reader) : nil
            (state, clock, boot, instant) =
                (Self.integer(&reader), Self.integer(&reader), Self.integer(&reader), Self.integer(&reader))
            (rest, length, started) = (Self.integer(&reader), Self.integer(&reader), Self.integer(&reader))
            var hasMore = reader.nextElement()
            if hasMore {
                label = Self.optional(&reader)
                if reader.nextElement() { metadata = Self.optional(&reader) }
                forget = Self.integer(&reader)
                hasMore = reader.nextElement()
            }
            isWhole = reader.finish() == nil && !hasMore
        }

        private static func optional<Value: JSONReadable>(_ reader: inout JSONReader) -> Value?? {
            reader.null() ? .some(nil) : (try? Value.read(from: &reader)).map { .some($0) }
        }

        private static func integer(_ reader: inout JSONReader) -> Int64? {
            reader.nextElement() ? reader.integer() : nil
        }
    }
}

extension Revision {
    /// With higher revisions a store could run out of revisions below 2^53.
    private static let highest: Int64 = 1 << 53 - 1 << 40
    /// If the system clock is further ahead, new revisions do not follow it.
    static let latestClock: Int64 = 1 << 53 - 1 << 41

    /// Nil if invalid revision.
    init?(stored number: Int64) {
        guard (1...Self.highest).contains(number) else { return nil }
        self.init(number)
    }
}

/// Changes in one row of a table of batches: a line each, in the order of their numbers. In the table `batch`, the numbers are
/// the revisions.
///
/// SQLite takes thousands of instructions for a row, however short, and a few for each byte. So the changes of a turn share
/// rows; only a few share one, so that deleting one of them writes only a page or two.
struct RowBatch {
    /// The possible distances of a number from the first one of its batch.
    static let distances: Range<Int64> = 0..<16

    private static let newline = UInt8(ascii: "\n")

    /// The number from which the distances count.
    let first: Int64
    /// All lines, separated by line breaks.
    let bytes: [UInt8]
    /// The same bytes with a NUL behind them, for the reader.
    let text: [UInt8]
    /// The ranges of the lines: at least one, which may be empty.
    let lines: [Range<Int>]

    init(first: Int64, bytes: [UInt8]) {
        self.first = first
        self.bytes = bytes
        text = bytes + [0]
        lines = Self.lines(of: bytes)
    }

    private static func lines(of bytes: [UInt8]) -> [Range<Int>] {
        var lines: [Range<Int>] = []
        lines.reserveCapacity(distances.count)
        var start = 0
        while let end = newline(in: bytes, from: start) {
            lines.append(start..<end)
            start = end + 1
        }
        lines.append(start..<bytes.count)
        return lines
    }

    private static func newline(in bytes: [UInt8], from start: Int) -> Int? {
        unsafe bytes.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress,
                let found = unsafe memchr(base + start, Int32(newline), bytes.count - start)
            else { return nil }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Leaves out the changes with certain numbers.
    ///
    /// - Parameter numbers: in ascending order; those up to the last one of this batch are removed from it.
    /// - Returns: the remaining lines; empty if none remain.
    func without(_ numbers: inout ArraySlice<Int64>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        for line in lines {
            let number = number(of: line)
            while let number, let next = numbers.first, next < number { numbers.removeFirst() }
            if let number, numbers.first == number {
                numbers.removeFirst()
                continue
            }
            if !kept.isEmpty { kept.append(Self.newline) }
            kept += bytes[line]
        }
        return kept
    }

    /// The number of the change on a line, if a daemon has written it.
    private func number(of line: Range<Int>) -> Int64? {
        guard let comma = bytes[line].firstIndex(of: UInt8(ascii: ",")), comma > line.lowerBound else { return nil }
        return Int64(String(decoding: bytes[line.lowerBound + 1..<comma], as: UTF8.self)).map { first &+ $0 }
    }
}
