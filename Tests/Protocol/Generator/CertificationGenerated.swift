// Made by varlink-generate from org.varlink.certification.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `org.varlink.certification`.
///
/// A client calls Start, Test01 to Test11 and End in this order, with what the call before has answered. Both sides
/// check all that they are told.
public enum Certification {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "org.varlink.certification"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [
        Certification.Start.self,
        Certification.Test01.self,
        Certification.Test02.self,
        Certification.Test03.self,
        Certification.Test04.self,
        Certification.Test05.self,
        Certification.Test06.self,
        Certification.Test07.self,
        Certification.Test08.self,
        Certification.Test09.self,
        Certification.Test10.self,
        Certification.Test11.self,
        Certification.End.self,
    ]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = """
        # A client calls Start, Test01 to Test11 and End in this order, with what the call before has answered. Both
        # sides check all that they are told.
        interface org.varlink.certification

        type Interface (
          foo: ?[]?[string](foo, bar, baz),
          anon: (foo: bool, bar: bool)
        )

        type MyType (
          object: object,
          enum: (one, two, three),
          struct: (first: int, second: string),
          array: []string,
          dictionary: [string]string,
          stringset: [string](),
          nullable: ?string,
          nullable_array_struct: ?[](first: int, second: string),
          interface: Interface
        )

        method Start() -> (client_id: string)
        method Test01(client_id: string) -> (bool: bool)
        method Test02(client_id: string, bool: bool) -> (int: int)
        method Test03(client_id: string, int: int) -> (float: float)
        method Test04(client_id: string, float: float) -> (string: string)
        method Test05(client_id: string, string: string) -> (bool: bool, int: int, float: float, string: string)
        method Test06(client_id: string, bool: bool, int: int, float: float, string: string)
          -> (struct: (bool: bool, int: int, float: float, string: string))
        method Test07(client_id: string, struct: (bool: bool, int: int, float: float, string: string))
          -> (map: [string]string)
        method Test08(client_id: string, map: [string]string) -> (set: [string]())
        method Test09(client_id: string, set: [string]()) -> (mytype: MyType)

        # Called with more, it answers ten times.
        method Test10(client_id: string, mytype: MyType) -> (string: string)

        # Called with oneway.
        method Test11(client_id: string, last_more_replies: []string) -> ()

        method End(client_id: string) -> (all_ok: bool)

        # No certification under this name is in progress.
        error ClientIdError ()

        # A call is not the one that the course has at this place.
        error CertificationError (wants: object, got: object)

        """
}

extension Certification {
    public struct Interface: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var foo: [TextMap<Certification.Interface.Foo>?]?
        public var anon: Certification.Interface.Anon

        /// The value with these members.
        public init(foo: [TextMap<Certification.Interface.Foo>?]? = nil, anon: Certification.Interface.Anon) {
            self.foo = foo
            self.anon = anon
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.memberIfPresent("foo", foo)
            writer.member("anon", anon)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var foo = JSONMember<[TextMap<Certification.Interface.Foo>?]>("foo")
            var anon = JSONMember<Certification.Interface.Anon>("anon")
            reader.knownMembers { foo.read(&$0) || anon.read(&$0) }
            self.foo = try foo.optional
            self.anon = try anon.required
        }
    }
}

extension Certification.Interface {
    public enum Foo: WireEnumeration {
        case foo
        case bar
        case baz

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .foo: "foo"
            case .bar: "bar"
            case .baz: "baz"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "foo": self = .foo
            case "bar": self = .bar
            case "baz": self = .baz
            default: return nil
            }
        }
    }
}

extension Certification.Interface {
    public struct Anon: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var foo: Bool
        public var bar: Bool

        /// The value with these members.
        public init(foo: Bool, bar: Bool) {
            self.foo = foo
            self.bar = bar
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("foo", foo)
            writer.member("bar", bar)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var foo = JSONMember<Bool>("foo")
            var bar = JSONMember<Bool>("bar")
            reader.knownMembers { foo.read(&$0) || bar.read(&$0) }
            self.foo = try foo.required
            self.bar = try bar.required
        }
    }
}

extension Certification {
    public struct MyType: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var object: JSONObject
        public var `enum`: Certification.MyType.Enum
        public var `struct`: Certification.MyType.Struct
        public var array: [String]
        public var dictionary: TextMap<String>
        public var stringset: TextMap<Certification.MyType.Stringset>
        public var nullable: String?
        public var nullableArrayStruct: [Certification.MyType.NullableArrayStruct]?
        public var interface: Certification.Interface

