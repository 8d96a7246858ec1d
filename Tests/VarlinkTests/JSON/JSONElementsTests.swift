import Testing
import Varlink

@Suite("Elements that are read one after the other")
struct JSONElementsTests {
    /// Elements that an expectation can read.
    private final class Reader {
        private var elements: JSONElements

        init(_ bytes: [UInt8], in range: Range<Int>) { elements = JSONElements(bytes, in: range) }

        var hasMore: Bool { elements.hasMore }
        var isWhole: Bool { elements.isWhole }
        func integer() -> Int64? { elements.integer() }
        func string() -> String? { elements.string() }
        func bytes() -> Int? { elements.withString { $0.span.count } }
        func stringMap() -> [String: String]? { elements.stringMap() }
        func takeNull() -> Bool { elements.takeNull() }
    }

    private func elements(_ text: String) -> Reader {
        // What stands around the text is none of it.
        let bytes = Array("1,\(text),2]".utf8)
        return Reader(bytes, in: 2..<bytes.count - 3)
    }

    @Test(
        "an integer is what it is in an object",
        arguments: [
            "0", "7", "-1", "1234567890", "999999999999999999", "1000000000000000000", "9223372036854775807",
            "-9223372036854775808", "9223372036854775808", "1.5", "1e3", "-0", "\"1\"", "null", "true", "[1]",
            "{\"a\":1}",
        ]
    )
    func integers(number: String) throws {
        let object = try JSONObject(parsing: Array("{\"number\":\(number)}".utf8))
        let expected = try? object.integerIfPresent("number")
        for text in ["[\(number),5]", "[ \(number) , 5 ]", " [\n\t\(number)\r,5] "] {
            let elements = elements(text)
            #expect(elements.integer() == expected)
            #expect(elements.hasMore)
            #expect(elements.integer() == 5)
            #expect(!elements.hasMore)
            #expect(elements.isWhole)
        }
    }

    @Test("a string is read with its escapes, and without a copy where it has none")
    func strings() {
        let elements = elements(#"["tea","a\"b\u0000\n","茶","",7,"last"]"#)
        #expect(elements.string() == "tea")
        #expect(elements.string() == "a\"b\u{0}\n")
        #expect(elements.bytes() == 3)
        #expect(elements.string() == "")
        #expect(elements.string() == nil)
        #expect(elements.string() == "last")
        #expect(elements.isWhole)
    }

    @Test("null is taken where it is there, and only then")
    func nulls() {
        let elements = elements(#"[null, null ,nul]"#)
        let taken = [elements.takeNull(), elements.takeNull(), elements.takeNull()]
        #expect(taken == [true, true, false])
        #expect(!elements.isWhole)
    }

    @Test("a map is one of strings, or none")
    func maps() {
        let elements = elements(#"[{"a":"b","":"c"},{},{"a":1},[],{"x":{"y":"z"}},1]"#)
        #expect(elements.stringMap() == ["a": "b", "": "c"])
        #expect(elements.stringMap() == [:])
        for _ in 1...3 { #expect(elements.stringMap() == nil) }
        #expect(elements.integer() == 1)
        #expect(elements.isWhole)
    }

    @Test(
        "a text that is no array of as many elements is not whole",
        arguments: [
            "", " ", "[", "]", "[]", "[1", "[1,", "[1,2", "[1 2]", "[1,2,]", "[1,,2]", "[1]", "[1,2,3]", "[1,2]]",
            "[1,2] 3",
            "[01,2]", "[1,2}", "{\"a\":1}", "12", "\"[1,2]\"", "[+1,2]", "[1.,2]", "[--1,2]", "[1,\u{1}2]", "[-,2]",
            "[1,2]x",
        ]
    )
    func isNotWhole(text: String) {
        let elements = elements(text)
        _ = (elements.integer(), elements.integer())
        #expect(!elements.isWhole)
    }

    @Test(
        "after a broken string or value nothing more is read",
        arguments: ["\"a", "\"\u{1}\"", "\"\\x\"", "tru", "{1}"]
    )
    func isBroken(element: String) {
        let elements = elements("[\(element),5]")
        #expect(elements.string() == nil)
        #expect(elements.integer() == nil)
        #expect(!elements.takeNull())
        #expect(elements.stringMap() == nil)
        #expect(!elements.hasMore)
        #expect(!elements.isWhole)
    }

    @Test("what is written in one room is read again")
    func writing() {
        var writer = JSONWriter()
        for number in [0, 9, 10, -1, .max, .min] as [Int64] {
            if !writer.isEmpty { writer.endLine() }
            writer.array { writer in
                writer.elements(atMost: 100) { elements in
                    elements.firstElement(number)
                    elements.element(utf8: "a\"b".utf8Span.span)
                    elements.elementNull()
                    elements.element(number)
                }
                writer.element(["name": "value"])
                writer.elementNull()
            }
        }
        let lines = writer.bytes.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 6)
        for (line, number) in zip(lines, [0, 9, 10, -1, .max, .min] as [Int64]) {
            let elements = Reader(writer.bytes, in: line.startIndex..<line.endIndex)
            #expect(elements.integer() == number)
            #expect(elements.string() == "a\"b")
            #expect(elements.takeNull())
            #expect(elements.integer() == number)
            #expect(elements.stringMap() == ["name": "value"])
            #expect(elements.takeNull())
            #expect(elements.isWhole)
        }
        writer.removeAll()
        #expect(writer.isEmpty)
    }
}
