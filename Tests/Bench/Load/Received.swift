import CSearch
import Glibc

/// Bytes that were received and not consumed yet.
struct Received {
    let base: UnsafeRawPointer
    let count: Int

    func begins(with text: [UInt8]) -> Bool { count >= text.count && memcmp(base, text, text.count) == 0 }

    /// The position behind a byte, searched from an offset on; nil if it is missing.
    func end(of byte: UInt8, from start: Int) -> Int? {
        memchr(base + start, Int32(byte), count - start).map { UnsafeRawPointer($0) - base + 1 }
    }

    /// The position behind a text, searched from an offset on; nil if it is missing.
    func end(of text: [UInt8], from start: Int) -> Int? {
        memmem(base + start, count - start, text, text.count).map { UnsafeRawPointer($0) - base + text.count }
    }

    /// Finds each marker, and calls the body with the position behind it. The body returns the position at which to
    /// continue; nil if the bytes that it needs have not arrived.
    ///
    /// - Returns: how many bytes were consumed.
    func forEach(marker: [UInt8], _ body: (Int) -> Int?) -> Int {
        var start = 0
        while let place = end(of: marker, from: start) {
            guard let next = body(place) else { return place - marker.count }
            start = next
        }
        // Half of a marker may have arrived.
        return max(start, count - (marker.count - 1))
    }

    /// The number of this many digits at a position.
    func number(at place: Int, digits: Int) -> Int {
        (place..<place + digits).reduce(0) {
            $0 * 10 + Int(base.load(fromByteOffset: $1, as: UInt8.self) &- UInt8(ascii: "0"))
        }
    }

    /// The number of complete replies, and their length in bytes; a refusal ends the program.
    func countReplies(to calls: [LoadCall], in dialect: some Dialect) -> (count: Int, bytes: Int) {
        var (replies, start) = (0, 0)
        while let next = end(of: dialect.end, from: start) {
            let reply = Received(base: base + start, count: next - start)
            if !calls.contains(where: { dialect.grants($0, reply) }) { fail("refused: \(reply.text)") }
            replies += 1
            start = next
        }
        return (replies, start)
    }

    private var text: String { String(decoding: UnsafeRawBufferPointer(start: base, count: count), as: UTF8.self) }
}
