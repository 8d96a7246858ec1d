import CountdownCore
import Fleet
import Glibc
import System
import Varlink

/// A file with everything that counts from before a segment: turns of lines, the last of which is the state alone.
struct BaseFile: ~Copyable {
    /// How many lines are written at once if nothing waits for them.
    static let linesAtOnce = 128

    let number: Int64
    let file: LogFile
    private var chain: TurnChain
    private(set) var position: Int64 = 0
    private var lines = JSONWriter()
    private let boot: Int64
    /// Malformed lines, which are copied to where they were.
    private var skipped: ArraySlice<SkippedLine>

    init(_ number: Int64, _ file: LogFile, _ state: StateLine, skipped: [SkippedLine]) throws(SystemFailure) {
        (self.number, self.file, boot, self.skipped) = (number, file, state.boot, skipped[...])
        chain = TurnChain(of: LogName.name(.base, number), in: state.store, turn: 1, after: 0)
        HeadingLine(.base, number, after: 0).write(into: &lines)
        state.write(into: &lines)
        try endTurn()
    }

    mutating func add(_ countdown: KeyedCountdown) {
        addSkipped(before: countdown.revision)
        CountdownLine.write(countdown, boot: boot, into: &lines)
    }

    mutating func add(_ record: HeldRecord, under key: Key) { FleetLine.record(key, record).write(into: &lines) }

    /// Adds the malformed lines that were before a revision.
    mutating func addSkipped(before revision: Revision) {
        while let next = skipped.first, next.after < revision {
            skipped.removeFirst()
            guard !next.text.isEmpty else { continue }
            lines.element(raw: next.text)
            lines.endLine()
        }
    }

    /// Writes what was added.
    mutating func endTurn() throws(SystemFailure) {
        guard !lines.isEmpty else { return }
        chain.seal(&lines)
        let (file, position) = (file, position)
        try lines.withBytes { turn throws(SystemFailure) in try file.write(turn, at: position) }
        self.position += Int64(lines.count)
        lines.removeAll()
    }

    /// Writes the end of the file.
    mutating func end(_ state: StateLine) throws(SystemFailure) {
        addSkipped(before: Revision(.max))
        try endTurn()
        state.write(into: &lines)
        try endTurn()
    }
}

/// A base that is being written.
final class Base {
    enum Stage {
        case countdowns, records
        case syncing(Background.BaseSync)
    }

    var file: BaseFile
    /// Visits the countdowns in the order of their revisions; those that change meanwhile are in the segments from its number on.
    let scan: ScanID
    let upTo: Revision
    var stage = Stage.countdowns
    /// How far the records of a fleet are written.
    var place = 0
    /// The bytes of the files that it replaces.
    let replaced: Int64
    var syncedBytes: Int64 = 0

    /// The sync of the whole file; nil before it is whole.
    var sync: Background.BaseSync? { if case .syncing(let sync) = stage { sync } else { nil } }

    init(_ file: consuming BaseFile, scan: ScanID, upTo: Revision, replaced: Int64) {
        (self.scan, self.upTo, self.replaced) = (scan, upTo, replaced)
        self.file = file
    }
}