        /// The value with these members.
        public init(
            object: JSONObject,
            enum: Certification.MyType.Enum,
            struct: Certification.MyType.Struct,
            array: [String],
            dictionary: TextMap<String>,
            stringset: TextMap<Certification.MyType.Stringset>,
            nullable: String? = nil,
            nullableArrayStruct: [Certification.MyType.NullableArrayStruct]? = nil,
            interface: Certification.Interface
        ) {
            self.object = object
            self.enum = `enum`
            self.struct = `struct`
            self.array = array
            self.dictionary = dictionary
            self.stringset = stringset
            self.nullable = nullable
            self.nullableArrayStruct = nullableArrayStruct
            self.interface = interface
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("object", object)
            writer.member("enum", `enum`)
            writer.member("struct", `struct`)
            writer.member("array", array)
            writer.member("dictionary", dictionary)
            writer.member("stringset", stringset)
            writer.memberIfPresent("nullable", nullable)
            writer.memberIfPresent("nullable_array_struct", nullableArrayStruct)
            writer.member("interface", interface)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var object = JSONMember<JSONObject>("object")
            var `enum` = JSONMember<Certification.MyType.Enum>("enum")
            var `struct` = JSONMember<Certification.MyType.Struct>("struct")
            var array = JSONMember<[String]>("array")
            var dictionary = JSONMember<TextMap<String>>("dictionary")
            var stringset = JSONMember<TextMap<Certification.MyType.Stringset>>("stringset")
            var nullable = JSONMember<String>("nullable")
            var nullableArrayStruct = JSONMember<[Certification.MyType.NullableArrayStruct]>("nullable_array_struct")
            var interface = JSONMember<Certification.Interface>("interface")
            reader.knownMembers {
                object.read(&$0) || `enum`.read(&$0) || `struct`.read(&$0) || array.read(&$0) || dictionary.read(&$0)
                    || stringset.read(&$0) || nullable.read(&$0) || nullableArrayStruct.read(&$0) || interface.read(&$0)
            }
            self.object = try object.required
            self.enum = try `enum`.required
            self.struct = try `struct`.required
            self.array = try array.required
            self.dictionary = try dictionary.required
            self.stringset = try stringset.required
            self.nullable = try nullable.optional
            self.nullableArrayStruct = try nullableArrayStruct.optional
            self.interface = try interface.required
        }
    }
}

extension Certification.MyType {
    public enum Enum: WireEnumeration {
        case one
        case two
        case three

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .one: "one"
            case .two: "two"
            case .three: "three"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "one": self = .one
            case "two": self = .two
            case "three": self = .three
            default: return nil
            }
        }
    }
}

extension Certification.MyType {
    public struct Struct: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var first: Int64
        public var second: String

        /// The value with these members.
        public init(first: Int64, second: String) {
            self.first = first
            self.second = second
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("first", first)
            writer.member("second", second)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var first = JSONMember<Int64>("first")
            var second = JSONMember<String>("second")
            reader.knownMembers { first.read(&$0) || second.read(&$0) }
            self.first = try first.required
            self.second = try second.required
        }
    }
}

extension Certification.MyType {
    public struct Stringset: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The value.
        public init() {}

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {}

        /// Skips all members.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            reader.skipMembers()
        }
    }
}

extension Certification.MyType {
    public struct NullableArrayStruct: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var first: Int64
        public var second: String

        /// The value with these members.
        public init(first: Int64, second: String) {
            self.first = first
            self.second = second
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("first", first)
            writer.member("second", second)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var first = JSONMember<Int64>("first")
            var second = JSONMember<String>("second")
            reader.knownMembers { first.read(&$0) || second.read(&$0) }
            self.first = try first.required
            self.second = try second.required
        }
    }
}

extension Certification {
    public struct Start: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Start"

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

extension Certification.Start {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var clientId: String

        /// The value with these members.
        public init(clientId: String) {
            self.clientId = clientId
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            reader.knownMembers { clientId.read(&$0) }
            self.clientId = try clientId.required
        }
    }
}

extension Certification {
    public struct Test01: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test01"

        public var clientId: String

        /// The value with these members.
        public init(clientId: String) {
            self.clientId = clientId
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            try reader.members { clientId.read(&$0) }
            self.clientId = try clientId.required
        }
    }
}

