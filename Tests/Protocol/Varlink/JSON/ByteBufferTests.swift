import Testing

@testable import Varlink

@Suite("A byte buffer")
struct ByteBufferTests {
    @Test("pieces are appended in order, however often the buffer grows")
    func appending() {
        var buffer = ByteBuffer()
        buffer.append(literal: "<")
        var expected = "<"
        for number in 0..<300 {
            buffer.append(ASCII.openBracket)
            buffer.append(literal: "literal")
            buffer.append(name: "name", separated: number % 2 == 0)
            buffer.append(quoting: "é".utf8Span.span)
            buffer.append("c".utf8Span.span)
            buffer.append(word: "w")
            buffer.append(Int64(number) - 150)
            expected += "[literal\(number % 2 == 0 ? "," : "")\"name\":\"é\"c\"w\"\(number - 150)"
        }
        #expect(buffer.count == expected.utf8.count)
        #expect(buffer.bytes.elementsEqual(expected.utf8))
        #expect(buffer.capacity >= buffer.count)
    }

    @Test("bytes are removed at the end or at the beginning")
    func cutting() {
        var buffer = ByteBuffer()
        buffer.append(literal: "abcdef")
        buffer.truncate(to: 4)
        buffer.removeFirst(1)
        buffer.append(literal: "g")
        #expect(buffer.bytes.elementsEqual("bcdg".utf8))
    }

    @Test("memory is kept or freed on request")
    func emptying() {
        var buffer = ByteBuffer()
        buffer.append(literal: "abc")
        let capacity = buffer.capacity
        buffer.removeAll(keepingCapacity: true)
        #expect(buffer.count == 0 && buffer.capacity == capacity)
        buffer.removeAll(keepingCapacity: false)
        #expect(buffer.capacity == 0)
        #expect(buffer.bytes.isEmpty)
    }
}
