import Testing
import Varlink

@Suite("The JSON reader")
struct JSONReaderTests {
    private static let object = #"""
        {"s":"text","e":"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000z","i":-42,"d":1.5,"t":true,"f":false,"n":null,
        "o":{"x":1,"y":{"z":"deep"}},"os":[{"x":1},{"x":2}],"ss":["a","b"],"m":{"k":"v","l":"w"},"im":{"k":7},
        "color":"red","colors":["red","green"],"empty":[],"none":{}}
        """#

    private enum Color: String, JSONReadable {
        case red
        case green
    }

    private struct Point: JSONDecodable, Equatable {
        let x: Int64

        init(x: Int64) { self.x = x }

        init(from reader: inout JSONReader) throws(InvalidParameter) {
            var x = JSONMember<Int64>("x")
            try reader.members { x.read(&$0) }
            self.x = try x.required
        }
    }

    private func value<Value: JSONReadable>(_ name: StaticString, as: Value.Type = Value.self) throws -> Value? {
        try member(name, of: Self.object)
    }

    /// Whether a member is not of the type.
    private func isInvalid<Value: JSONReadable>(_ name: StaticString, as: Value.Type) -> Bool {
        do {
            _ = try value(name, as: Value.self)
            return false
        } catch {
            return error as? InvalidParameter == InvalidParameter(name.description)
        }
    }

    // MARK: Members

    @Test("members of each type are read")
    func readsMembers() throws {
        #expect(try value("s") == "text")
        #expect(try value("i") == -42 as Int64)
        #expect(try value("t") == true)
        #expect(try value("f") == false)
        #expect(try value("os") == [Point(x: 1), Point(x: 2)])
        #expect(try value("ss") == ["a", "b"])
        #expect(try value("m") == ["k": "v", "l": "w"])
        #expect(try value("im") == ["k": 7] as [String: Int64])
        #expect(try value("color") == Color.red)
        #expect(try value("colors") == [Color.red, .green])
        #expect(try value("empty") == [] as [String])
        #expect(try value("none") == [:] as [String: String])
    }

    @Test("escapes are resolved")
    func resolvesEscapes() throws {
        let scalars = "a\"\\/\u{8}\u{C}\n\r\té😀\0z".unicodeScalars
        #expect(try #require(try value("e", as: String.self)).unicodeScalars.elementsEqual(scalars))
    }

    @Test("an absent member and a null member are the same, and invalid if required")
    func absence() throws {
        #expect(try value("n", as: String.self) == nil)
        #expect(try value("absent", as: [String].self) == nil)
        #expect(throws: InvalidParameter("n")) { try JSONMember<String>("n").required }
        #expect(throws: InvalidParameter("x")) { try Point(json: Array("{}".utf8)) }
        #expect(throws: InvalidParameter("x")) { try Point(json: Array(#"{"x":null}"#.utf8)) }
    }

    @Test("a member of another type is invalid")
    func requiresTypes() {
        let names: [StaticString] = ["s", "i", "d", "t", "o", "ss"]
        for name in names {
            #expect(isInvalid(name, as: String.self) == (name.description != "s"))
            #expect(isInvalid(name, as: Int64.self) == (name.description != "i"))
            #expect(isInvalid(name, as: Bool.self) == (name.description != "t"))
            #expect(isInvalid(name, as: [String].self) == (name.description != "ss"))
            #expect(isInvalid(name, as: [String: String].self))
            #expect(isInvalid(name, as: Color.self))
        }
        #expect(isInvalid("os", as: [String].self))
        #expect(isInvalid("ss", as: [Color].self))
        #expect(isInvalid("m", as: [String: Int64].self))
    }

    @Test("if a name occurs twice, the last value counts, whatever the first one is")
    func lastCounts() throws {
        let text = #"{"a":1,"b":2,"a":"x","m":{"k":"1","k":"2"},"a":null,"b":4,"a":5}"#
        #expect(try member("a", of: text) == 5 as Int64)
        #expect(try member("b", of: text) == 4 as Int64)
        #expect(try member("m", of: text) == ["k": "2"])
        #expect(try member("a", of: #"{"a":1,"a":null}"#, as: Int64.self) == nil)
        #expect(try member("a", of: #"{"a":1,"\u0061":2}"#) == 2 as Int64)
        #expect(throws: InvalidParameter("a")) { try member("a", of: #"{"a":1,"a":"x"}"#, as: Int64.self) }
    }

    @Test("a name with escapes is the same name; names are compared by their bytes")
    func names() throws {
        #expect(try member("key", of: #"{"\u006bey":1}"#) == 1 as Int64)
        #expect(try member("café", of: #"{"caf\u00e9":2}"#) == 2 as Int64)
        let text = #"{"abcdefghij":1,"abcdefghiJ":2,"abcdefgh":3,"xbcdefghij":4,"e\u0301":5}"#
        #expect(try member("abcdefghij", of: text) == 1 as Int64)
        #expect(try member("abcdefgh", of: text) == 3 as Int64)
        #expect(try member("abcdefghi", of: text, as: Int64.self) == nil)
        #expect(try member("é", of: text, as: Int64.self) == nil)
    }

    @Test("the first unknown member is named, even if a known one is invalid")
    func unknownMembers() {
        #expect(throws: InvalidParameter("b")) { try Point(json: Array(#"{"x":"no","b":{"x":1},"c":2}"#.utf8)) }
        #expect(throws: InvalidParameter("é\"")) { try Point(json: Array(#"{"\u00e9\"":1}"#.utf8)) }
    }

    @Test("the first invalid element of an array of objects decides, and the text is read to its end")
    func arraysOfObjects() throws {
        let text = #"{"ps":[{"x":1},{"y":[2,{}],"x":1},{"x":""}],"after":3}"#
        #expect(throws: InvalidParameter("y")) { try member("ps", of: text, as: [Point].self) }
        #expect(throws: InvalidParameter("ps")) { try member("ps", of: #"{"ps":[{"x":1},2]}"#, as: [Point].self) }
        #expect(try member("after", of: text) == 3 as Int64)
    }

    @Test("the text of a value is returned as it is written")
    func rawValues() {
        let values = JSONReader.read(copying: #" {"a": [1, "x"] ,"s":"\u0041","n":null}"#.utf8) { reader in
            var values: [String] = []
            if reader.beginText() {
                while reader.nextMember() { values.append(String(decoding: reader.rawValue(), as: UTF8.self)) }
            }
            return values
        }
        #expect(values == [#"[1, "x"]"#, #""\u0041""#, "null"])
    }

    // MARK: Elements

    /// Reads a part of some bytes as an array: an integer, a string and null, and nothing else.
    private func elements(_ text: String) -> [String]? {
        // A line of several lines.
        let bytes = Array("1,\n\(text)\n2]".utf8) + [0]
        let length = text.utf8.count
        return JSONReader.read(bytes.span.extracting(3...), length: length) { reader in
            guard reader.beginArrayText() else { return nil }
            var values: [String] = []
            while values.count < 4, reader.nextElement() {
                switch values.count {
                case 0: values.append("\(reader.integer() ?? -1)")
                case 1: values.append(reader.string() ?? "none")
                case 2: values.append("\(reader.null())")
                default: values.append("one too many")
                }
            }
            return reader.finish() == nil && values.count < 4 ? values : nil
        }
    }

    @Test("elements are read one after the other, in a part of some bytes")
    func readsElements() {
        #expect(elements(#"[7,"tea",null]"#) == ["7", "tea", "true"])
        #expect(elements(#" [ 7 , "t\u0065a" , null ] "#) == ["7", "tea", "true"])
        #expect(elements(#"["x",{"a":[1]}]"#) == ["-1", "none"])
        #expect(elements("[]") == [])
    }

    @Test(
        "a part that is not exactly one array with as many elements is not valid",
        arguments: [
            "", " ", "[", "]", "[1", "[1,", #"[1,"a""#, #"[1 "a"]"#, "[1,]", "[1,,2]", #"[1,"a",null,4]"#, "[1]]",
            "[1] 3", "[01]", "[1}", #"{"a":1}"#, "12", "[+1]", "[1.]", "[--1]", "[-]", "[1]x", #"[1,"a]"#,
            "[1,\"\u{1}\"]",
        ]
    )
    func rejectsElements(text: String) {
        #expect(elements(text) == nil)
    }
}
