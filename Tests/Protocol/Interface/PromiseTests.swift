import Foundation
import TestSupport
import Testing
import VarlinkDefinition

/// The fixture is the interface of version 1. Until 1.0 is released it may be changed with the interface. After that, a test
/// that fails here names a promise of docs/protocol.md that is broken.
@Suite("Promises of version 1 of the interface")
struct PromiseTests {
    private let current = Contract.definition
    private let first: Definition

    init() throws {
        let path = BuiltProduct.packageDirectory.path + "/Tests/Protocol/version-1.varlink"
        first = try Definition(parsing: String(contentsOfFile: path, encoding: .utf8))
        try #require(!first.methods.isEmpty)
    }

    @Test("replies, errors and the objects in them keep their fields")
    func replies() {
        #expect(current.name == first.name)
        for method in first.methods { #expect(current.method(method.name)?.reply == method.reply, "\(method.name)") }
        for error in first.errors { #expect(current.error(error.name) == error.value, "\(error.name)") }
        for type in first.types where type.name != "EventType" {
            #expect(current.type(type.name) == type.value, "\(type.name)")
        }
    }

    @Test("event types stay, and new ones may be added")
    func events() {
        let types = first.cases(.named("EventType"))
        #expect(!types.isEmpty && current.cases(.named("EventType")).starts(with: types))
    }

    @Test("parameters stay, and new ones are optional")
    func parameters() throws {
        for method in first.methods {
            let parameters = current.fields(try #require(current.method(method.name)).parameters)
            let known = first.fields(method.parameters)
            for parameter in known { #expect(parameters.contains(parameter), "\(method.name), \(parameter.name)") }
            for parameter in parameters where !known.contains(parameter) {
                #expect(parameter.isOptional, "\(method.name), \(parameter.name)")
            }
        }
    }
}
