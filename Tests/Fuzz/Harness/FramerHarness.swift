import Varlink

/// A stream is split at its NULs, and nowhere else, whatever the sizes of its pieces.
public enum FramerHarness: Harness {
    /// Checks one input.
    public static func check(_ input: inout Input) {
        let limit = Int(input.next()) + 1
        let stream = input.rest()
        var framer = Framer(limit: limit)
        var found: [[UInt8]] = []
        var isOver = false
        for piece in stream.pieces {
            framer.receive(piece.span)
            while !isOver {
                do {
                    guard let range = try framer.next() else { break }
                    found.append(Array(framer.bytes[range]))
                } catch {
                    isOver = true
                }
            }
        }
        let messages = stream.bytes.split(separator: 0, omittingEmptySubsequences: false)
        let whole = messages.dropLast().prefix { $0.count <= limit }.map(Array.init)
        let isTooLong = whole.count < messages.count - 1 || (messages.last?.count ?? 0) > limit
        expect(found == whole, "the messages are those between the NULs")
        expect(isOver == isTooLong, "the stream is refused where a message is over the limit")
    }
}
