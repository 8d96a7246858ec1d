import FleetWire
import Foundation
import IPC
import TestSupport
import Testing
import Varlink
import VarlinkDefinition

@testable import varlink_generate

@Suite("varlink-generate")
struct GeneratorTests {
    private static func text(of path: String) throws -> String {
        try String(contentsOfFile: BuiltProduct.packageDirectory.path + "/" + path, encoding: .utf8)
    }

    // MARK: The committed files

    struct Source: Sendable, CustomTestStringConvertible {
        let swift: String
        let definition: String
        var options: String?
        var testDescription: String { swift }
    }

    private static let folder = "Tests/Protocol/Generator"
    private static let sources =
        [
            Source(
                swift: "Sources/IPC/InterfaceGenerated.swift",
                definition: "Sources/IPC/io.countdownd.varlink",
                options: "Sources/IPC/io.countdownd.options"
            ),
            Source(
                swift: "Sources/FleetWire/BackendGenerated.swift",
                definition: "Sources/FleetWire/io.countdownd.Backend.varlink",
                options: "Sources/FleetWire/io.countdownd.Backend.options"
            ),
        ]
        + [
            "org.example.Kettle", "org.example.Words", "org.varlink.service", "org.varlink.certification",
            "io.systemd.UserDatabase",
        ].map { name in
            let last = name.split(separator: ".").last.map(String.init) ?? ""
            let file = last.prefix(1).uppercased() + last.dropFirst()
            return Source(
                swift: "\(folder)/\(file)Generated.swift",
                definition: "\(folder)/Definitions/\(name).varlink"
            )
        }

    @Test("the committed files are as scripts/generate makes them", arguments: sources)
    func areCurrent(source: Source) throws {
        let fresh = try SwiftFile.source(
            of: Self.text(of: source.definition),
            source.definition,
            options: source.options.map(Self.text) ?? "",
            source.options ?? ""
        )
        // Not compared by #expect, which would print both whole.
        let isCurrent = try fresh == Self.text(of: source.swift)
        #expect(isCurrent, "run scripts/generate")
    }

    @Test("the definitions of the tests are those that services answer")
    func definitions() throws {
        for interface in CertificationInterface.service.interfaces {
            let text = try Self.text(of: "\(Self.folder)/Definitions/\(interface.name).varlink")
            #expect(text == interface.definition)
        }
    }

    // MARK: Generated types

    /// Decodes and encodes a sample of each structure again.
    private func check<M: Method>(_ method: M.Type, _ definition: Definition) throws {
        let defined = try #require(definition.method(M.name))
        for extent in Definition.Extent.allCases {
            let parameters = definition.sample(of: defined.parameters, extent)
            let value = try M(json: Array(parameters.utf8))
            #expect(JSON.text { value.encode(into: &$0) } == parameters, "\(M.fullName)")
            let reply = definition.sample(of: defined.reply, extent)
            let result = try M.Reply(json: Array(reply.utf8))
            #expect(JSON.text { result.encode(into: &$0) } == reply, "\(M.fullName)")
        }
        #expect(throws: InvalidParameter("later")) { try M(json: Array(#"{"later":1}"#.utf8)) }
    }

    private func check<Failure: InterfaceError>(_ name: Failure.WireName, _ definition: Definition) throws -> Failure {
        let short = String(name.rawValue.dropFirst(definition.name.count + 1))
        let sample = definition.sample(of: try #require(definition.error(short)), .full)
        let error = try JSONReader.read(copying: sample.utf8) { reader in
            _ = reader.beginText()
            return try Failure(name, from: &reader)
        }
        #expect(JSON.text { error.encodeParameters(into: &$0) } == sample, "\(name)")
        #expect(error.name == name && error.errorName == name.rawValue)
        return error
    }

    @Test(
        "every method of other interfaces is decoded and encoded",
        arguments: [Certification.description, Service.description, UserDatabase.description, Words.description]
    )
    func methods(of interface: InterfaceDescription) throws {
        let definition = try Definition(parsing: interface.definition)
        let all = Certification.methods + Service.methods + UserDatabase.methods + Words.methods
        let methods = all.filter { $0.interface == interface.name }
        #expect(
            methods.map { $0.name } == definition.methods.map(\.name) && interface.methods == methods.map { $0.name }
        )
        for method in methods { try check(method, definition) }
    }

