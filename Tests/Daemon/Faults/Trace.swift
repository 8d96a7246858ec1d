import Foundation

/// What a daemon did to its files and what it sent, in this order: the file that `Shim/faults.c` writes.
struct Trace: Sendable {
    /// A call that succeeded.
    struct Record: Sendable {
        /// What was called, a letter as in the shim.
        let letter: Character
        let descriptor: Int32
        /// The offset of a write, the length of a truncated file, or the flags of an opened one.
        let offset: Int64
        let path: String
        /// The new name.
        let other: String
        /// The place of what was written or sent, in the trace.
        let bytes: Range<Int>
    }

    let content: Data
    let records: [Record]

    init(of file: String) throws {
        content = try Data(contentsOf: URL(fileURLWithPath: file), options: .alwaysMapped)
        records = Self.records(in: content)
    }

    private static func records(in content: Data) -> [Record] {
        content.withUnsafeBytes { content in
            var records: [Record] = []
            var place = 0
            func number<Number: FixedWidthInteger>(_ offset: Int, _ type: Number.Type) -> Number {
                content.loadUnaligned(fromByteOffset: place + offset, as: type)
            }
            // A record may be cut if the daemon was killed meanwhile.
            while place + 32 <= content.count {
                let lengths = [16, 20, 24].map { Int(number($0, UInt32.self)) }
                let path = place + 32
                let (other, bytes) = (path + lengths[0], path + lengths[0] + lengths[1])
                let end = bytes + lengths[2]
                guard end <= content.count else { break }
                let record = Record(
                    letter: Character(Unicode.Scalar(UInt8(number(0, UInt32.self)))),
                    descriptor: number(4, Int32.self),
                    offset: number(8, Int64.self),
                    path: String(decoding: content[path..<other], as: UTF8.self),
                    other: String(decoding: content[other..<bytes], as: UTF8.self),
                    bytes: bytes..<end
                )
                records.append(record)
                place = end
            }
            return records
        }
    }

    /// The messages that were sent, each with the number of the record after which its client has it.
    func messages() -> [(record: Int, text: Data)] {
        var streams: [Int32: Data] = [:]
        var messages: [(Int, Data)] = []
        for (number, record) in records.enumerated() {
            switch record.letter {
            case "P": streams = [:]
            case "x": streams[record.descriptor] = nil
            case "A":
                var stream = streams.removeValue(forKey: record.descriptor) ?? Data()
                stream.append(content[record.bytes])
                while let end = stream.firstIndex(of: 0) {
                    messages.append((number + 1, stream[stream.startIndex..<end]))
                    stream = stream[(end + 1)...]
                }
                streams[record.descriptor] = Data(stream)
            default: break
            }
        }
        return messages
    }
}
