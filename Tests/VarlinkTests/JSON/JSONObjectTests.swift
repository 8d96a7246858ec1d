import Testing
import Varlink

@Suite("An object of a message")
struct JSONObjectTests {
    private let object = try? JSONObject(
        #"""
        {"s":"text","e":"a\"\\\/\b\f\n\r\t\u00e9\uD83D\uDE00\u0000z","i":-42,"d":1.5,"t":true,"f":false,"n":null,
        "o":{"x":1,"y":{"z":"deep"}},"os":[{"x":1},{"x":2}],"ss":["a","b"],"m":{"k":"v","l":"w"},"im":{"k":7},
        "color":"red","colors":["red","green"],"empty":[],"none":{}}
        """#
    )

    private enum Color: String {
        case red
        case green
    }

    @Test("members of each type are read")
    func readsMembers() throws {
        let object = try #require(object)
        #expect(try object.string("s") == "text")
        #expect(try object.integer("i") == -42)
        #expect(try object.double("d") == 1.5)
        #expect(try object.boolean("t") && !object.boolean("f"))
        #expect(try object.object("o").object("y").string("z") == "deep")
        #expect(try object.objects("os").map { try $0.integer("x") } == [1, 2])
        #expect(try object.strings("ss") == ["a", "b"])
        #expect(try object.stringMap("m") == ["k": "v", "l": "w"])
        #expect(try object.integerMap("im") == ["k": 7])
        #expect(try object.value("color", as: Color.self) == .red)
        #expect(try object.valuesIfPresent("colors", as: Color.self) == [.red, .green])
        #expect(try object.strings("empty").isEmpty && object.object("none").isEmpty)
    }

    @Test("escapes are resolved")
    func resolvesEscapes() throws {
        let scalars = "a\"\\/\u{8}\u{C}\n\r\té😀\0z".unicodeScalars
        #expect(try #require(object).string("e").unicodeScalars.elementsEqual(scalars))
    }

    @Test("an absent member and one that is null are the same", arguments: [Name("n"), Name("absent")])
    func absence(named: Name) throws {
        let name = named.literal
        let object = try #require(object)
        #expect(!object.has(name))
        #expect(try object.stringIfPresent(name) == nil)
        #expect(try object.integerIfPresent(name) == nil)
        #expect(try object.doubleIfPresent(name) == nil)
        #expect(try object.booleanIfPresent(name) == nil)
        #expect(try object.objectIfPresent(name) == nil)
        #expect(try object.objectsIfPresent(name) == nil)
        #expect(try object.stringsIfPresent(name) == nil)
        #expect(try object.stringMapIfPresent(name) == nil)
        #expect(try object.integerMapIfPresent(name) == nil)
        #expect(try object.valueIfPresent(name, as: Color.self) == nil)
        #expect(try object.valuesIfPresent(name, as: Color.self) == nil)
        #expect(try object.decodedIfPresent(name, as: Point.self) == nil)
    }

    @Test(
        "a member that has to be there is an invalid parameter where it is not",
        arguments: [Name("n"), Name("absent")]
    )
    func requiresPresence(named: Name) throws {
        let name = named.literal
        let object = try #require(object)
        #expect(throws: InvalidParameter(name.description)) { try object.string(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.integer(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.double(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.boolean(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.object(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.objects(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.strings(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.stringMap(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.integerMap(name) }
        #expect(throws: InvalidParameter(name.description)) { try object.value(name, as: Color.self) }
        #expect(throws: InvalidParameter(name.description)) { try object.decoded(name, as: Point.self) }
    }

    @Test("a member of another type is an invalid parameter")
    func requiresTypes() throws {
        let object = try #require(object)
        let names: [StaticString] = ["s", "i", "d", "t", "o", "ss"]
        for name in names {
            if name.description != "s" {
                #expect(throws: InvalidParameter(name.description)) { try object.stringIfPresent(name) }
            }
            if name.description != "i" {
                #expect(throws: InvalidParameter(name.description)) { try object.integerIfPresent(name) }
            }
            if name.description != "i", name.description != "d" {
                #expect(throws: InvalidParameter(name.description)) { try object.doubleIfPresent(name) }
            }
            if name.description != "t" {
                #expect(throws: InvalidParameter(name.description)) { try object.booleanIfPresent(name) }
            }
            if name.description != "o" {
                #expect(throws: InvalidParameter(name.description)) { try object.objectIfPresent(name) }
            }
            if name.description != "ss" {
                #expect(throws: InvalidParameter(name.description)) { try object.stringsIfPresent(name) }
            }
        }
        let others: [StaticString] = ["s", "ss", "o"]
        for name in others {
            #expect(throws: InvalidParameter(name.description)) { try object.objectsIfPresent(name) }
            #expect(throws: InvalidParameter(name.description)) { try object.stringMapIfPresent(name) }
            #expect(throws: InvalidParameter(name.description)) { try object.integerMapIfPresent(name) }
        }
        #expect(throws: InvalidParameter("s")) { try object.valueIfPresent("s", as: Color.self) }
        #expect(throws: InvalidParameter("ss")) { try object.valuesIfPresent("ss", as: Color.self) }
        #expect(throws: InvalidParameter("os")) { try object.stringsIfPresent("os") }
    }

    @Test("of a name that stands twice the last member counts")
    func lastCounts() throws {
        let object = try JSONObject(#"{"a":1,"b":2,"a":3,"m":{"k":"1","k":"2"},"a":null,"b":4,"a":5}"#)
        #expect(try object.integer("a") == 5)
        #expect(try object.integer("b") == 4)
        #expect(try object.stringMap("m") == ["k": "2"])
        #expect(try JSONObject(#"{"a":1,"a":null}"#).integerIfPresent("a") == nil)
        #expect(try JSONObject(#"{"a":1,"\u0061":2}"#).integer("a") == 2)
    }

    @Test("a name that is written with escapes is the same name")
    func escapedNames() throws {
        let object = try JSONObject(#"{"\u006bey":1,"caf\u00e9":2}"#)
        #expect(try object.integer("key") == 1)
        #expect(try object.integer("café") == 2)
        #expect(throws: InvalidParameter("café")) { try object.allowOnly("key") }
    }

    @Test("a name is compared by its bytes")
    func comparesBytes() throws {
        let object = try JSONObject(#"{"abcdefghij":1,"abcdefghiJ":2,"abcdefgh":3,"xbcdefghij":4,"e\u0301":5}"#)
        #expect(try object.integer("abcdefghij") == 1)
        #expect(try object.integer("abcdefghiJ") == 2)
        #expect(try object.integer("abcdefgh") == 3)
        #expect(try object.integer("xbcdefghij") == 4)
        #expect(try object.integerIfPresent("abcdefghi") == nil)
        #expect(try object.integerIfPresent("é") == nil)
    }

    @Test("a member that is not allowed is an invalid parameter of its name")
    func allowsOnly() throws {
        let object = try JSONObject(#"{"a":{"inner":1},"b":[{"c":1}]}"#)
        try object.allowOnly("b", "a", "z")
        try object.allowOnly(["a", "b"])
        #expect(throws: InvalidParameter("b")) { try object.allowOnly("a") }
        #expect(throws: InvalidParameter("a")) { try object.allowOnly([]) }
        try JSONObject.empty.allowOnly()
    }

    @Test("the text of a member is told as it stands")
    func raw() throws {
        let object = try JSONObject(#"{"a": [1, "x"] ,"s":"\u0041","n":null}"#)
        #expect(object.raw("a").map { String(decoding: $0, as: UTF8.self) } == #"[1, "x"]"#)
        #expect(object.raw("s").map { String(decoding: $0, as: UTF8.self) } == #""\u0041""#)
        #expect(object.raw("n").map { String(decoding: $0, as: UTF8.self) } == "null")
        #expect(object.raw("absent") == nil)
    }

    @Test("the members after the first failing one of an array of objects do not matter")
    func decodesArrays() throws {
        let object = try JSONObject(#"{"ps":[{"x":1},{"x":2}],"bad":[{"x":1},{"y":2}]}"#)
        #expect(try object.decodedArray("ps", of: Point.self) == [Point(x: 1), Point(x: 2)])
        #expect(throws: InvalidParameter("x")) { try object.decodedArray("bad", of: Point.self) }
    }
}

/// A member's name, which readers take as a literal.
struct Name: Sendable, CustomTestStringConvertible {
    let literal: StaticString

    init(_ literal: StaticString) { self.literal = literal }

    var testDescription: String { literal.description }
}

private struct Point: JSONDecodable, Equatable {
    let x: Int64

    init(x: Int64) { self.x = x }

    init(decoding object: JSONObject) throws(InvalidParameter) { x = try object.integer("x") }
}
