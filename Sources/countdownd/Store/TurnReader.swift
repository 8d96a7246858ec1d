import CLinux
import Glibc
import System
import Varlink

/// Reads the turns of a file in their order.
///
/// A turn that does not fit the one before it is damage if later turns show that the file goes on; else the history ends before it. A
/// part of the file that stands twice or in a wrong place is damage, too.
struct TurnReader: ~Copyable {
    /// The next piece of a file. Its lines are a range of `text`.
    enum Piece: Equatable {
        /// A turn that fits the one before it.
        case turn(Range<Int>)
        /// Bytes in the place of the turn with this number, which are no turn that counts.
        case damage(Range<Int>, turn: Int64)
        /// Nothing more can be read.
        case end
    }

    /// What is behind the last turn that could be read.
    enum Rest {
        case nothing
        /// A part of a turn: the process ended while it was written.
        case partOfTurn
        /// Whole turns.
        case turns
    }

    private static let chunk = 64 << 10
    /// How far a turn is searched behind damage at once: further than a segment is long.
    private static let horizon = 3 * TurnChain.longestTurn

    private let file: Descriptor
    /// The name of the file in its folder.
    let name: String
    private(set) var chain = TurnChain(turn: 0, sum: 0)
    /// Turns from this number on are void: the next segment has them.
    var end = Int64.max
    /// Up to this turn, damage is distinguished from the end of the history.
    var damageBefore = Int64.max
    /// Whether the power may have failed while the last turn was written, so that parts of it are on the disk.
    var mayBeTorn = false
    /// The text that was read last, with a NUL behind it.
    private(set) var text: [UInt8]
    private var start = 0
    private var filled = 0
    private var offset: Int64 = 0
    private var isAtEnd = false
    /// The turns in memory that count behind the first damage, the next one last.
    private var behindDamage: [Turn] = []

    /// - Parameters:
    ///   - folder: the descriptor of the folder.
    ///   - name: of the file in it.
    /// - Throws: that the file cannot be opened.
    init(folder: Int32, name: String) throws(SystemFailure) {
        let number = unsafe openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        file = try Descriptor(owning: number, of: "open")
        self.name = name
        text = [UInt8](repeating: 0, count: Self.chunk + 1)
    }

    /// Where the next turn begins in the file.
    var position: Int64 { offset - Int64(filled - start) }

    /// Reads the first turn without moving on: its heading, the state of the store, and whether it has its checksum.
    ///
    /// - Returns: nil if the file does not begin with such a turn.
    mutating func readHeading() throws(SystemFailure) -> (
        heading: HeadingLine, state: StateLine.Reading, isWhole: Bool
    )? {
        guard let (trailer, end) = try trailer(from: 0), let first = lineEnd(from: 0),
            let second = lineEnd(from: first + 1),
            text[0] == UInt8(ascii: "["), let heading = HeadingLine(0..<first, of: text.span)
        else { return nil }
        let state = StateLine.read(first + 1..<second, of: text.span)
        if case .state(let state) = state {
            chain = TurnChain(of: name, in: state.store, turn: trailer.turn, after: heading.sum)
        }
        return (heading, state, fits(trailer, 0..<end.lowerBound, chain))
    }

    /// Finds a state: the first one at the beginning of a turn that has its checksum, or else the first one of all.
    mutating func findState() throws(SystemFailure) -> StateLine? {
        try fill(Self.horizon)
        var (first, last): (StateLine?, (state: StateLine, start: Int)?)
        var before: (trailer: Trailer, end: Int)?
        var line = 0
        while let end = lineEnd(from: line) {
            if let trailer = Trailer(text.span.extracting(line..<end)) {
                if let before, let last, last.start == before.end,
                    fits(trailer, last.start..<line, before.trailer.next)
                {
                    return last.state
                }
                before = (trailer, end + 1)
            } else if text[line..<end].starts(with: "[\"state\"".utf8),
                case .state(let state) = StateLine.read(line..<end, of: text.span)
            {
                last = (state, line)
                first = first ?? state
            }
            line = end + 1
        }
        return first
    }

    /// Expects that the next turn continues a chain.
    mutating func begin(at chain: TurnChain) { self.chain = chain }

    /// The next piece.
    mutating func next() throws(SystemFailure) -> Piece {
        guard chain.turn < end else { return .end }
        if behindDamage.isEmpty {
            if let turn = try turn() { return goOn(behind: turn) }
            guard chain.turn <= damageBefore else { return .end }
            try fill(Self.horizon)
            let turns = fittingTurns()
            // The others stand twice or in a wrong place.
            behindDamage = turns.longestRise { $0.next.turn }.reversed().map { turns[$0] }
        }
        if let turn = behindDamage.last {
            if turn.lines.lowerBound == start {
                behindDamage.removeLast()
                return goOn(behind: turn)
            }
            return chain.turn <= damageBefore ? damage(to: turn.lines.lowerBound, chain) : .end
        }
        // Zeros stand in the place of a turn that was refused.
        guard !mayBeTorn, start < filled, text[start] != 0 else { return .end }
        // Only a base is so long.
        guard isAtEnd else { return damage(to: start + Self.horizon / 2, chain) }
        return lastTrailer().map { damage(to: $0.end, $0.trailer.next) } ?? .end
    }

