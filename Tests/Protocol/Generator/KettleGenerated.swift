// Made by varlink-generate from org.example.Kettle.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `org.example.Kettle`.
///
/// A kettle that everybody in the office may use.
public enum Kettle {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "org.example.Kettle"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [Kettle.Heat.self, Kettle.SwitchOff.self]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = """
        # A kettle that everybody in the office may use.
        interface org.example.Kettle

        # What the kettle does:
        #   off: nothing.
        #   heating: it heats the water.
        type State (off, heating)

        # The pot.
        #   degrees: the temperature that it heats the water to.
        #   note: what the last one wrote to the others.
        type Pot (state: State, degrees: int, note: ?string)

        # Heats the water.
        method Heat(degrees: int, note: ?string) -> (pot: Pot)

        # Switches the kettle off.
        method SwitchOff() -> (pot: Pot)

        # Water is never hotter than this.
        error TooHot (most: int)

        """
}

extension Kettle {
    /// What the kettle does.
    public enum State: WireEnumeration {
        /// Nothing.
        case off
        /// It heats the water.
        case heating

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .off: "off"
            case .heating: "heating"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "off": self = .off
            case "heating": self = .heating
            default: return nil
            }
        }
    }
}

extension Kettle {
    /// The pot.
    public struct Pot: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var state: Kettle.State
        /// The temperature that it heats the water to.
        public var degrees: Int64
        /// What the last one wrote to the others.
        public var note: String?

        /// The value with these members.
        public init(state: Kettle.State, degrees: Int64, note: String? = nil) {
            self.state = state
            self.degrees = degrees
            self.note = note
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("state", state)
            writer.member("degrees", degrees)
            writer.memberIfPresent("note", note)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var state = JSONMember<Kettle.State>("state")
            var degrees = JSONMember<Int64>("degrees")
            var note = JSONMember<String>("note")
            reader.knownMembers { state.read(&$0) || degrees.read(&$0) || note.read(&$0) }
            self.state = try state.required
            self.degrees = try degrees.required
            self.note = try note.optional
        }
    }
}

extension Kettle {
    /// Heats the water.
    public struct Heat: Method {
        /// The name of the interface.
        public static var interface: String { Kettle.name }
        /// The name within the interface.
        public static let name = "Heat"

        public var degrees: Int64
        public var note: String?

        /// The value with these members.
        public init(degrees: Int64, note: String? = nil) {
            self.degrees = degrees
            self.note = note
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("degrees", degrees)
            writer.memberIfPresent("note", note)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var degrees = JSONMember<Int64>("degrees")
            var note = JSONMember<String>("note")
            try reader.members { degrees.read(&$0) || note.read(&$0) }
            self.degrees = try degrees.required
            self.note = try note.optional
        }
    }
}

extension Kettle.Heat {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var pot: Kettle.Pot

        /// The value with these members.
        public init(pot: Kettle.Pot) {
            self.pot = pot
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("pot", pot)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var pot = JSONMember<Kettle.Pot>("pot")
            reader.knownMembers { pot.read(&$0) }
            self.pot = try pot.required
        }
    }
}

extension Kettle {
    /// Switches the kettle off.
    public struct SwitchOff: Method {
        /// The name of the interface.
        public static var interface: String { Kettle.name }
        /// The name within the interface.
        public static let name = "SwitchOff"

        /// The value.
        public init() {}

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {}

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            try reader.members { _ in false }
        }
    }
}

extension Kettle.SwitchOff {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var pot: Kettle.Pot

        /// The value with these members.
        public init(pot: Kettle.Pot) {
            self.pot = pot
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("pot", pot)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var pot = JSONMember<Kettle.Pot>("pot")
            reader.knownMembers { pot.read(&$0) }
            self.pot = try pot.required
        }
    }
}

extension Kettle {
    /// An error of the interface `org.example.Kettle`.
    public enum Failure: InterfaceError {
        /// Water is never hotter than this.
        case tooHot(most: Int64)

        /// The names of the errors on the wire, in the order of the definition.
        public enum WireName: String, Sendable, CaseIterable {
            case tooHot = "org.example.Kettle.TooHot"
        }

        /// The name of the error.
        public var name: WireName {
            switch self {
            case .tooHot: .tooHot
            }
        }

        /// Writes the parameters of the error; those that are nil are left out.
        public func encodeParameters(into writer: inout JSONWriter) {
            switch self {
            case .tooHot(let most):
                writer.member("most", most)
            }
        }

        /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
            switch name {
            case .tooHot: self = .tooHot(most: try reader.member("most"))
            }
            reader.skipMembers()
        }
    }
}
