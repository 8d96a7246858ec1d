import CountdownCore
import Fleet
import Glibc
import System
import Varlink

/// The files of a log that count, in their order.
struct LogFiles {
    struct File {
        let kind: LogName.Kind
        let number: Int64
        let name: String
        /// The first state that can be read; nil if there is none.
        var state: StateLine?
        /// The number of its first turn, and the sum of the turn before; nil if the first turn cannot be read.
        var turn: Int64?
        var sum: UInt32?
    }

    private let folder: StoreFolder
    let base: File?
    private(set) var segments: [File] = []
    /// Segments behind the end of the history: the power failed before they were on the disk.
    private(set) var lost: [File] = []
    /// The names of files that the base replaces, or that were never finished.
    let obsolete: [String]
    /// Names that are no file of a log.
    let strange: [String]

    var last: File? { segments.last }

    /// - Parameters:
    ///   - folder: of the log.
    ///   - bootID: of this boot.
    /// - Throws: `Corruption` if files are missing or of another log.
    init(of folder: StoreFolder, bootID: String) throws {
        self.folder = folder
        let names = try folder.names()
        let known = names.compactMap(LogName.parse)
        let base = known.filter { $0.kind == .base }.map(\.number).max() ?? 0
        let numbers = known.filter { $0.kind == .segment && $0.number >= max(1, base) }.map(\.number).sorted()
        var files: [File] = []
        for number in numbers { files.append(try Self.file(.segment, number, in: folder)) }
        segments = files
        try Self.dropLost(&segments, &lost, bootID: bootID)
        self.base = base == 0 ? nil : try Self.file(.base, base, in: folder)
        let id = segments.last?.state?.store
        var obsolete = names.filter { name in
            name.hasSuffix(LogName.unfinished) && LogName.parse(String(name.dropLast(LogName.unfinished.count))) != nil
        }
        let older = known.filter { $0.number < base }
        for (kind, number) in older {
            let file = try Self.file(kind, number, in: folder)
            if file.state?.store == id { obsolete.append(file.name) }
        }
        self.obsolete = obsolete
        strange = names.filter { LogName.parse($0) == nil && !obsolete.contains($0) }
        try checkOrder(bootID: bootID)
    }

    private static func file(_ kind: LogName.Kind, _ number: Int64, in folder: StoreFolder) throws -> File {
        var file = File(kind: kind, number: number, name: LogName.name(kind, number))
        var reader = try TurnReader(folder: folder.descriptor.number, name: file.name)
        let first = try reader.readHeading()
        if case .newer(let format) = first?.state { throw Corruption.newer(format, file: file.name) }
        if case .state(let state) = first?.state, let heading = first?.heading,
            heading == HeadingLine(kind, number, after: heading.sum)
        {
            (file.state, file.turn, file.sum) = (state, reader.chain.turn, heading.sum)
        } else {
            // All states of a file are of one boot and one setting of the clock.
            file.state = try reader.findState()
        }
        return file
    }

    /// Without a power failure, the first turn of the last segment can be read: the segment gets its name afterwards.
    private static func dropLost(_ segments: inout [File], _ lost: inout [File], bootID: String) throws {
        while let last = segments.last, last.state == nil {
            guard let before = segments.last(where: { $0.state != nil })?.state, before.bootID != bootID else {
                throw Corruption.unreadable(file: last.name)
            }
            lost.insert(segments.removeLast(), at: 0)
        }
    }

    /// Checks that no file is missing.
    private mutating func checkOrder(bootID: String) throws {
        guard let first = segments.first, let last = segments.last?.state else {
            guard base == nil else { throw Corruption.missing(LogName.name(.segment, base?.number ?? 0)) }
            return
        }
        if let base, first.number != base.number { throw Corruption.missing(LogName.name(.segment, base.number)) }
        if base == nil, first.number != 1 { throw Corruption.missing(LogName.name(.base, first.number)) }
        for file in segments + (base.map { [$0] } ?? []) where file.state.map({ $0.store != last.store }) ?? false {
            throw Corruption.foreign(file: file.name)
        }
        guard
            let hole = segments.indices.dropFirst().first(where: { segments[$0].number != segments[$0 - 1].number + 1 })
        else { return }
        // The names behind it were given before the power failed, and this one was not on the disk.
        guard last.bootID != bootID, segments[hole - 1].state != nil, try !endsWithStop() else {
            throw Corruption.missing(LogName.name(.segment, segments[hole - 1].number + 1))
        }
        lost = segments[hole...] + lost
        segments.removeSubrange(hole...)
    }

