import RESP

/// What an engine sends is read as the same values however it arrives, within the limits, and survives a round trip.
public enum RESPHarness: Harness {
    /// The largest piece of a stream.
    private static let piece = 32

    /// Checks one input.
    public static func check(_ input: inout Input) {
        var limits = RESPReader.Limits()
        (limits.line, limits.bulk) = (Int(input.next()) + 1, Int(input.next()))
        (limits.elements, limits.depth, limits.value) = (Int(input.next() & 15), Int(input.next() & 7), 4_096)
        let stream = input.rest()
        let most = max(limits.line, limits.bulk) + 2 + piece
        let whole = read([stream.bytes], limits)
        let cut = read(stream.pieces, limits, pendingAtMost: most)
        expect(cut.values == whole.values, "the values are the same however the stream is cut")
        expect(cut.error == whole.error, "the stream is refused for the same reason however it is cut")
        for value in whole.values { expect(count(value) <= 4_096 / 64, "a value is within its limit") }
        let written = whole.values.flatMap(bytes)
        let again = read([written], RESPReader.Limits())
        expect(again.error == nil && again.values == whole.values, "values are the same after a round trip")
    }

    private static func read(
        _ pieces: [[UInt8]],
        _ limits: RESPReader.Limits,
        pendingAtMost: Int = .max
    ) -> (values: [RESPValue], error: RESPError?) {
        var reader = RESPReader(limits: limits)
        var values: [RESPValue] = []
        for piece in pieces {
            reader.receive(piece.span)
            do throws(RESPError) {
                while let value = try reader.next() { values.append(value) }
            } catch {
                return (values, error)
            }
            expect(reader.pending <= pendingAtMost, "no more than a line or a string is kept")
        }
        return (values, nil)
    }

    /// The number of values in a value, itself included.
    private static func count(_ value: RESPValue) -> Int {
        1 + (value.elements ?? []).reduce(0) { $0 + count($1) }
    }

    private static func bytes(_ value: RESPValue) -> [UInt8] {
        switch value {
        case .simple(let text): Array("+\(text)\r\n".utf8)
        case .error(let text): Array("-\(text)\r\n".utf8)
        case .integer(let number): Array(":\(number)\r\n".utf8)
        case .bulk(let bytes): Array("$\(bytes.count)\r\n".utf8) + bytes + Array("\r\n".utf8)
        case .array(let elements): Array("*\(elements.count)\r\n".utf8) + elements.flatMap(bytes)
        case .null: Array("$-1\r\n".utf8)
        }
    }
}