    private mutating func goOn(behind turn: Turn) -> Piece {
        (start, chain) = (turn.end, turn.next)
        return .turn(turn.lines)
    }

    private mutating func damage(to position: Int, _ next: TurnChain) -> Piece {
        defer { (start, chain) = (position, next) }
        return .damage(start..<position, turn: chain.turn)
    }

    /// What follows the last turn that was read.
    mutating func rest() throws(SystemFailure) -> Rest {
        try fill(Self.horizon)
        guard text[start..<filled].contains(where: { $0 != 0 }) else { return .nothing }
        return lastTrailer() == nil ? .partOfTurn : .turns
    }

    // MARK: Turns

    /// A turn that fits: the range of its lines, the position behind its trailer, and the chain at that position.
    private struct Turn {
        let lines: Range<Int>
        let end: Int
        let next: TurnChain
    }

    /// Reads the next turn if it fits.
    private mutating func turn() throws(SystemFailure) -> Turn? {
        guard let (trailer, line) = try trailer(from: start), case let lines = start..<line.lowerBound,
            fits(trailer, lines, chain)
        else { return nil }
        return Turn(lines: lines, end: line.upperBound + 1, next: trailer.next)
    }

    private func fits(_ trailer: Trailer, _ lines: Range<Int>, _ chain: TurnChain) -> Bool {
        trailer.turn == chain.turn && trailer.bytes == Int64(lines.count)
            && TurnChain.checksum(chain.sum, text.span.extracting(lines)) == trailer.crc
    }

    /// Finds the first line from a position on that begins with `{`, in memory or behind it, as a trailer.
    private mutating func trailer(from position: Int) throws(SystemFailure) -> (trailer: Trailer, line: Range<Int>)? {
        var line = position
        while true {
            guard let end = lineEnd(from: line) else {
                guard !isAtEnd, filled - start <= TurnChain.longestTurn else { return nil }
                let scanned = line - start
                try fill(filled - start + Self.chunk)
                line = start + scanned
                continue
            }
            if text[line] == UInt8(ascii: "{") {
                return Trailer(text.span.extracting(line..<end)).map { ($0, line..<end) }
            }
            guard text[line] == UInt8(ascii: "[") else { return nil }
            line = end + 1
        }
    }

    /// The turns in memory from the next one on whose lines continue the sum of a trailer before them.
    private func fittingTurns() -> [Turn] {
        var turns: [Turn] = []
        var chains = [chain.turn: chain]
        var line = start
        while let end = lineEnd(from: line) {
            defer { line = end + 1 }
            guard text[line] == UInt8(ascii: "{"), let trailer = Trailer(text.span.extracting(line..<end)),
                (chain.turn..<self.end).contains(trailer.turn)
            else { continue }
            chains[trailer.next.turn] = trailer.next
            guard let chain = chains[trailer.turn], trailer.bytes <= Int64(line - (turns.last?.end ?? start)),
                case let lines = line - Int(trailer.bytes)..<line, fits(trailer, lines, chain)
            else { continue }
            turns.append(Turn(lines: lines, end: end + 1, next: trailer.next))
        }
        return turns
    }

    /// The last trailer in memory that is not void, and where the line behind it begins.
    private func lastTrailer() -> (trailer: Trailer, end: Int)? {
        var last: (trailer: Trailer, end: Int)?
        var line = start
        while let end = lineEnd(from: line) {
            if let trailer = Trailer(text.span.extracting(line..<end)), (chain.turn..<self.end).contains(trailer.turn) {
                last = (trailer, end + 1)
            }
            line = end + 1
        }
        return last
    }

    /// The position of the line break that ends a line in memory.
    func lineEnd(from position: Int) -> Int? {
        guard position < filled else { return nil }
        return unsafe text.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = unsafe memchr(base + position, 10, filled - position) else {
                return nil
            }
            return unsafe UnsafeRawPointer(found) - base
        }
    }

    /// Reads until so many bytes from the next turn on are in memory, or the file ends.
    private mutating func fill(_ count: Int) throws(SystemFailure) {
        if start > 0 {
            text.replaceSubrange(0..<(filled - start), with: text[start..<filled])
            (filled, start) = (filled - start, 0)
        }
        while filled < count, !isAtEnd {
            // Doubled, because a file may be much shorter than what is asked for.
            if filled == text.count - 1 { text.append(contentsOf: [UInt8](repeating: 0, count: text.count)) }
            let (place, from, number, room) = (filled, offset, file.number, text.count - 1 - filled)
            let read = unsafe text.withUnsafeMutableBytes { bytes in
                unsafe pread(number, bytes.baseAddress.map { unsafe $0 + place }, room, off_t(from))
            }
            if read < 0, errno == EINTR { continue }
            guard read >= 0 else { throw SystemFailure("read") }
            isAtEnd = read == 0
            filled += read
            offset += Int64(read)
        }
        text[filled] = 0
    }
}