extension Certification.Test01 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var bool: Bool

        /// The value with these members.
        public init(bool: Bool) {
            self.bool = bool
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("bool", bool)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var bool = JSONMember<Bool>("bool")
            reader.knownMembers { bool.read(&$0) }
            self.bool = try bool.required
        }
    }
}

extension Certification {
    public struct Test02: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test02"

        public var clientId: String
        public var bool: Bool

        /// The value with these members.
        public init(clientId: String, bool: Bool) {
            self.clientId = clientId
            self.bool = bool
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("bool", bool)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var bool = JSONMember<Bool>("bool")
            try reader.members { clientId.read(&$0) || bool.read(&$0) }
            self.clientId = try clientId.required
            self.bool = try bool.required
        }
    }
}

extension Certification.Test02 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var int: Int64

        /// The value with these members.
        public init(int: Int64) {
            self.int = int
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("int", int)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var int = JSONMember<Int64>("int")
            reader.knownMembers { int.read(&$0) }
            self.int = try int.required
        }
    }
}

extension Certification {
    public struct Test03: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test03"

        public var clientId: String
        public var int: Int64

        /// The value with these members.
        public init(clientId: String, int: Int64) {
            self.clientId = clientId
            self.int = int
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("int", int)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var int = JSONMember<Int64>("int")
            try reader.members { clientId.read(&$0) || int.read(&$0) }
            self.clientId = try clientId.required
            self.int = try int.required
        }
    }
}

extension Certification.Test03 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var float: Double

        /// The value with these members.
        public init(float: Double) {
            self.float = float
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("float", float)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var float = JSONMember<Double>("float")
            reader.knownMembers { float.read(&$0) }
            self.float = try float.required
        }
    }
}

extension Certification {
    public struct Test04: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test04"

        public var clientId: String
        public var float: Double

        /// The value with these members.
        public init(clientId: String, float: Double) {
            self.clientId = clientId
            self.float = float
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("float", float)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var float = JSONMember<Double>("float")
            try reader.members { clientId.read(&$0) || float.read(&$0) }
            self.clientId = try clientId.required
            self.float = try float.required
        }
    }
}

extension Certification.Test04 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var string: String

        /// The value with these members.
        public init(string: String) {
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("string", string)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var string = JSONMember<String>("string")
            reader.knownMembers { string.read(&$0) }
            self.string = try string.required
        }
    }
}

extension Certification {
    public struct Test05: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test05"

        public var clientId: String
        public var string: String

        /// The value with these members.
        public init(clientId: String, string: String) {
            self.clientId = clientId
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("string", string)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var string = JSONMember<String>("string")
            try reader.members { clientId.read(&$0) || string.read(&$0) }
            self.clientId = try clientId.required
            self.string = try string.required
        }
    }
}

extension Certification.Test05 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var bool: Bool
        public var int: Int64
        public var float: Double
        public var string: String

        /// The value with these members.
        public init(bool: Bool, int: Int64, float: Double, string: String) {
            self.bool = bool
            self.int = int
            self.float = float
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("bool", bool)
            writer.member("int", int)
            writer.member("float", float)
            writer.member("string", string)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var bool = JSONMember<Bool>("bool")
            var int = JSONMember<Int64>("int")
            var float = JSONMember<Double>("float")
            var string = JSONMember<String>("string")
            reader.knownMembers { bool.read(&$0) || int.read(&$0) || float.read(&$0) || string.read(&$0) }
            self.bool = try bool.required
            self.int = try int.required
            self.float = try float.required
            self.string = try string.required
        }
    }
}

extension Certification {
    public struct Test06: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test06"

        public var clientId: String
        public var bool: Bool
        public var int: Int64
        public var float: Double
        public var string: String

        /// The value with these members.
        public init(clientId: String, bool: Bool, int: Int64, float: Double, string: String) {
            self.clientId = clientId
            self.bool = bool
            self.int = int
            self.float = float
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("bool", bool)
            writer.member("int", int)
            writer.member("float", float)
            writer.member("string", string)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var bool = JSONMember<Bool>("bool")
            var int = JSONMember<Int64>("int")
            var float = JSONMember<Double>("float")
            var string = JSONMember<String>("string")
            try reader.members {
                clientId.read(&$0) || bool.read(&$0) || int.read(&$0) || float.read(&$0) || string.read(&$0)
            }
            self.clientId = try clientId.required
            self.bool = try bool.required
            self.int = try int.required
            self.float = try float.required
            self.string = try string.required
        }
    }
}

