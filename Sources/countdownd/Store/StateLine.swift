import CountdownCore
import Varlink

/// What a log remembers besides the countdowns: a line that begins with `"state"`, with all of it each time. The newest one counts.
struct StateLine: Equatable {
    /// The format that this version writes.
    static let format: Int64 = 1

    /// The random ID of the store.
    var store: String
    /// The identity of the boot of the daemon that wrote the line; see `BootIdentity`.
    var bootID: String
    var revision: Revision
    /// The oldest revision after which a watch can be resumed.
    var oldest: Revision
    /// The newest revision when the system clock was last set; nil if that is not known.
    var stepRevision: Revision?
    /// The difference between the system clock and the boot clock.
    var offset: Duration
    /// The number of the boot, to which lines of elapsed countdowns refer.
    var boot: Int64
    /// Whether the daemon stopped cleanly after this turn, so that nothing can be missing.
    var wasStopped = false
    /// The turn up to which everything is on the disk; nil if each turn is before it is answered.
    var synced: Int64?
    /// All ends up to this revision were given up.
    var trimmed = Revision(0)
    /// For each earlier boot to which lines refer, the difference between its clock and the clock of this boot.
    var shifts: [Int64: Duration] = [:]
    /// Revisions that may have been given to changes that are lost.
    var gaps: [ClosedRange<Revision>] = []

    func write(into lines: inout JSONWriter) {
        lines.array { line in
            line.element("state")
            line.element(Self.format)
            line.element(store)
            line.element(bootID)
            line.element(revision.number)
            line.element(oldest.number)
            if let stepRevision { line.element(stepRevision.number) } else { line.elementNull() }
            line.element(offset.microseconds)
            line.element(boot)
            line.element(wasStopped ? 1 : 0)
            if let synced { line.element(synced) } else { line.elementNull() }
            line.element(trimmed.number)
            line.array { line in
                for (boot, shift) in shifts.sorted(by: { $0.key < $1.key }) {
                    line.element([boot, shift.microseconds])
                }
            }
            line.array { line in
                for gap in gaps { line.element([gap.lowerBound.number, gap.upperBound.number]) }
            }
        }
        lines.endLine()
    }

    /// The outcome of reading a line.
    enum Reading {
        case state(StateLine)
        /// A newer daemon has written it, in this format.
        case newer(Int64)
        case malformed
    }

    /// Reads a line that begins with `"state"`, of a text that ends with a NUL.
    static func read(_ line: Range<Int>, of text: Span<UInt8>) -> Reading {
        JSONReader.read(text.extracting(line.lowerBound...), length: line.count) { reader in
            guard reader.beginArrayText(), reader.nextElement(), reader.string() == "state", reader.nextElement(),
                let format = reader.integer()
            else { return .malformed }
            guard format <= Self.format else { return .newer(format) }
            guard let state = StateLine(from: &reader), !reader.nextElement(), reader.finish() == nil else {
                return .malformed
            }
            return .state(state)
        }
    }

    private init?(from reader: inout JSONReader) {
        func number() -> Int64?? {
            guard reader.nextElement() else { return nil }
            return reader.null() ? .some(nil) : reader.integer().map { .some($0) }
        }
        func revision() -> Revision? {
            guard let number = number() ?? nil, number >= 0, number <= Revision.highest else { return nil }
            return Revision(number)
        }
        guard reader.nextElement(), let store = reader.string(), reader.nextElement(), let bootID = reader.string(),
            let newest = revision(), let oldest = revision(), let step = number(),
            let offset = number() ?? nil, CountdownLine.isInRange(offset),
            let boot = number() ?? nil, CountdownLine.isInRange(boot),
            let isStopped = number() ?? nil, let synced = number(), let trimmed = revision(),
            let shifts = Self.pairs(&reader), let gaps = Self.pairs(&reader)
        else { return nil }
        (self.store, self.bootID, self.revision, self.oldest) = (store, bootID, newest, oldest)
        stepRevision = step.flatMap(Revision.init(stored:))
        guard stepRevision != nil || step == nil else { return nil }
        (self.offset, self.boot, self.synced) = (Duration(microseconds: offset), boot, synced)
        (wasStopped, self.trimmed) = (isStopped != 0, trimmed)
        for (boot, shift) in shifts {
            guard CountdownLine.isInRange(shift) else { return nil }
            self.shifts[boot] = Duration(microseconds: shift)
        }
        for (first, last) in gaps {
            guard let first = Revision(stored: first), let last = Revision(stored: last), first <= last else {
                return nil
            }
            self.gaps.append(first...last)
        }
    }

    private static func pairs(_ reader: inout JSONReader) -> [(Int64, Int64)]? {
        guard reader.nextElement(), reader.beginArray() else { return nil }
        var pairs: [(Int64, Int64)] = []
        while reader.nextElement() {
            guard reader.beginArray(), reader.nextElement(), let first = reader.integer(), reader.nextElement(),
                let second = reader.integer(), !reader.nextElement()
            else { return nil }
            pairs.append((first, second))
        }
        return pairs
    }

    /// A random ID.
    static func newStore() -> String { String(UInt64.random(in: .min ... .max), radix: 16) }

    /// The state of a store without a countdown.
    init(store: String = StateLine.newStore(), bootID: String, revision: Revision, offset: Duration) {
        (self.store, self.bootID, self.offset) = (store, bootID, offset)
        (self.revision, oldest, boot) = (revision, revision, 1)
    }
}

/// The first line of a file: `["segment",NUMBER,SUM]` or `["base",NUMBER,SUM]`, with the sum of the last turn before it.
struct HeadingLine: Equatable {
    let kind: LogName.Kind
    let number: Int64
    let sum: UInt32

    func write(into lines: inout JSONWriter) {
        lines.array { line in
            line.element(kind == .base ? "base" : "segment")
            line.element(number)
            line.element(Int64(sum))
        }
        lines.endLine()
    }

    init(_ kind: LogName.Kind, _ number: Int64, after sum: UInt32) {
        (self.kind, self.number, self.sum) = (kind, number, sum)
    }

    /// Reads a line of a text that ends with a NUL; nil if it is no heading.
    init?(_ line: Range<Int>, of text: Span<UInt8>) {
        let read: HeadingLine? = JSONReader.read(text.extracting(line.lowerBound...), length: line.count) { reader in
            guard reader.beginArrayText(), reader.nextElement(), let word = reader.string(),
                let kind: LogName.Kind = ["base": .base, "segment": .segment][word],
                reader.nextElement(), let number = reader.integer(), reader.nextElement(),
                let sum = reader.integer().flatMap(UInt32.init(exactly:)), !reader.nextElement(), reader.finish() == nil
            else { return nil }
            return HeadingLine(kind, number, after: sum)
        }
        guard let read else { return nil }
        self = read
    }
}
