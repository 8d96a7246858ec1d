import CountdownCore
import Fleet
import System
import Varlink

/// The state of reading a log.
struct LogReading: ~Copyable {
    private let limits: Limits
    private let now: Now
    /// Whether lines of a fleet count.
    private let followsEngine: Bool
    private(set) var contents: LogContents
    /// The newest state line.
    private(set) var state: StateLine
    private(set) var newest = Revision(0)
    /// Whether the last turn is a clean stop.
    private(set) var wasStopped = false
    private(set) var hasFleetLines = false
    private(set) var isDamaged = false
    /// No watch resumes from before this revision, because a change may be missing.
    private(set) var floor: Revision?
    /// If the power may have failed, the turn up to which everything was on the disk; else nil.
    var synced: Int64?
    /// Lines of damage that are not read yet, each with a NUL behind it, its number and its file.
    private var doubtful: [(text: [UInt8], number: Int, name: String)] = []
    private let shifts: [Int64: Duration]
    private let boot: Int64

    /// - Parameters:
    ///   - first: the first state of the last segment: a new boot and a step of the clock begin one, so it says what all deadlines mean.
    ///   - isSameBoot: whether this is still its boot.
    ///   - limits: of the timetable.
    ///   - now: this instant.
    ///   - followsEngine: whether lines of a fleet count.
    init(_ first: StateLine, isSameBoot: Bool, limits: Limits, now: Now, followsEngine: Bool) {
        (self.limits, self.now, self.followsEngine) = (limits, now, followsEngine)
        state = first
        var state = first
        if !isSameBoot {
            let moved = first.offset - now.offset
            state.shifts = state.shifts.mapValues { $0 + moved }
            state.shifts[first.boot] = moved
            state.boot += 1
        }
        (shifts, boot) = (state.shifts, state.boot)
        contents = LogContents(
            timetable: Timetable(limits: limits, revision: Revision(0)),
            state: state
        )
    }

    consuming func finished() -> LogContents { contents }

    mutating func read(_ files: LogFiles) throws {
        contents.removed = files.obsolete
        if let base = files.base { try read(base, files) }
        contents.base = files.base?.number ?? 0
        var segments = files.segments[...]
        while let segment = segments.popFirst() {
            let isLast = segments.isEmpty
            let end = try read(segment, before: segments.first { $0.turn != nil }, files)
            contents.last = (segment.number, end.position)
            contents.chain = end.chain
            if end.isCut {
                cut(segment.name, segments.map(\.name) + files.lost.map(\.name))
                break
            }
            if isLast { contents.beginsSegment = !end.isAtZeros }
        }
        if !files.lost.isEmpty, !contents.kept.contains(files.lost[0].name) { cut(nil, files.lost.map(\.name)) }
        if let strange = files.strange.first {
            contents.reports.append("\(strange) in the folder of the log is no file of it, and is left alone")
        }
        if !doubtful.isEmpty { readDoubtful(before: nil) }
        flush()
    }

    /// How a segment ended.
    private struct End {
        let position: Int64
        let chain: TurnChain
        /// Whether turns are behind the end that do not count.
        let isCut: Bool
        /// Whether nothing is behind the end.
        let isAtZeros: Bool
    }

    private mutating func read(_ base: LogFiles.File, _ files: LogFiles) throws {
        var reader = try files.reader(of: base)
        if try reader.readHeading() == nil { damage(base.name, "its beginning cannot be read") }
        var isComplete = false
        try read(&reader) { isComplete = $0 }
        contents.bytes += reader.position
        if !isComplete { damage(base.name, "its end is missing") }
    }

    private mutating func read(_ segment: LogFiles.File, before next: LogFiles.File?, _ files: LogFiles) throws -> End {
        var reader = try files.reader(of: segment)
        let before = contents.chain
        if try reader.readHeading() == nil {
            reader.begin(at: before)
        } else if contents.last != nil, before.turn != reader.chain.turn || before.sum != segment.sum {
            damage(segment.name, "it does not continue the segment before it")
        }
        let end = next?.turn ?? .max
        (reader.end, reader.damageBefore, reader.mayBeTorn) = (end, synced ?? .max, synced != nil)
        try read(&reader) { _ in }
        contents.bytes += reader.position
        let (position, chain) = (reader.position, reader.chain)
        guard let next else {
            let rest = try reader.rest()
            return End(position: position, chain: chain, isCut: rest == .turns, isAtZeros: rest == .nothing)
        }
        guard chain.turn < end else { return End(position: position, chain: chain, isCut: false, isAtZeros: true) }
        if let synced, chain.turn > synced {
            return End(position: position, chain: chain, isCut: true, isAtZeros: true)
        }
        damage(segment.name, "its turns from \(chain.turn) to \(end - 1) are missing")
        return End(position: position, chain: TurnChain(turn: end, sum: next.sum ?? 0), isCut: false, isAtZeros: true)
    }