    @Test("every error of other interfaces is decoded and encoded")
    func errors() throws {
        let certification = try Definition(parsing: Certification.definition)
        for name in Certification.Failure.WireName.allCases {
            _ = try check(name, certification) as Certification.Failure
        }
        let words = try Definition(parsing: Words.definition)
        for name in Words.Failure.WireName.allCases { _ = try check(name, words) as Words.Failure }
    }

    @Test("Swift's words are members and words of enumerations, and lists have nulls and maps")
    func words() throws {
        #expect(Words.Word.allCases.map(\.rawValue).contains("init"))
        for word in Words.Word.allCases { #expect(Words.Word(rawValue: word.rawValue) == word) }
        #expect(Words.Word(rawValue: "unknown") == nil)
        let lists = try JSONReader.read(copying: Array(#"[[null,{"m":{"name":"a","more":[[null,1.5]]}}],[7]]"#.utf8)) {
            reader in
            _ = reader.beginArrayText()
            _ = reader.nextElement()
            let first = try [TextMap<Words.MethodValue.Lists>?].read(from: &reader)
            _ = reader.nextElement()
            return (first, try [TextMap<Words.MethodValue.Lists>?].read(from: &reader))
        }
        #expect(lists.0 == [nil, ["m": Words.MethodValue.Lists(name: "a", more: [[nil, 1.5]])]])
        #expect(lists.1 == nil)
    }

    @Test("an object and a value of any kind keep their text without whitespace, and an object is nothing else")
    func texts() throws {
        let json = #"{"anything":[ 1.50, "a \" b" ],"object":{ "b" : 1 , "a" : null }}"#
        let reply = try Words.MethodValue.ReplyValue(json: Array(json.utf8))
        #expect(String(decoding: reply.anything.utf8, as: UTF8.self) == #"[1.50,"a \" b"]"#)
        #expect(String(decoding: reply.object.utf8, as: UTF8.self) == #"{"b":1,"a":null}"#)
        #expect(JSONObject(Words.StringValue(string: "a")).utf8 == Array(#"{"string":"a"}"#.utf8))
        #expect(throws: InvalidParameter("object")) {
            try Words.MethodValue.ReplyValue(json: Array(#"{"anything":1,"object":[]}"#.utf8))
        }
    }

    // MARK: Faults

    @Test(
        "a fault of a definition is an error with its line and column",
        arguments: [
            ("", "1:1: unexpected end; expected 'interface'"),
            ("interface kettle", "1:11: unexpected 'kettle'; expected the name of the interface"),
            ("interface a.b\nkind X ()", "2:1: unexpected 'kind'; expected type, method or error"),
            ("interface a.b\ntype x ()", "2:6: unexpected 'x'; expected a name that begins with a capital letter"),
            ("interface a.b\ntype X (a: int", "2:15: unexpected end; expected ')'"),
            ("interface a.b\ntype X (a: int,)", "2:16: unexpected ')'; expected the name of a member"),
            ("interface a.b\ntype X (a: int, b)", "2:18: unexpected ')'; expected ':' and a type"),
            (
                "interface a.b\ntype X (a, b: int)",
                "2:13: unexpected ':'; expected a member without a type, like those before"
            ),
            ("interface a.b\ntype X (a: ??int)", "2:13: unexpected '?'; expected a type that is not optional again"),
            ("interface a.b\ntype X (a: []Y)", "2:14: there is no type Y"),
            ("interface a.b\ntype X (a: int,\n  a: int)", "3:3: a is defined twice"),
            ("interface a.b\ntype X ()\nerror X ()", "3:7: X is defined twice"),
            ("interface a.b\nmethod X(a) -> ()", "2:9: unexpected '('; expected a structure, not an enumeration"),
            ("interface a.b\nmethod X() -> (a: Int)", "2:19: there is no type Int"),
            ("interface a.b\ntype X (a__b: int)", "2:9: unexpected 'a__b'; expected the name of a member"),
            ("interface a.b\ntype X (ä: int)", "2:9: unexpected 'ä'"),
            ("interface a.b\ntype X (a: [int]int)", "2:13: unexpected 'int'; expected ']'"),
        ]
    )
    func faults(definition: String, fault: String) {
        let failure = #expect(throws: GeneratorFailure.self) { try SwiftFile.source(of: definition, "a.varlink") }
        #expect(failure?.description == "a.varlink:\(fault)")
    }

    @Test(
        "names that meet in Swift, and structures without an end, are an error with their line and column",
        arguments: [
            (
                "interface a.b\ntype X (a_b: int,\n  aB: int)",
                "3:3: X.aB and X.a_b are both aB in Swift: give one of them another name with an option"
            ),
            (
                "interface a.b\ntype X (a_b, aB)",
                "2:14: X.aB and X.a_b are both aB in Swift: give one of them another name with an option"
            ),
            (
                "interface a.b\nmethod X(a_b: (c: int), aB: (d: int)) -> ()",
                "2:25: X.aB and X.a_b are both B.X.AB in Swift: give one of them another name with an option"
            ),
            (
                "interface a.b\nerror FooBar ()\nerror Foo ()\nerror FOO ()",
                "4:7: FOO and Foo are both foo in Swift: give one of them another name with an option"
            ),
            (
                "interface a.b\ntype X (y: ?Y)\ntype Y (x: (x: X))",
                "2:6: X has itself as a member, which a Swift structure cannot: make a list of it"
            ),
        ]
    )
    func meetings(definition: String, fault: String) {
        let failure = #expect(throws: GeneratorFailure.self) { try SwiftFile.source(of: definition, "a.varlink") }
        #expect(failure?.description == "a.varlink:\(fault)")
    }

    @Test(
        "a fault of the options is an error with its line and column",
        arguments: [
            ("flat\npretty X", "2:1: unknown option 'pretty'"), ("access", "1:1: the option 'access' has no value"),
            ("check X Y", "1:9: the definition has no 'Y'"), ("name X", "1:1: 'name X' has no value"),
            ("instant Foo X.c", "1:13: the definition has no 'X.c'"),
        ]
    )
    func optionFaults(options: String, fault: String) {
        let failure = #expect(throws: GeneratorFailure.self) {
            try SwiftFile.source(of: "interface a.b\ntype X (a: int)", "a.varlink", options: options, "a.options")
        }
        #expect(failure?.description == "a.options:\(fault)")
    }

    @Test(
        "an option that a member cannot have is an error with the place of the member",
        arguments: [
            ("duration X.a", "2:9: X.a is not an integer whose name ends in USec"),
            (
                "duration X.bUSec",
                "2:33: X.bUSec and X.b are both b in Swift: give one of them another name with an option"
            ),
            (
                "instant Date E.aUSec",
                "3:10: E.aUSec is a member of an error, which can be a duration, but not an instant"
            ), ("closure X.a", "2:9: X.a has an option for structures that are always present"),
            ("extensible X.b", "2:17: X.b has an option for enumerations that are always present"),
        ]
    )
    func misplacedOptions(options: String, fault: String) {
        let text = "interface a.b\ntype X (a: int, b: ?(one, two), bUSec: int)\nerror E (aUSec: int)"
        let failure = #expect(throws: GeneratorFailure.self) {
            try SwiftFile.source(of: text, "a.varlink", options: options, "a.options")
        }
        #expect(failure?.description == "a.varlink:\(fault)")
    }
}
