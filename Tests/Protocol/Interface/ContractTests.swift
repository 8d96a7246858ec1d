import IPC
import TestSupport
import Testing
import Varlink
import VarlinkDefinition

@Suite("Every type follows the definition")
struct ContractTests {
    private let definition = Contract.definition

    @Test("the interface has the definition's name, and its methods in their order")
    func methods() {
        #expect(Interface.name == definition.name)
        #expect(Interface.methods.map { $0.name } == definition.methods.map(\.name))
        #expect(Interface.description.methods == definition.methods.map(\.name))
        #expect(Interface.methods.map { $0.fullName } == definition.methods.map { "\(definition.name).\($0.name)" })
    }

    @Test("every type of the definition has a Swift type")
    func types() {
        #expect(
            definition.types.map(\.name) == [
                "State", "Clock", "Countdown", "EventType", "Event", "Cooldown", "Room", "Durations", "ShardState",
                "Shard", "Fleet",
            ]
        )
    }

    @Test("enumerations have the definition's cases, in their order")
    func enumerations() {
        #expect(Countdown.State.allCases.map(\.rawValue) == definition.cases(.named("State")))
        #expect(Countdown.Clock.allCases.map(\.rawValue) == definition.cases(.named("Clock")))
        #expect(Event.Kind.allCases.map(\.rawValue) == definition.cases(.named("EventType")))
        #expect(GetStatus.ShardState.allCases.map(\.rawValue) == definition.cases(.named("ShardState")))
        let start = definition.method("Start")
        let ifRunning = start.flatMap { definition.fields($0.parameters).first { $0.name == "ifRunning" } }
        #expect(IfRunning.allCases.map(\.rawValue) == ifRunning.map { definition.cases($0.type) })
        let outcome = start.flatMap { definition.fields($0.reply).first { $0.name == "outcome" } }
        #expect(Countdown.Outcome.allCases.map(\.rawValue) == outcome.map { definition.cases($0.type) })
    }

    @Test(
        "a type stores the definition's fields, in their order, with the same optional ones",
        arguments: Contract.all
    )
    func properties(of contract: Contract) throws {
        let fields = definition.fields(contract.type).map {
            Contract.Property(name: $0.name, isOptional: $0.isOptional)
        }
        #expect(try contract.properties(definition.sample(of: contract.type, .full)) == fields)
    }

    @Test(
        "a value with every field, and one with only the required fields, is encoded as it was decoded",
        arguments: Contract.all,
        Definition.Extent.allCases
    )
    func roundTrip(of contract: Contract, extent: Definition.Extent) throws {
        let sample = definition.sample(of: contract.type, extent)
        #expect(try contract.encodedAgain(sample) == sample)
    }

    @Test("a countdown with the longest numbers is written", arguments: Countdown.State.allCases)
    func longFigures(state: Countdown.State) throws {
        let countdown = Countdown(
            key: "tea",
            state: state,
            clock: .elapsed,
            durationUSec: .min,
            remainingUSec: .min,
            startedUSec: .min,
            deadlineUSec: .min,
            endedUSec: .min,
            label: "Tea",
            metadata: ["a": "b"],
            forget: false,
            revision: .min
        )
        var writer = JSONWriter()
        writer.object { countdown.encode(into: &$0) }
        #expect(try Countdown(json: writer.bytes) == countdown)
    }

    @Test("an optional field may be null or absent", arguments: Contract.all)
    func nulls(in contract: Contract) throws {
        for field in definition.fields(contract.type) where field.isOptional {
            let sample = definition.sample(of: contract.type, .minimal)
            #expect(try contract.encodedAgain(sample.setting(field.name, "null")) == sample)
        }
    }

    @Test("a required field that is absent or null is named in the error", arguments: Contract.all)
    func missing(in contract: Contract) throws {
        for field in definition.fields(contract.type) where !field.isOptional {
            let others = definition.fields(contract.type).filter { $0.name != field.name }
            let sample = definition.sample(of: .structure(others), .full)
            #expect(throws: InvalidParameter(field.name)) { try contract.encodedAgain(sample) }
            #expect(throws: InvalidParameter(field.name)) {
                try contract.encodedAgain(sample.setting(field.name, "null"))
            }
        }
    }

    @Test("a field of the wrong type is named in the error", arguments: Contract.all)
    func illTyped(in contract: Contract) throws {
        for field in definition.fields(contract.type) {
            let others = definition.fields(contract.type).filter { $0.name != field.name }
            let sample = definition.sample(of: .structure(others), .full)
            for wrong in definition.wrongValues(for: field.type) {
                #expect(throws: InvalidParameter(field.name), "\(wrong)") {
                    try contract.encodedAgain(sample.setting(field.name, wrong))
                }
            }
        }
    }

    @Test(
        "a member that the definition lacks is refused in parameters and skipped in replies",
        arguments: Contract.all
    )
    func unknownMember(in contract: Contract) throws {
        let sample = definition.sample(of: contract.type, .full)
        let extended = sample.setting("later", "{\"a\":[1]}")
        if contract.isStrict {
            #expect(throws: InvalidParameter("later")) { try contract.encodedAgain(extended) }
        } else {
            #expect(try contract.encodedAgain(extended) == sample)
        }
    }
}

extension String {
    /// The JSON text of an object with one member more.
    fileprivate func setting(_ name: String, _ value: String) -> String {
        "\(dropLast())\(self == "{}" ? "" : ",")\"\(name)\":\(value)}"
    }
}

extension Definition {
    /// JSON texts that are no value of the type.
    fileprivate func wrongValues(for type: Shape) -> [String] {
        let values = [
            "true", "7", "7.5", "7e0", "9223372036854775808", "\"text\"", "[]", "[7]", "[null]", "{\"m\":[]}",
        ]
        let right: [String] =
            switch resolved(type) {
            case .bool: ["true"]
            case .int: ["7"]
            case .float: ["7", "7.5", "7e0", "9223372036854775808"]
            case .string: ["\"text\""]
            case .array: ["[]"]
            case .object, .structure: ["{\"m\":[]}"]
            default: []
            }
        return values.filter { !right.contains($0) }
    }
}