    /// Reads a file to its end.
    ///
    /// - Parameters:
    ///   - reader: at the first turn.
    ///   - noteTurn: gets whether a turn is a state line alone.
    /// - Throws: that the file cannot be read.
    private mutating func read(_ reader: inout TurnReader, _ noteTurn: (Bool) -> Void) throws {
        var number = 0
        while true {
            switch try reader.next() {
            case .end: return
            case .turn(let lines):
                wasStopped = false
                if !doubtful.isEmpty, let first = firstRevision(lines, of: reader) { readDoubtful(before: first) }
                var count = 0
                eachLine(lines, of: reader) { line, reading in
                    count += 1
                    number += 1
                    reading.read(line, number, of: reader.text.span, in: reader.name)
                }
                number += 1
                noteTurn(count == 1 && reader.text[lines.lowerBound + 1] == UInt8(ascii: "\""))
            case .damage(let bytes, let turn):
                damage(
                    reader.name,
                    "from turn \(turn) on it does not have its checksum; its lines are read one by one"
                )
                wasStopped = false
                eachLine(bytes, of: reader) { line, reading in
                    number += 1
                    if reader.text[line.lowerBound] != UInt8(ascii: "[") {
                        guard Trailer(reader.text.span.extracting(line)) == nil else { return }
                        reading.skip(line, number, of: reader.text.span, in: reader.name, "no line that a log has", nil)
                    } else if reading.isNamed(line, of: reader.text.span) {
                        reading.readNamed(line, number, of: reader.text.span, in: reader.name, inDamage: true)
                    } else {
                        reading.doubtful.append((line.map { reader.text[$0] } + [0], number, reader.name))
                    }
                }
            }
            if contents.timetable.needsFlush { flush() }
        }
    }

    /// The revision of the first change of a turn; nil if it has none.
    private mutating func firstRevision(_ lines: Range<Int>, of reader: borrowing TurnReader) -> Revision? {
        var first: Revision?
        eachLine(lines, of: reader) { line, reading in
            guard first == nil, !reading.isNamed(line, of: reader.text.span) else { return }
            first = reading.revision(line, of: reader.text.span)
        }
        return first
    }

    private func revision(_ line: Range<Int>, of text: Span<UInt8>) -> Revision? {
        CountdownLine.read(line, of: text, after: Revision(0)) { _ in .zero }.revision
    }

    /// Reads the lines of damage, whose revisions have to be before those of the turns behind it. If lines are not in the order of their
    /// revisions, as many as possible count.
    private mutating func readDoubtful(before first: Revision?) {
        let range = newest.number + 1..<max(first?.number ?? .max, newest.number + 1)
        let inOrder = Set(
            doubtful.longestRise { line in
                revision(0..<line.text.count - 1, of: line.text.span)
                    .flatMap { range.contains($0.number) ? $0.number : nil }
            }
        )
        for (index, (text, number, name)) in doubtful.enumerated() {
            // No revision is above the newest one and before it, so every other line is malformed.
            read(0..<text.count - 1, number, of: text.span, in: name, before: inOrder.contains(index) ? first : newest)
        }
        doubtful = []
        floor = max(floor ?? newest, newest)
    }

    private mutating func eachLine(
        _ bytes: Range<Int>,
        of reader: borrowing TurnReader,
        _ body: (Range<Int>, inout LogReading) -> Void
    ) {
        var start = bytes.lowerBound
        while start < bytes.upperBound {
            let end = min(reader.lineEnd(from: start) ?? bytes.upperBound, bytes.upperBound)
            if start < end { body(start..<end, &self) }
            start = end + 1
        }
    }

    private mutating func flush() {
        _ = contents.timetable.flush()
        // Ends that were given up but not removed must not take memory again.
        var limit = Int.max
        _ = contents.timetable.compact(at: now, budget: &limit)
    }

    // MARK: Faults

