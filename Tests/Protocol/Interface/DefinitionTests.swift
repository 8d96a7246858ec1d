import TestSupport
import Testing
import VarlinkDefinition

@Suite("Definition reads interface definitions")
struct DefinitionTests {
    private static let text = """
        # A kitchen. (The comment's brackets mean nothing: type X.)
        interface org.example.kitchen
        type Heat (low, high)
        type Pot (name: string, # trailing
          heat: ?Heat, size: int)
        method Cook(pots: []Pot, names: ?[string]int) -> (done: bool, level: (none, all))
        method Stop() -> ()
        error Burnt (pot: Pot, degrees: float)
        """

    private let definition: Definition

    init() throws {
        definition = try Definition(parsing: Self.text)
    }

    private func check(_ json: String) -> [String] { definition.check(reply: Array(json.utf8), of: "Cook") }

    @Test("types, methods and errors are found with their fields")
    func parsed() {
        #expect(definition.name == "org.example.kitchen")
        #expect(definition.types.map(\.name) == ["Heat", "Pot"])
        #expect(definition.cases(.named("Heat")) == ["low", "high"])
        #expect(
            definition.fields(.named("Pot")) == [
                .init(name: "name", type: .string),
                .init(name: "heat", type: .nullable(.named("Heat"))),
                .init(name: "size", type: .int),
            ]
        )
        #expect(
            definition.method("Cook").map { definition.fields($0.parameters) } == [
                .init(name: "pots", type: .array(.named("Pot"))),
                .init(name: "names", type: .nullable(.map(.int))),
            ]
        )
        #expect(definition.method("Stop").map { definition.fields($0.parameters) } == [])
        #expect(definition.error("Burnt").map { definition.fields($0).map(\.type) } == [.named("Pot"), .float])
    }

    @Test(
        "a text that is not a definition is refused",
        arguments: [
            "", "interface", "interface a.b\nkind X (a: int)", "interface a.b\ntype X (a: int",
            "interface a.b\ntype X (a: int,)",
            "interface a.b\ntype X (a: int, b)", "interface a.b\nmethod X(a: int)",
            "interface a.b\ntype X (a: [int]int)",
        ]
    )
    func refused(text: String) {
        #expect(throws: DefinitionFault.self) { try Definition(parsing: text) }
    }

    @Test("what follows the definition passes, and every contradiction is named, also in nested values")
    func checks() {
        let right = #"{"pots":[{"name":"a","size":1},{"name":"b","heat":"low","size":2}],"names":{"x":1}}"#
        #expect(definition.check(parameters: Array(right.utf8), of: "Cook") == [])
        #expect(definition.check(reply: Array("{}".utf8), of: "Stop") == [])
        for (json, faults) in [
            (#"{"done":true,"level":"all"}"#, []), (#"{"level":"all"}"#, ["parameters.done: missing"]),
            (#"{"done":true,"level":"all","more":1}"#, ["parameters.more: not in the definition"]),
            (#"{"done":1,"level":"all"}"#, ["parameters.done: integer(1) is no bool"]),
            (#"{"done":true,"level":"some"}"#, ["parameters.level: some is none of none, all"]),
        ] { #expect(check(json) == faults) }
        // Null is not a value of an optional field.
        let error = #"{"pot":{"name":"a","heat":null,"size":1.0},"degrees":7}"#
        let faults = definition.check(error: Array(error.utf8), named: "org.example.kitchen.Burnt")
        #expect(faults.count == 2)
        #expect(faults.first?.hasPrefix("parameters.pot.heat: null is no") == true)
        #expect(faults.last == "parameters.pot.size: double(1.0) is no int")
        #expect(definition.check(reply: Array("{}".utf8), of: "Fry") == ["Fry: no such method"])
        #expect(definition.check(error: Array("{}".utf8), named: "Raw") == ["Raw: no such error"])
        #expect(check("[]").count == 1)
    }

    @Test("a sample has its type, and its integers are all different")
    func samples() throws {
        let cook = try #require(definition.method("Cook"))
        #expect(definition.sample(of: cook.parameters, .minimal).contains(#""pots":[{"name":"s1","size":"#))
        for extent in Definition.Extent.allCases {
            let sample = definition.sample(of: cook.parameters, extent)
            #expect(definition.check(parameters: Array(sample.utf8), of: "Cook") == [])
        }
    }
}
