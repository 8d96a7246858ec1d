import CountdownCore
import Glibc
import System

/// Writes a log from memory into a new folder, after files of the old one were lost.
///
/// Nothing is removed: what has the name of the log is moved aside. If the daemon is killed meanwhile, the next start finds either no
/// whole new log, or finishes this.
struct StoreRewrite {
    struct Written {
        let folder: StoreFolder
        let segment: Segment
        let chain: TurnChain
        let baseBytes: Int64
        /// Where what had the name of the log is kept; nil if there was nothing.
        let kept: String?
    }

    let directory: String
    let state: StateLine
    let skipped: [SkippedLine]
    let now: Now

    func run(_ timetable: borrowing Timetable, synchronously: Bool) throws(SystemFailure) -> Written {
        let folder = try StoreFolder.makeRewritten(in: directory)
        // The first segment stands before the base, which makes the folder whole.
        let begin = TurnChain(turn: 1, sum: 0)
        let (turns, chain) = Segment.firstTurns(of: 1, after: begin, state)
        let segment = try folder.make(.segment, 1, synchronously: synchronously)
        var begun = Segment(1, segment, isSynchronous: synchronously, position: 0)
        try begun.append(turns.span)
        try segment.sync()
        try folder.name(segment, segment: 1)
        let file = try folder.make(.base, 1, synchronously: false)
        var base = try BaseFile(1, file, state, skipped: skipped)
        var count = 0
        try timetable.visitAll { countdown throws(SystemFailure) in
            base.add(countdown)
            count += 1
            if count.isMultiple(of: BaseFile.linesAtOnce) { try base.endTurn() }
        }
        try base.end(state)
        try file.sync()
        _ = try folder.name(file, base: 1)
        try folder.sync()
        let kept = try StoreFolder.adoptRewritten(in: directory, at: now.wall)
        folder.noteAdoption()
        return Written(folder: folder, segment: begun, chain: chain, baseBytes: base.position, kept: kept)
    }
}
