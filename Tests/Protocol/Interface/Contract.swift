import IPC
import TestSupport
import Testing
import Varlink
import VarlinkDefinition

/// A Swift type and the structure of the definition that it must be: how it is decoded and encoded, and what it stores.
struct Contract: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: Definition.Shape
    /// Whether unknown members are refused.
    let isStrict: Bool
    /// Decodes JSON text and encodes the result.
    let encodedAgain: @Sendable (String) throws -> String
    /// The names of the stored properties of a value that is decoded from JSON text, and whether they are optional.
    let properties: @Sendable (String) throws -> [Property]

    struct Property: Equatable {
        var name: String
        var isOptional: Bool
    }

    init<T: Sendable & JSONEncodable & JSONDecodable>(
        _ swift: T.Type,
        is type: Definition.Shape,
        named name: String,
        strict: Bool
    ) {
        testDescription = name
        self.type = type
        isStrict = strict
        encodedAgain = { text in
            let value = try T(json: Array(text.utf8))
            return JSON.text { value.encode(into: &$0) }
        }
        properties = { text in
            Mirror(reflecting: try T(json: Array(text.utf8))).children.map { child in
                Property(
                    name: child.label ?? "",
                    isOptional: Mirror(reflecting: child.value).displayStyle == .optional
                )
            }
        }
    }
}

/// JSON texts of test values.
enum JSON {
    static func text(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        writer.object(body)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension Contract {
    static let definition: Definition = {
        do {
            return try Definition(parsing: Interface.definition)
        } catch {
            preconditionFailure("the definition does not parse: \(error)")
        }
    }()

    /// Every structure of the interface.
    static let all =
        Interface.methods.flatMap { contracts($0) } + [
            Contract(Countdown.self, is: .named("Countdown"), named: "Countdown", strict: false),
            Contract(Event.self, is: .named("Event"), named: "Event", strict: false),
            Contract(Cooldown.self, is: .named("Cooldown"), named: "Cooldown", strict: true),
            Contract(Cooldown.Room.self, is: .named("Room"), named: "Room", strict: false),
            Contract(GetStatus.Durations.self, is: .named("Durations"), named: "Durations", strict: false),
            Contract(GetStatus.Shard.self, is: .named("Shard"), named: "Shard", strict: false),
            Contract(GetStatus.Fleet.self, is: .named("Fleet"), named: "Fleet", strict: false),
        ]

    private static func contracts<M: Method>(_ method: M.Type) -> [Contract] {
        guard let defined = definition.method(M.name) else { return [] }
        return [
            Contract(M.self, is: defined.parameters, named: "parameters of \(M.name)", strict: true),
            Contract(M.Reply.self, is: defined.reply, named: "reply of \(M.name)", strict: false),
        ]
    }
}