    func reader(of file: File) throws -> TurnReader {
        try TurnReader(folder: folder.descriptor.number, name: file.name)
    }

    /// Whether the last turn of all is a clean stop, so that no power failure can have cost a turn.
    func endsWithStop() throws -> Bool {
        guard let last else { return false }
        let number = unsafe openat(folder.descriptor.number, last.name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        let file = try Descriptor(owning: number, of: "open")
        var end = Int64(lseek(file.number, 0, SEEK_END))
        var bytes: [UInt8] = []
        // Zeros may have been written ahead.
        while end > 0, bytes.isEmpty {
            let start = max(0, end - 1 << 20)
            bytes = [UInt8](repeating: 0, count: Int(end - start))
            let count = unsafe pread(file.number, &bytes, bytes.count, off_t(start))
            guard count >= 0 else { throw SystemFailure("read") }
            bytes.removeSubrange((bytes.prefix(count).lastIndex { $0 != 0 } ?? -1) + 1..<bytes.count)
            end = start
        }
        var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true)
        guard bytes.last == UInt8(ascii: "\n"), let trailer = lines.popLast(), Trailer(Array(trailer).span) != nil,
            let line = lines.popLast(), line.starts(with: Array("[\"state\"".utf8)),
            case .state(let state) = StateLine.read(0..<line.count, of: (Array(line) + [0]).span)
        else { return false }
        return state.wasStopped
    }
}

/// The state of reading a log.
struct LogReading: ~Copyable {
    private let recovery: Recovery
    private(set) var contents: Recovery.Contents
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
    ///   - recovery: the clocks, and the limits.
    init(_ first: StateLine, isSameBoot: Bool, by recovery: Recovery) {
        self.recovery = recovery
        state = first
        var state = first
        if !isSameBoot {
            let moved = first.offset - recovery.now.offset
            state.shifts = state.shifts.mapValues { $0 + moved }
            state.shifts[first.boot] = moved
            state.boot += 1
        }
        (shifts, boot) = (state.shifts, state.boot)
        contents = Recovery.Contents(
            timetable: Timetable(limits: recovery.limits, revision: Revision(0)),
            state: state
        )
    }

    consuming func finished() -> Recovery.Contents { contents }

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
        let chain: Chain
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
        let isCut = synced.map { chain.turn > $0 } ?? false
        if !isCut { damage(segment.name, "its turns from \(chain.turn) to \(end - 1) are missing") }
        return End(position: position, chain: Chain(turn: end, sum: next.sum ?? 0), isCut: isCut, isAtZeros: true)
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
            case .damage(let bytes):
                damage(
                    reader.name,
                    "from turn \(reader.chain.turn) on it does not have its checksum; its lines are read one by one"
                )
                wasStopped = false
                eachLine(bytes, of: reader) { line, reading in
                    number += 1
                    // Bytes that begin no line are neither served nor kept in a base.
                    guard reader.text[line.lowerBound] == UInt8(ascii: "[") else { return }
                    if reading.isNamed(line, of: reader.text.span) {
                        reading.readNamed(line, number, of: reader.text.span, in: reader.name)
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
            let content = CountdownLine.read(line, of: reader.text.span, after: Revision(0)) { _ in .zero }
            first = content.revision
        }
        return first
    }

    /// Reads the lines of damage, whose revisions have to be before those of the turns behind it.
    private mutating func readDoubtful(before first: Revision?) {
        for (text, number, name) in doubtful {
            read(0..<text.count - 1, number, of: text.span, in: name, before: first)
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
        _ = contents.timetable.compact(at: recovery.now, budget: &limit)
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
            Recovery.SkippedLine(text: bytes, description: "\(name), line \(number): \(fault)", after: newest)
        )
        floor = max(floor ?? newest, revision ?? newest)
    }

    private mutating func readNamed(_ line: Range<Int>, _ number: Int, of text: Span<UInt8>, in name: String) {
        switch StateLine.read(line, of: text) {
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
        guard recovery.followsEngine else { return }
        switch fleet {
        case .record(let key, let record): contents.fleet.records.set(record, under: key)
        case .removal(let key): contents.fleet.records.remove(key)
        case .position(let position): contents.fleet.position = position
        case .nothing: contents.fleet = StoredFleet()
        case .unusable: isDamaged = true
        }
    }
}