    private mutating func damage(_ name: String, _ what: String) {
        isDamaged = true
        floor = max(floor ?? newest, newest)
        guard !contents.kept.contains(name) else { return }
        contents.kept.append(name)
        contents.reports.append("\(name) is damaged: \(what)")
    }

    /// Ends the history.
    ///
    /// - Parameters:
    ///   - name: the segment in which it ends, if more is in that.
    ///   - later: the names of the segments behind it.
    private mutating func cut(_ name: String?, _ later: [String]) {
        let names = (name.map { [$0] } ?? []) + later
        contents.reports.append(
            "the history ends in \(name ?? "front of \(later[0])"): what follows does not continue it, as after a power failure"
        )
        contents.kept += names.filter { !contents.kept.contains($0) }
        contents.removed += later
        contents.beginsSegment = true
    }

    // MARK: Lines

    private func isNamed(_ line: Range<Int>, of text: Span<UInt8>) -> Bool {
        line.count > 1 && text[line.lowerBound + 1] == UInt8(ascii: "\"")
    }

    /// Reads a line; its revision has to be before `end`.
    private mutating func read(
        _ line: Range<Int>,
        _ number: Int,
        of text: Span<UInt8>,
        in name: String,
        before end: Revision? = nil
    ) {
        guard !isNamed(line, of: text) else { return readNamed(line, number, of: text, in: name) }
        let (shifts, boot) = (shifts, boot)
        var content = CountdownLine.read(line, of: text, after: newest) { $0 == boot ? .zero : shifts[$0] }
        // In a base, a line that is not in the order of revisions would make others malformed.
        let isInOrder = content.revision.map { $0 > newest && $0 < end ?? Revision(.max) } ?? true
        var outOfOrder: Revision?
        if isInOrder, let revision = content.revision {
            newest = revision
        } else if let revision = content.revision {
            outOfOrder = revision
            content = .malformed(content.key, nil, fault: "invalid revision \(revision.number)")
        }
        switch content {
        case .countdown(let countdown):
            // Ends that were given up do not come back.
            guard countdown.isLive || countdown.revision > contents.state.trimmed else {
                _ = contents.timetable.dropRestored(countdown.key)
                return
            }
            contents.timetable.restore(countdown)
        case .forgotten(let key, _):
            _ = contents.timetable.dropRestored(key)
            _ = contents.timetable.flush()
        case .malformed(let key, let revision, let fault):
            // Whatever the line was meant to say, earlier lines of its key do not count any more. A copy of one of them says nothing.
            if let key, !(outOfOrder.map { contents.timetable.isRestored(key, since: $0) } ?? false) {
                _ = contents.timetable.dropRestored(key)
            }
            skip(line, number, of: text, in: name, fault, revision, staying: isInOrder)
        }
    }

    private mutating func skip(
        _ line: Range<Int>,
        _ number: Int,
        of text: Span<UInt8>,
        in name: String,
        _ fault: String,
        _ revision: Revision?,
        staying: Bool = true
    ) {
        let bytes = staying && text[line.lowerBound] == UInt8(ascii: "[") ? line.map { text[$0] } : []
        contents.skipped.append(
            SkippedLine(text: bytes, description: "\(name), line \(number): \(fault)", after: newest)
        )
        floor = max(floor ?? newest, revision ?? newest)
    }

    private mutating func readNamed(
        _ line: Range<Int>,
        _ number: Int,
        of text: Span<UInt8>,
        in name: String,
        inDamage: Bool = false
    ) {
        switch StateLine.read(line, of: text) {
        // Its numbers may be others.
        case .state where inDamage: return
        case .state(let state):
            (self.state, wasStopped) = (state, state.wasStopped)
            contents.state.trimmed = max(contents.state.trimmed, state.trimmed)
            contents.state.oldest = max(contents.state.oldest, state.oldest)
            synced = synced.map { max($0, state.synced ?? .max) }
            return
        case .newer, .malformed: break
        }
        if HeadingLine(line, of: text) != nil { return }
        guard let fleet = FleetLine(line, of: text) else {
            return skip(line, number, of: text, in: name, "no line that a log has", nil)
        }
        hasFleetLines = true
        guard followsEngine else { return }
        switch fleet {
        case .record(let key, let record): contents.fleet.records.set(record, under: key)
        case .removal(let key): contents.fleet.records.remove(key)
        case .position(let position): contents.fleet.position = position
        case .nothing: contents.fleet = StoredFleet()
        case .unusable: isDamaged = true
        }
    }
}
