import Testing
import Varlink

@Suite("A writer")
struct JSONWriterTests {
    private func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    private enum Color: String, JSONWritable {
        case red
        case green
    }

    private struct Point: JSONEncodable {
        let x: Int64
        func encode(into writer: inout JSONWriter) { writer.member("x", x) }
    }

    @Test("members of each type are written, with commas between them and no whitespace")
    func members() {
        let text = text { writer in
            writer.member("s", "text")
            writer.member("i", 1)
            writer.member("t", true)
            writer.member("f", false)
            writer.member("e", Color.red)
            writer.member("o", Point(x: 2))
            writer.member("os", [Point(x: 1), Point(x: 2)])
            writer.member("ss", ["a", "b"])
            writer.member("es", [Color.green])
            writer.member("m", ["b": "2", "a": "1"])
            writer.member("im", ["b": 2, "a": 1] as [String: Int64])
        }
        #expect(
            text == #"{"s":"text","i":1,"t":true,"f":false,"e":"red","o":{"x":2},"os":[{"x":1},{"x":2}],"#
                + #""ss":["a","b"],"es":["green"],"m":{"a":"1","b":"2"},"im":{"a":1,"b":2}}"#
        )
    }

    @Test("an optional value that is present is written like any member, and an absent one is omitted, not null")
    func optionals() {
        let text = text { writer in
            writer.memberIfPresent("s", nil as String?)
            writer.memberIfPresent("i", nil as Int64?)
            writer.memberIfPresent("b", nil as Bool?)
            writer.memberIfPresent("e", nil as Color?)
            writer.memberIfPresent("o", nil as Point?)
            writer.memberIfPresent("m", nil as [String: String]?)
            writer.memberIfPresent("ss", nil as [String]?)
            writer.memberIfPresent("i", 1 as Int64?)
            writer.memberIfPresent("b", true as Bool?)
            writer.memberIfPresent("e", Color.red as Color?)
            writer.memberIfPresent("o", Point(x: 1) as Point?)
            writer.memberIfPresent("m", ["a": "b"] as [String: String]?)
            writer.memberIfPresent("es", [Color.red] as [Color]?)
            writer.memberIfPresent("last", "there")
        }
        #expect(text == #"{"i":1,"b":true,"e":"red","o":{"x":1},"m":{"a":"b"},"es":["red"],"last":"there"}"#)
    }

    @Test("containers nest, also empty ones")
    func nesting() {
        let text = text { writer in
            writer.array("a") { writer in
                writer.element(1)
                writer.array { $0.element("x") }
                writer.object { $0.member("y", 2) }
                writer.array { _ in }
                writer.object { _ in }
                writer.element(true)
                writer.element(Point(x: 3))
                writer.element(Color.green)
            }
            writer.member("o", object: { _ in })
            writer.member("z", 1)
        }
        #expect(text == #"{"a":[1,["x"],{"y":2},[],{},true,{"x":3},"green"],"o":{},"z":1}"#)
    }

    @Test("JSON text is inserted as it is")
    func rawPieces() {
        let text = text { writer in
            writer.array("events") { writer in
                writer.element(raw: Array(#"{"type":"tick"}"#.utf8))
                writer.element(raw: Array("2".utf8))
            }
        }
        #expect(text == #"{"events":[{"type":"tick"},2]}"#)
    }

    @Test("a word and a string in UTF-8 are written as strings")
    func otherStrings() {
        let text = text { writer in
            writer.member("utf8", utf8: "a\"b".utf8Span.span)
            writer.array("words") { writer in
                writer.write(word: "red")
                writer.write(utf8: "\n".utf8Span.span)
                writer.elementNull()
            }
        }
        #expect(text == #"{"utf8":"a\"b","words":["red","\n",null]}"#)
    }

    @Test("only quotes, backslashes and control characters are escaped")
    func escapes() {
        let text = text { $0.member("s", "\"\\/\u{8}\u{C}\n\r\t\0\u{1F}\u{7F}é😀") }
        #expect(text == #"{"s":"\"\\/\b\f\n\r\t\u0000\u001f"# + "\u{7F}é😀\"}")
    }

    @Test(
        "a byte that needs an escape is found at each alignment",
        arguments: 0..<20,
        ["\"", "\\", "\n", "\"\"", "\\a\""]
    )
    func findsEscapes(place: Int, character: String) throws {
        let value = String(repeating: "é", count: place) + character + String(repeating: "x", count: 19 - place)
        let text = text { $0.member("s", value) }
        #expect(try member("s", of: text) == value)
        #expect(!text.contains("\n"))
    }

    @Test("names that are not literals are escaped too")
    func escapesNames() throws {
        let text = text { writer in
            writer.member(named: "a\"b", "c")
            writer.member(named: "n\n", 1 as Int64)
            writer.member("m", ["\\": "\\"])
        }
        #expect(text == #"{"a\"b":"c","n\n":1,"m":{"\\":"\\"}}"#)
    }
}
