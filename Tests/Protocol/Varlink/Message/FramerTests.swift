import Testing
import Varlink

@Suite("A framer")
struct FramerTests {
    private func take(_ framer: inout Framer) throws -> [String] {
        var messages: [String] = []
        while let range = try framer.next() { messages.append(String(decoding: framer.bytes[range], as: UTF8.self)) }
        return messages
    }

    @Test("messages are split at each NUL, however the reads are split", arguments: 1...24)
    func cuts(size: Int) throws {
        let stream = wire("a", "", "bcdefghijklmno", "p") + Array("rest".utf8)
        var framer = Framer(limit: 100)
        var messages: [String] = []
        for start in stride(from: 0, to: stream.count, by: size) {
            framer.receive(Array(stream[start..<min(start + size, stream.count)]).span)
            messages += try take(&framer)
        }
        #expect(messages == ["a", "", "bcdefghijklmno", "p"])
        #expect(framer.pending == 4)
    }

    @Test("a message as long as the limit passes, one byte more does not", arguments: [1, 7, 8, 9, 64])
    func limit(limit: Int) throws {
        var framer = Framer(limit: limit)
        framer.receive((Array(repeating: 0x78, count: limit) + [0]).span)
        #expect(try framer.next()?.count == limit)
        framer.receive((Array(repeating: 0x78, count: limit + 1) + [0]).span)
        #expect(throws: ProtocolViolation.messageTooLong(limit: limit)) { try framer.next() }
    }

    @Test("a message over the limit is rejected before its NUL arrives")
    func limitWithoutEnd() throws {
        var framer = Framer(limit: 8)
        framer.receive(Array("12345678".utf8).span)
        #expect(try framer.next() == nil)
        framer.receive(Array("9".utf8).span)
        #expect(throws: ProtocolViolation.messageTooLong(limit: 8)) { try framer.next() }
    }

    @Test("messages before one that is too long are still returned")
    func limitAfterMessages() throws {
        var framer = Framer(limit: 3)
        framer.receive(wire("abc", "de", "toolong").span)
        #expect(try framer.next()?.count == 3)
        #expect(try framer.next()?.count == 2)
        #expect(throws: ProtocolViolation.messageTooLong(limit: 3)) { try framer.next() }
    }

    @Test("returned messages are freed when more bytes arrive")
    func discards() throws {
        var framer = Framer(limit: 1000)
        for _ in 0..<1000 {
            framer.receive(wire("0123456789").span)
            #expect(try take(&framer) == ["0123456789"])
        }
        #expect(framer.bytes.count <= 11)
        framer.receive((wire(String(repeating: "x", count: 900)) + Array("tail".utf8)).span)
        #expect(try take(&framer).count == 1)
        framer.receive(wire("end").span)
        #expect(try take(&framer) == ["tailend"])
        #expect(framer.bytes.count == 8)
    }

    @Test("the first NUL is found among bytes of all kinds")
    func findsNull() throws {
        for length in 0..<40 {
            var framer = Framer(limit: 1000)
            let message = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37 | 1) | ($0 % 3 == 0 ? 0x80 : 0) }
            framer.receive((message + [0, 1, 0]).span)
            #expect(try framer.next() == 0..<length)
            #expect(try framer.next() == length + 1..<length + 2)
        }
    }
}