extension Certification.Test06 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var `struct`: Certification.Test06.Reply.Struct

        /// The value with these members.
        public init(struct: Certification.Test06.Reply.Struct) {
            self.struct = `struct`
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("struct", `struct`)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var `struct` = JSONMember<Certification.Test06.Reply.Struct>("struct")
            reader.knownMembers { `struct`.read(&$0) }
            self.struct = try `struct`.required
        }
    }
}

extension Certification.Test06.Reply {
    public struct Struct: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var bool: Bool
        public var int: Int64
        public var float: Double
        public var string: String

        /// The value with these members.
        public init(bool: Bool, int: Int64, float: Double, string: String) {
            self.bool = bool
            self.int = int
            self.float = float
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("bool", bool)
            writer.member("int", int)
            writer.member("float", float)
            writer.member("string", string)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var bool = JSONMember<Bool>("bool")
            var int = JSONMember<Int64>("int")
            var float = JSONMember<Double>("float")
            var string = JSONMember<String>("string")
            reader.knownMembers { bool.read(&$0) || int.read(&$0) || float.read(&$0) || string.read(&$0) }
            self.bool = try bool.required
            self.int = try int.required
            self.float = try float.required
            self.string = try string.required
        }
    }
}

extension Certification {
    public struct Test07: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test07"

        public var clientId: String
        public var `struct`: Certification.Test07.Struct

        /// The value with these members.
        public init(clientId: String, struct: Certification.Test07.Struct) {
            self.clientId = clientId
            self.struct = `struct`
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("struct", `struct`)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var `struct` = JSONMember<Certification.Test07.Struct>("struct")
            try reader.members { clientId.read(&$0) || `struct`.read(&$0) }
            self.clientId = try clientId.required
            self.struct = try `struct`.required
        }
    }
}

extension Certification.Test07 {
    public struct Struct: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var bool: Bool
        public var int: Int64
        public var float: Double
        public var string: String

        /// The value with these members.
        public init(bool: Bool, int: Int64, float: Double, string: String) {
            self.bool = bool
            self.int = int
            self.float = float
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("bool", bool)
            writer.member("int", int)
            writer.member("float", float)
            writer.member("string", string)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var bool = JSONMember<Bool>("bool")
            var int = JSONMember<Int64>("int")
            var float = JSONMember<Double>("float")
            var string = JSONMember<String>("string")
            try reader.members { bool.read(&$0) || int.read(&$0) || float.read(&$0) || string.read(&$0) }
            self.bool = try bool.required
            self.int = try int.required
            self.float = try float.required
            self.string = try string.required
        }
    }
}

extension Certification.Test07 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var map: TextMap<String>

        /// The value with these members.
        public init(map: TextMap<String>) {
            self.map = map
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("map", map)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var map = JSONMember<TextMap<String>>("map")
            reader.knownMembers { map.read(&$0) }
            self.map = try map.required
        }
    }
}

extension Certification {
    public struct Test08: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test08"

        public var clientId: String
        public var map: TextMap<String>

        /// The value with these members.
        public init(clientId: String, map: TextMap<String>) {
            self.clientId = clientId
            self.map = map
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("map", map)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var map = JSONMember<TextMap<String>>("map")
            try reader.members { clientId.read(&$0) || map.read(&$0) }
            self.clientId = try clientId.required
            self.map = try map.required
        }
    }
}

extension Certification.Test08 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var set: TextMap<Certification.Test08.Reply.Set>

        /// The value with these members.
        public init(set: TextMap<Certification.Test08.Reply.Set>) {
            self.set = set
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("set", set)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var set = JSONMember<TextMap<Certification.Test08.Reply.Set>>("set")
            reader.knownMembers { set.read(&$0) }
            self.set = try set.required
        }
    }
}

extension Certification.Test08.Reply {
    public struct Set: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The value.
        public init() {}

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {}

        /// Skips all members.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            reader.skipMembers()
        }
    }
}

extension Certification {
    public struct Test09: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test09"

        public var clientId: String
        public var set: TextMap<Certification.Test09.Set>

