import IPC
import TestSupport
import Testing
import Varlink
import VarlinkDefinition

@Suite("Every error follows the definition")
struct CountdownErrorTests {
    private let definition = Contract.definition

    private func parameters(_ name: CountdownError.WireName, _ extent: Definition.Extent) throws -> String {
        let type = try #require(definition.error(String(name.rawValue.dropFirst(definition.name.utf8.count + 1))))
        return definition.sample(of: type, extent)
    }

    private func error(_ name: CountdownError.WireName, _ parameters: String) throws -> CountdownError {
        try JSONReader.read(copying: Array(parameters.utf8)) { reader in
            _ = reader.beginText()
            return try CountdownError(name, from: &reader)
        }
    }

    @Test("the errors have the definition's names, in their order")
    func names() {
        #expect(
            CountdownError.WireName.allCases.map(\.rawValue)
                == definition.errors.map { "\(definition.name).\($0.name)" }
        )
    }

    @Test(
        "an error is encoded as it was decoded",
        arguments: CountdownError.WireName.allCases,
        Definition.Extent.allCases
    )
    func roundTrip(name: CountdownError.WireName, extent: Definition.Extent) throws {
        let text = try parameters(name, extent)
        let error = try error(name, text)
        #expect(error.name == name)
        #expect(error.errorName == name.rawValue)
        #expect(JSON.text { error.encodeParameters(into: &$0) } == text)
    }

    @Test(
        "an error without its parameters is refused, and the first one that is missing is named",
        arguments: CountdownError.WireName.allCases
    )
    func missing(name: CountdownError.WireName) throws {
        let type = try #require(definition.error(String(name.rawValue.dropFirst(definition.name.utf8.count + 1))))
        let first = try #require(definition.fields(type).first)
        #expect(throws: InvalidParameter(first.name)) { try error(name, "{}") }
    }
}
