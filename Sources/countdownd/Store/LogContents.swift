import CountdownCore
import Fleet

/// A line that is not served. It stays in the log, so that a person can mend it.
struct SkippedLine: Equatable {
    /// Empty if it cannot stay where it was.
    let text: [UInt8]
    /// Its file, its number in the file, and its fault.
    let description: String
    /// The newest revision of the lines before it.
    let after: Revision
}

/// The contents of a log.
struct LogContents: ~Copyable {
    var timetable: Timetable
    var fleet = StoredFleet()
    /// What the next state line says.
    var state: StateLine
    /// The offset of the clocks that the last daemon held; nil if this is another boot, or the system clock was set since.
    var offset: Duration?
    /// The last segment, and where its next turn begins; nil if there is none.
    var last: (number: Int64, position: Int64)?
    /// The chain at its end.
    var chain = TurnChain(turn: 1, sum: 0)
    /// Whether the next turn needs a segment of its own.
    var beginsSegment = true
    /// The number of the base; 0 without one.
    var base: Int64 = 0
    /// The bytes of all files that count.
    var bytes: Int64 = 0
    var skipped: [SkippedLine] = []
    /// Whether there are lines of a fleet that must not be read again.
    var forgetsFleet = false
    /// What a person should know.
    var reports: [String] = []
    /// The names of files to be kept beside the log: they are damaged, or history ends before them.
    var kept: [String] = []
    /// The names of files to be removed.
    var removed: [String] = []
}
