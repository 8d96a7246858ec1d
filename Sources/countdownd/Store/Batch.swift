import CountdownCore
import Glibc

/// Changes that are stored in one row of table `batch`: a line for each, in the order of their revisions.
///
/// SQLite takes thousands of instructions for a row, however little is in it, and a few for each byte. So the changes of a
/// turn share rows; few of them, so that to take out one that was superseded is to write a page or two.
struct Batch {
    /// How far the revision of a change may be from the one that its batch counts from.
    static let distances: Range<Int64> = 0..<16

    private static let newline = UInt8(ascii: "\n")

    /// What the revisions count from.
    let first: Int64
    /// All lines, with a line break between them.
    let bytes: [UInt8]
    /// Where each line is; there is one at least, which may be empty.
    let lines: [Range<Int>]

    init(first: Int64, bytes: [UInt8]) {
        self.first = first
        self.bytes = bytes
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

    /// Leaves the changes of some revisions out.
    ///
    /// - Parameter revisions: in their order; those up to the last of this batch are taken from them.
    /// - Returns: the lines that are left; empty where none is.
    func without(_ revisions: inout ArraySlice<Revision>) -> [UInt8] {
        var kept: [UInt8] = []
        kept.reserveCapacity(bytes.count)
        for line in lines {
            let number = number(of: line)
            while let number, let next = revisions.first, next.number < number { revisions.removeFirst() }
            if let number, revisions.first?.number == number {
                revisions.removeFirst()
                continue
            }
            if !kept.isEmpty { kept.append(Self.newline) }
            kept += bytes[line]
        }
        return kept
    }

    /// The revision of the change of a line, as a daemon writes it.
    private func number(of line: Range<Int>) -> Int64? {
        guard let comma = bytes[line].firstIndex(of: UInt8(ascii: ",")), comma > line.lowerBound else { return nil }
        return Int64(String(decoding: bytes[line.lowerBound + 1..<comma], as: UTF8.self)).map { first &+ $0 }
    }
}