        /// The value with these members.
        public init(clientId: String, set: TextMap<Certification.Test09.Set>) {
            self.clientId = clientId
            self.set = set
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("set", set)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var set = JSONMember<TextMap<Certification.Test09.Set>>("set")
            try reader.members { clientId.read(&$0) || set.read(&$0) }
            self.clientId = try clientId.required
            self.set = try set.required
        }
    }
}

extension Certification.Test09 {
    public struct Set: Sendable, Hashable, JSONEncodable, JSONDecodable {
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

extension Certification.Test09 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var mytype: Certification.MyType

        /// The value with these members.
        public init(mytype: Certification.MyType) {
            self.mytype = mytype
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("mytype", mytype)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var mytype = JSONMember<Certification.MyType>("mytype")
            reader.knownMembers { mytype.read(&$0) }
            self.mytype = try mytype.required
        }
    }
}

extension Certification {
    /// Called with more, it answers ten times.
    public struct Test10: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test10"

        public var clientId: String
        public var mytype: Certification.MyType

        /// The value with these members.
        public init(clientId: String, mytype: Certification.MyType) {
            self.clientId = clientId
            self.mytype = mytype
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("mytype", mytype)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var mytype = JSONMember<Certification.MyType>("mytype")
            try reader.members { clientId.read(&$0) || mytype.read(&$0) }
            self.clientId = try clientId.required
            self.mytype = try mytype.required
        }
    }
}

extension Certification.Test10 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var string: String

        /// The value with these members.
        public init(string: String) {
            self.string = string
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("string", string)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var string = JSONMember<String>("string")
            reader.knownMembers { string.read(&$0) }
            self.string = try string.required
        }
    }
}

extension Certification {
    /// Called with oneway.
    public struct Test11: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "Test11"

        public var clientId: String
        public var lastMoreReplies: [String]

        /// The value with these members.
        public init(clientId: String, lastMoreReplies: [String]) {
            self.clientId = clientId
            self.lastMoreReplies = lastMoreReplies
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
            writer.member("last_more_replies", lastMoreReplies)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            var lastMoreReplies = JSONMember<[String]>("last_more_replies")
            try reader.members { clientId.read(&$0) || lastMoreReplies.read(&$0) }
            self.clientId = try clientId.required
            self.lastMoreReplies = try lastMoreReplies.required
        }
    }
}

extension Certification.Test11 {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        /// The value.
        public init() {}

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {}

        /// Skips all members.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            reader.skipMembers()
        }
    }
}

extension Certification {
    public struct End: Method {
        /// The name of the interface.
        public static var interface: String { Certification.name }
        /// The name within the interface.
        public static let name = "End"

        public var clientId: String

        /// The value with these members.
        public init(clientId: String) {
            self.clientId = clientId
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("client_id", clientId)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var clientId = JSONMember<String>("client_id")
            try reader.members { clientId.read(&$0) }
            self.clientId = try clientId.required
        }
    }
}

extension Certification.End {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var allOk: Bool

        /// The value with these members.
        public init(allOk: Bool) {
            self.allOk = allOk
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("all_ok", allOk)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var allOk = JSONMember<Bool>("all_ok")
            reader.knownMembers { allOk.read(&$0) }
            self.allOk = try allOk.required
        }
    }
}

extension Certification {
    /// An error of the interface `org.varlink.certification`.
    public enum Failure: InterfaceError {
        /// No certification under this name is in progress.
        case clientIdError
        /// A call is not the one that the course has at this place.
        case certificationError(wants: JSONObject, got: JSONObject)

        /// The names of the errors on the wire, in the order of the definition.
        public enum WireName: String, Sendable, CaseIterable {
            case clientIdError = "org.varlink.certification.ClientIdError"
            case certificationError = "org.varlink.certification.CertificationError"
        }

        /// The name of the error.
        public var name: WireName {
            switch self {
            case .clientIdError: .clientIdError
            case .certificationError: .certificationError
            }
        }

        /// Writes the parameters of the error; those that are nil are left out.
        public func encodeParameters(into writer: inout JSONWriter) {
            switch self {
            case .clientIdError: break
            case .certificationError(let wants, let got):
                writer.member("wants", wants)
                writer.member("got", got)
            }
        }

        /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
            switch name {
            case .clientIdError: self = .clientIdError
            case .certificationError:
                self = .certificationError(wants: try reader.member("wants"), got: try reader.member("got"))
            }
            reader.skipMembers()
        }
    }
}
