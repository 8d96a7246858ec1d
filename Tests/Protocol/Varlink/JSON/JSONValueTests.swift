import Foundation
import JSONTree
import TestSupport
import Testing
import Varlink

@Suite("A JSON tree")
struct JSONValueTests {
    @Test("a tree has the values of the text")
    func reads() throws {
        let text = #"{"a":[1,2.5,"x",true,false,null,{"b":{}}],"c":1e2,"c":36893488147419103232}"#
        let expected: [String: JSONValue] = [
            "a": .array([
                .integer(1), .double(2.5), .string("x"), .boolean(true), .boolean(false), .null,
                .object(["b": .object([:])]),
            ]),
            "c": .double(36_893_488_147_419_103_232),
        ]
        let tree = try JSONValue(parsing: text)
        #expect(tree == .object(expected))
        #expect(tree["a"] == expected["a"])
        #expect(tree["absent"] == nil)
    }

    @Test("a tree is written in the order of its names and read as the same tree")
    func writes() throws {
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("v", JSONValue.object(["b": .array([.null, .integer(-1), .double(1)]), "a": .string("\n")]))
            writer.member(named: "w", JSONValue.boolean(true))
        }
        let text = #"{"v":{"a":"\n","b":[null,-1,1.0]},"w":true}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test(
        "Foundation reads what the writer wrote, and the reader what Foundation wrote",
        arguments: 0..<200 as Range<UInt64>
    )
    func agreesWithFoundation(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let tree = JSONValue.object(["root": .random(depth: 4, using: &random)])
        var writer = JSONWriter()
        writer.element(tree)
        let foundation = try #require(try JSONSerialization.jsonObject(with: Data(writer.bytes)) as? NSDictionary)
        #expect(foundation == tree.foundation as? NSDictionary)
        let theirs = try JSONSerialization.data(withJSONObject: foundation)
        #expect(try JSONValue(parsing: theirs) == tree)
    }
}

extension JSONValue {
    fileprivate static func random(depth: Int, using random: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .boolean(.random(using: &random))
        case 2: return .integer(.random(in: -(1 << 53)...1 << 53, using: &random))
        case 3: return .double(Double(Int.random(in: -999...999, using: &random)) + 0.5)
        case 4: return .string(randomString(using: &random))
        case 5:
            return .array(
                (0..<Int.random(in: 0...4, using: &random)).map { _ in .random(depth: depth - 1, using: &random) }
            )
        default:
            var members: [String: JSONValue] = [:]
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                members[randomString(using: &random)] = .random(depth: depth - 1, using: &random)
            }
            return .object(members)
        }
    }

    private static func randomString(using random: inout SeededGenerator) -> String {
        let alphabet: [Character] = ["a", "b", " ", "\"", "\\", "/", "\n", "\u{1}", "é", "€", "😀", "\u{7F}", "0"]
        return String(
            (0..<Int.random(in: 0...24, using: &random)).map { _ in alphabet.randomElement(using: &random) ?? "a" }
        )
    }

    fileprivate var foundation: Any {
        switch self {
        case .null: NSNull()
        case .boolean(let value): NSNumber(value: value)
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .string(let value): value
        case .array(let elements): elements.map(\.foundation)
        case .object(let members): members.mapValues(\.foundation)
        }
    }
}
