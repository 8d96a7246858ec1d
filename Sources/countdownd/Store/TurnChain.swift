import CLinux
import Varlink

/// The checksums of turns: the CRC-32C of each one continues the sum of the turn before, so that only the turns of one history
/// fit each other, in their order.
struct TurnChain: Equatable {
    /// The longest turn with its trailer.
    static let longestTurn = 16 << 20

    /// The number of the next turn.
    var turn: Int64
    /// The sum of the turn before, or of the beginning of the file.
    var sum: UInt32

    /// The chain at the beginning of a file.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - store: the ID of the store.
    ///   - turn: the number of its first turn.
    ///   - sum: of the turn before that, in the file before.
    init(of name: String, in store: String, turn: Int64, after sum: UInt32) {
        self.turn = turn
        self.sum = Self.checksum(sum, "\(store)/\(name)".utf8Span.span)
    }

    init(turn: Int64, sum: UInt32) { (self.turn, self.sum) = (turn, sum) }

    /// Ends a turn: adds the trailer to its lines.
    mutating func seal(_ lines: inout JSONWriter) {
        let length = lines.count
        sum = lines.withBytes { Self.checksum(sum, $0) }
        Trailer(turn: turn, bytes: Int64(length), crc: sum).write(into: &lines)
        turn += 1
    }

    static func checksum(_ sum: UInt32, _ bytes: Span<UInt8>) -> UInt32 {
        unsafe bytes.withUnsafeBytes { unsafe linux_crc32c(sum, $0.baseAddress, $0.count) }
    }
}

/// The last line of a turn.
struct Trailer: Equatable {
    let turn: Int64
    /// The length of the lines of the turn, with their line breaks.
    let bytes: Int64
    /// The sum of the chain after the lines.
    let crc: UInt32

    /// The chain behind the turn.
    var next: TurnChain { TurnChain(turn: turn + 1, sum: crc) }

    func write(into lines: inout JSONWriter) {
        lines.object { trailer in
            trailer.member("turn", turn)
            trailer.member("bytes", bytes)
            trailer.member("crc", Int64(crc))
        }
        lines.endLine()
    }

    init(turn: Int64, bytes: Int64, crc: UInt32) { (self.turn, self.bytes, self.crc) = (turn, bytes, crc) }

    /// Reads a line without its line break.
    ///
    /// - Returns: nil unless the line is, byte for byte, what `write` writes.
    init?(_ line: Span<UInt8>) {
        var place = 0
        guard Self.skip("{\"turn\":", in: line, &place), let turn = Self.number(in: line, &place),
            Self.skip(",\"bytes\":", in: line, &place), let bytes = Self.number(in: line, &place),
            Self.skip(",\"crc\":", in: line, &place),
            let crc = Self.number(in: line, &place).flatMap(UInt32.init(exactly:)),
            Self.skip("}", in: line, &place), place == line.count
        else { return nil }
        self.init(turn: turn, bytes: bytes, crc: crc)
    }

    private static func skip(_ text: StaticString, in line: Span<UInt8>, _ place: inout Int) -> Bool {
        guard line.count - place >= text.utf8CodeUnitCount else { return false }
        for index in 0..<text.utf8CodeUnitCount {
            guard unsafe line[place] == text.utf8Start[index] else { return false }
            place += 1
        }
        return true
    }

    /// Reads a number without leading zeros.
    private static func number(in line: Span<UInt8>, _ place: inout Int) -> Int64? {
        let first = place
        var number: Int64 = 0
        while place < line.count, case let digit = line[place] &- UInt8(ascii: "0"), digit < 10 {
            guard number < 1 << 55, number > 0 || place == first else { return nil }
            number = number * 10 + Int64(digit)
            place += 1
        }
        return place > first ? number : nil
    }
}
