import RESP
import TestSupport
import Testing

@Suite("RESP2")
struct RESPTests {
    /// All values up to the first error in bytes that arrive in pieces of this size.
    private func values(
        of bytes: some Collection<UInt8>,
        piece: Int = .max,
        limits: RESPReader.Limits = .init()
    ) -> (values: [RESPValue], error: (any Error)?) {
        var reader = RESPReader(limits: limits)
        var rest = Array(bytes)[...]
        var values: [RESPValue] = []
        do {
            while !rest.isEmpty {
                reader.receive(Array(rest.prefix(piece)).span)
                rest = rest.dropFirst(piece)
                while let value = try reader.next() { values.append(value) }
            }
        } catch {
            return (values, error)
        }
        return (values, nil)
    }

    private func read(_ text: String, piece: Int = .max, limits: RESPReader.Limits = .init()) throws -> [RESPValue] {
        let (values, error) = values(of: text.utf8, piece: piece, limits: limits)
        if let error { throw error }
        return values
    }

    private func text(_ value: RESPValue) -> String {
        switch value {
        case .simple(let text): "+\(text)\r\n"
        case .error(let text): "-\(text)\r\n"
        case .integer(let number): ":\(number)\r\n"
        case .bulk(let bytes): "$\(bytes.count)\r\n\(String(decoding: bytes, as: UTF8.self))\r\n"
        case .array(let elements): "*\(elements.count)\r\n" + elements.map(text).joined()
        case .null: "$-1\r\n"
        }
    }

    private func randomValue(_ generator: inout SeededGenerator, depth: Int = 0) -> RESPValue {
        let word =
            ["", "a", "OK", "\r\n", "ü😀", String(repeating: "x", count: 700)].randomElement(using: &generator) ?? ""
        switch Int.random(in: 0..<(depth < 4 ? 6 : 5), using: &generator) {
        case 0: return .simple("OK")
        case 1: return .error("ERR no")
        case 2: return .integer(.random(in: .min...(.max), using: &generator))
        case 3: return .null
        case 4: return .bulk(Array(word.utf8))
        default:
            let count = Int.random(in: 0..<5, using: &generator)
            return .array((0..<count).map { _ in randomValue(&generator, depth: depth + 1) })
        }
    }

    @Test("values are the same however the stream is cut", arguments: 0..<200 as Range<UInt64>)
    func splits(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let values = (0..<10).map { _ in randomValue(&generator) }
        let stream = values.map(text).joined()
        #expect(try read(stream) == values)
        for piece in [1, 2, 3, 7, Int.random(in: 1...100, using: &generator)] {
            #expect(try read(stream, piece: piece) == values)
        }
    }

    @Test("a string that is not UTF-8 has bytes and no text")
    func notUTF8() throws {
        var reader = RESPReader(limits: .init())
        reader.receive((Array("$3\r\na".utf8) + [0xFF, 0x62] + Array("\r\n$3\r\n\u{FFFD}\r\n".utf8)).span)
        let value = try reader.next()
        #expect(value?.bytes == [0x61, 0xFF, 0x62])
        #expect(value?.text == nil)
        #expect(try reader.next()?.text == "\u{FFFD}")
    }

    @Test("no bytes trap, and what is read does not depend on how they are cut", arguments: 0..<300 as Range<UInt64>)
    func garbage(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("*$+-:0123456789\r\n\r\n\r\nab".utf8) + [0, 0xFF]
        let values = (0..<3).map { _ in randomValue(&generator) }
        var bytes = Array(values.map(text).joined().utf8)
        for _ in 0..<Int.random(in: 1..<8, using: &generator) {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            bytes[place] = alphabet.randomElement(using: &generator) ?? 0
        }
        let whole = self.values(of: bytes)
        for piece in [1, 5] {
            let cut = self.values(of: bytes, piece: piece)
            #expect(cut.values == whole.values)
            #expect((cut.error == nil) == (whole.error == nil))
        }
    }

    @Test("limits are errors")
    func limits() {
        var limits = RESPReader.Limits()
        (limits.line, limits.bulk, limits.elements, limits.depth, limits.value) = (10, 5, 3, 2, 300)
        #expect(throws: RESPError.lineTooLong(limit: 10)) { try read("+12345678901\r\n", limits: limits) }
        #expect(throws: RESPError.lineTooLong(limit: 10)) { try read("+123456789012345", limits: limits) }
        #expect(throws: RESPError.bulkTooLong(limit: 5)) { try read("$6\r\n", limits: limits) }
        #expect(throws: RESPError.tooManyElements(limit: 3)) { try read("*4\r\n", limits: limits) }
        #expect(throws: RESPError.tooDeep(limit: 2)) { try read("*1\r\n*1\r\n*1\r\n", limits: limits) }
        #expect(throws: RESPError.valueTooLong(limit: 300)) {
            try read("*3\r\n*2\r\n:1\r\n:1\r\n*3\r\n:1\r\n:1\r\n:1\r\n:1\r\n", limits: limits)
        }
        #expect(throws: RESPError.malformed) { try read("$9999999999999999999999\r\n") }
        #expect(throws: RESPError.malformed) { try read("*-2\r\n") }
        #expect(throws: RESPError.malformed) { try read(":1a\r\n") }
        #expect(throws: RESPError.malformed) { try read("$1\r\nabc") }
        #expect(throws: RESPError.unexpectedByte(0x15)) { try read("\u{15}\u{3}\u{3}") }
    }

    @Test("a command is an array of strings with their lengths in bytes")
    func commands() {
        var bytes: [UInt8] = []
        (["SET", "ü", ""] as RESPCommand).append(to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == "*3\r\n$3\r\nSET\r\n$2\r\nü\r\n$0\r\n\r\n")
    }
}
