// Made by varlink-generate from org.example.Words.varlink; change that file instead.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import Varlink

/// The Varlink interface `org.example.Words`.
///
/// Names that mean something in Swift, or in the generated code, and types inside of types.
public enum Words {
    /// The part before the last dot in the names of methods and errors.
    public static let name = "org.example.Words"

    /// Every method, in the order of the definition.
    public static let methods: [any Method.Type] = [Words.MethodValue.self]

    /// The interface as a service describes it.
    public static let description = InterfaceDescription(
        name: name,
        definition: definition,
        methods: methods.map { $0.name }
    )

    /// The text of the definition.
    public static let definition = """
        # Names that mean something in Swift, or in the generated code, and types inside of types.
        interface org.example.Words

        type Word (
          as, associatedtype, await, break, case, catch, class, continue, default, defer, deinit, do, else, enum, extension,
          fallthrough, false, fileprivate, for, func, guard, if, import, in, init, inout, internal, is, let, nil, none, open, operator,
          precedencegroup, private, protocol, public, repeat, rethrows, return, self, some, static, struct, subscript, super, switch,
          throw, throws, true, try, typealias, var, where, while, allCases, rawValue, word, Any, Type, read_only, x86_64
        )

        type Members (
          as: int, associatedtype: int, await: int, break: int, case: int, catch: int, class: int, continue: int, default: int,
          defer: int, deinit: int, do: int, else: int, enum: int, extension: int, fallthrough: int, false: int, fileprivate: int,
          for: int, func: int, guard: int, if: int, import: int, in: int, init: int, inout: int, internal: int, is: int, let: int,
          nil: int, operator: int, private: int, protocol: int, public: int, repeat: int, rethrows: int, return: int, self: int,
          static: int, struct: int, subscript: int, super: int, switch: int, throw: int, throws: int, true: int, try: int,
          typealias: int, var: int, where: int, while: int, reader: int, writer: int, hashValue: int, value: int, known: int,
          encode: int, Any: int, URLPath: int, read_only: int
        )

        # Types that are called like Swift's.
        type String (string: string)
        type Type (of: String)
        type Words (words: []Word)

        method Method(
          type: (fast, slow),
          string: (bool: bool, type: ?(array: []int)),
          reply: (anything: any, nothing: ?any, object: object),
          lists: ?[]?[string](name: string, more: [][]?float),
          members: Members
        ) -> (words: [string]Words, type: Type, set: [string]())

        error Error (error: (self: string, default: [](in: int)), writer: int, reader: ?int)
        error Default ()

        """
}

extension Words {
    public enum Word: WireEnumeration {
        case `as`
        case `associatedtype`
        case `await`
        case `break`
        case `case`
        case `catch`
        case `class`
        case `continue`
        case `default`
        case `defer`
        case `deinit`
        case `do`
        case `else`
        case `enum`
        case `extension`
        case `fallthrough`
        case `false`
        case `fileprivate`
        case `for`
        case `func`
        case `guard`
        case `if`
        case `import`
        case `in`
        case initValue
        case `inout`
        case `internal`
        case `is`
        case `let`
        case `nil`
        case none
        case open
        case `operator`
        case `precedencegroup`
        case `private`
        case `protocol`
        case `public`
        case `repeat`
        case `rethrows`
        case `return`
        case `self`
        case some
        case `static`
        case `struct`
        case `subscript`
        case `super`
        case `switch`
        case `throw`
        case `throws`
        case `true`
        case `try`
        case `typealias`
        case `var`
        case `where`
        case `while`
        case allCasesValue
        case rawValue
        case word
        case any
        case type
        case readOnly
        case x86_64

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .`as`: "as"
            case .`associatedtype`: "associatedtype"
            case .`await`: "await"
            case .`break`: "break"
            case .`case`: "case"
            case .`catch`: "catch"
            case .`class`: "class"
            case .`continue`: "continue"
            case .`default`: "default"
            case .`defer`: "defer"
            case .`deinit`: "deinit"
            case .`do`: "do"
            case .`else`: "else"
            case .`enum`: "enum"
            case .`extension`: "extension"
            case .`fallthrough`: "fallthrough"
            case .`false`: "false"
            case .`fileprivate`: "fileprivate"
            case .`for`: "for"
            case .`func`: "func"
            case .`guard`: "guard"
            case .`if`: "if"
            case .`import`: "import"
            case .`in`: "in"
            case .initValue: "init"
            case .`inout`: "inout"
            case .`internal`: "internal"
            case .`is`: "is"
            case .`let`: "let"
            case .`nil`: "nil"
            case .none: "none"
            case .open: "open"
            case .`operator`: "operator"
            case .`precedencegroup`: "precedencegroup"
            case .`private`: "private"
            case .`protocol`: "protocol"
            case .`public`: "public"
            case .`repeat`: "repeat"
            case .`rethrows`: "rethrows"
            case .`return`: "return"
            case .`self`: "self"
            case .some: "some"
            case .`static`: "static"
            case .`struct`: "struct"
            case .`subscript`: "subscript"
            case .`super`: "super"
            case .`switch`: "switch"
            case .`throw`: "throw"
            case .`throws`: "throws"
            case .`true`: "true"
            case .`try`: "try"
            case .`typealias`: "typealias"
            case .`var`: "var"
            case .`where`: "where"
            case .`while`: "while"
            case .allCasesValue: "allCases"
            case .rawValue: "rawValue"
            case .word: "word"
            case .any: "Any"
            case .type: "Type"
            case .readOnly: "read_only"
            case .x86_64: "x86_64"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "as": self = .`as`
            case "associatedtype": self = .`associatedtype`
            case "await": self = .`await`
            case "break": self = .`break`
            case "case": self = .`case`
            case "catch": self = .`catch`
            case "class": self = .`class`
            case "continue": self = .`continue`
            case "default": self = .`default`
            case "defer": self = .`defer`
            case "deinit": self = .`deinit`
            case "do": self = .`do`
            case "else": self = .`else`
            case "enum": self = .`enum`
            case "extension": self = .`extension`
            case "fallthrough": self = .`fallthrough`
            case "false": self = .`false`
            case "fileprivate": self = .`fileprivate`
            case "for": self = .`for`
            case "func": self = .`func`
            case "guard": self = .`guard`
            case "if": self = .`if`
            case "import": self = .`import`
            case "in": self = .`in`
            case "init": self = .initValue
            case "inout": self = .`inout`
            case "internal": self = .`internal`
            case "is": self = .`is`
            case "let": self = .`let`
            case "nil": self = .`nil`
            case "none": self = .none
            case "open": self = .open
            case "operator": self = .`operator`
            case "precedencegroup": self = .`precedencegroup`
            case "private": self = .`private`
            case "protocol": self = .`protocol`
            case "public": self = .`public`
            case "repeat": self = .`repeat`
            case "rethrows": self = .`rethrows`
            case "return": self = .`return`
            case "self": self = .`self`
            case "some": self = .some
            case "static": self = .`static`
            case "struct": self = .`struct`
            case "subscript": self = .`subscript`
            case "super": self = .`super`
            case "switch": self = .`switch`
            case "throw": self = .`throw`
            case "throws": self = .`throws`
            case "true": self = .`true`
            case "try": self = .`try`
            case "typealias": self = .`typealias`
            case "var": self = .`var`
            case "where": self = .`where`
            case "while": self = .`while`
            case "allCases": self = .allCasesValue
            case "rawValue": self = .rawValue
            case "word": self = .word
            case "Any": self = .any
            case "Type": self = .type
            case "read_only": self = .readOnly
            case "x86_64": self = .x86_64
            default: return nil
            }
        }
    }
}

extension Words {
    public struct Members: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var `as`: Int64
        public var `associatedtype`: Int64
        public var `await`: Int64
        public var `break`: Int64
        public var `case`: Int64
        public var `catch`: Int64
        public var `class`: Int64
        public var `continue`: Int64
        public var `default`: Int64
        public var `defer`: Int64
        public var `deinit`: Int64
        public var `do`: Int64
        public var `else`: Int64
        public var `enum`: Int64
        public var `extension`: Int64
        public var `fallthrough`: Int64
        public var `false`: Int64
        public var `fileprivate`: Int64
        public var `for`: Int64
        public var `func`: Int64
        public var `guard`: Int64
        public var `if`: Int64
        public var `import`: Int64
        public var `in`: Int64
        public var initValue: Int64
        public var `inout`: Int64
        public var `internal`: Int64
        public var `is`: Int64
        public var `let`: Int64
        public var `nil`: Int64
        public var `operator`: Int64
        public var `private`: Int64
        public var `protocol`: Int64
        public var `public`: Int64
        public var `repeat`: Int64
        public var `rethrows`: Int64
        public var `return`: Int64
        public var selfValue: Int64
        public var `static`: Int64
        public var `struct`: Int64
        public var `subscript`: Int64
        public var `super`: Int64
        public var `switch`: Int64
        public var `throw`: Int64
        public var `throws`: Int64
        public var `true`: Int64
        public var `try`: Int64
        public var `typealias`: Int64
        public var `var`: Int64
        public var `where`: Int64
        public var `while`: Int64
        public var reader: Int64
        public var writer: Int64
        public var hashValueValue: Int64
        public var value: Int64
        public var known: Int64
        public var encode: Int64
        public var any: Int64
        public var urlPath: Int64
        public var readOnly: Int64

        /// The value with these members.
        public init(
            as: Int64,
            associatedtype: Int64,
            await: Int64,
            break: Int64,
            case: Int64,
            catch: Int64,
            class: Int64,
            continue: Int64,
            default: Int64,
            defer: Int64,
            deinit: Int64,
            do: Int64,
            else: Int64,
            enum: Int64,
            extension: Int64,
            fallthrough: Int64,
            false: Int64,
            fileprivate: Int64,
            for: Int64,
            func: Int64,
            guard: Int64,
            if: Int64,
            import: Int64,
            in: Int64,
            initValue: Int64,
            `inout`: Int64,
            internal: Int64,
            is: Int64,
            `let`: Int64,
            nil: Int64,
            operator: Int64,
            private: Int64,
            protocol: Int64,
            public: Int64,
            repeat: Int64,
            rethrows: Int64,
            return: Int64,
            selfValue: Int64,
            static: Int64,
            struct: Int64,
            subscript: Int64,
            super: Int64,
            switch: Int64,
            throw: Int64,
            throws: Int64,
            true: Int64,
            try: Int64,
            typealias: Int64,
            `var`: Int64,
            where: Int64,
            while: Int64,
            reader: Int64,
            writer: Int64,
            hashValueValue: Int64,
            value: Int64,
            known: Int64,
            encode: Int64,
            any: Int64,
            urlPath: Int64,
            readOnly: Int64
        ) {
            self.as = `as`
            self.associatedtype = `associatedtype`
            self.await = `await`
            self.break = `break`
            self.case = `case`
            self.catch = `catch`
            self.class = `class`
            self.continue = `continue`
            self.default = `default`
            self.defer = `defer`
            self.deinit = `deinit`
            self.do = `do`
            self.else = `else`
            self.enum = `enum`
            self.extension = `extension`
            self.fallthrough = `fallthrough`
            self.false = `false`
            self.fileprivate = `fileprivate`
            self.for = `for`
            self.func = `func`
            self.guard = `guard`
            self.if = `if`
            self.import = `import`
            self.in = `in`
            self.initValue = initValue
            self.inout = `inout`
            self.internal = `internal`
            self.is = `is`
            self.let = `let`
            self.nil = `nil`
            self.operator = `operator`
            self.private = `private`
            self.protocol = `protocol`
            self.public = `public`
            self.repeat = `repeat`
            self.rethrows = `rethrows`
            self.return = `return`
            self.selfValue = selfValue
            self.static = `static`
            self.struct = `struct`
            self.subscript = `subscript`
            self.super = `super`
            self.switch = `switch`
            self.throw = `throw`
            self.throws = `throws`
            self.true = `true`
            self.try = `try`
            self.typealias = `typealias`
            self.var = `var`
            self.where = `where`
            self.while = `while`
            self.reader = reader
            self.writer = writer
            self.hashValueValue = hashValueValue
            self.value = value
            self.known = known
            self.encode = encode
            self.any = any
            self.urlPath = urlPath
            self.readOnly = readOnly
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("as", `as`)
            writer.member("associatedtype", `associatedtype`)
            writer.member("await", `await`)
            writer.member("break", `break`)
            writer.member("case", `case`)
            writer.member("catch", `catch`)
            writer.member("class", `class`)
            writer.member("continue", `continue`)
            writer.member("default", `default`)
            writer.member("defer", `defer`)
            writer.member("deinit", `deinit`)
            writer.member("do", `do`)
            writer.member("else", `else`)
            writer.member("enum", `enum`)
            writer.member("extension", `extension`)
            writer.member("fallthrough", `fallthrough`)
            writer.member("false", `false`)
            writer.member("fileprivate", `fileprivate`)
            writer.member("for", `for`)
            writer.member("func", `func`)
            writer.member("guard", `guard`)
            writer.member("if", `if`)
            writer.member("import", `import`)
            writer.member("in", `in`)
            writer.member("init", initValue)
            writer.member("inout", `inout`)
            writer.member("internal", `internal`)
            writer.member("is", `is`)
            writer.member("let", `let`)
            writer.member("nil", `nil`)
            writer.member("operator", `operator`)
            writer.member("private", `private`)
            writer.member("protocol", `protocol`)
            writer.member("public", `public`)
            writer.member("repeat", `repeat`)
            writer.member("rethrows", `rethrows`)
            writer.member("return", `return`)
            writer.member("self", selfValue)
            writer.member("static", `static`)
            writer.member("struct", `struct`)
            writer.member("subscript", `subscript`)
            writer.member("super", `super`)
            writer.member("switch", `switch`)
            writer.member("throw", `throw`)
            writer.member("throws", `throws`)
            writer.member("true", `true`)
            writer.member("try", `try`)
            writer.member("typealias", `typealias`)
            writer.member("var", `var`)
            writer.member("where", `where`)
            writer.member("while", `while`)
            writer.member("reader", reader)
            writer.member("writer", self.writer)
            writer.member("hashValue", hashValueValue)
            writer.member("value", value)
            writer.member("known", known)
            writer.member("encode", encode)
            writer.member("Any", any)
            writer.member("URLPath", urlPath)
            writer.member("read_only", readOnly)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var `as` = JSONMember<Int64>("as")
            var `associatedtype` = JSONMember<Int64>("associatedtype")
            var `await` = JSONMember<Int64>("await")
            var `break` = JSONMember<Int64>("break")
            var `case` = JSONMember<Int64>("case")
            var `catch` = JSONMember<Int64>("catch")
            var `class` = JSONMember<Int64>("class")
            var `continue` = JSONMember<Int64>("continue")
            var `default` = JSONMember<Int64>("default")
            var `defer` = JSONMember<Int64>("defer")
            var `deinit` = JSONMember<Int64>("deinit")
            var `do` = JSONMember<Int64>("do")
            var `else` = JSONMember<Int64>("else")
            var `enum` = JSONMember<Int64>("enum")
            var `extension` = JSONMember<Int64>("extension")
            var `fallthrough` = JSONMember<Int64>("fallthrough")
            var `false` = JSONMember<Int64>("false")
            var `fileprivate` = JSONMember<Int64>("fileprivate")
            var `for` = JSONMember<Int64>("for")
            var `func` = JSONMember<Int64>("func")
            var `guard` = JSONMember<Int64>("guard")
            var `if` = JSONMember<Int64>("if")
            var `import` = JSONMember<Int64>("import")
            var `in` = JSONMember<Int64>("in")
            var initValue = JSONMember<Int64>("init")
            var `inout` = JSONMember<Int64>("inout")
            var `internal` = JSONMember<Int64>("internal")
            var `is` = JSONMember<Int64>("is")
            var `let` = JSONMember<Int64>("let")
            var `nil` = JSONMember<Int64>("nil")
            var `operator` = JSONMember<Int64>("operator")
            var `private` = JSONMember<Int64>("private")
            var `protocol` = JSONMember<Int64>("protocol")
            var `public` = JSONMember<Int64>("public")
            var `repeat` = JSONMember<Int64>("repeat")
            var `rethrows` = JSONMember<Int64>("rethrows")
            var `return` = JSONMember<Int64>("return")
            var selfValue = JSONMember<Int64>("self")
            var `static` = JSONMember<Int64>("static")
            var `struct` = JSONMember<Int64>("struct")
            var `subscript` = JSONMember<Int64>("subscript")
            var `super` = JSONMember<Int64>("super")
            var `switch` = JSONMember<Int64>("switch")
            var `throw` = JSONMember<Int64>("throw")
            var `throws` = JSONMember<Int64>("throws")
            var `true` = JSONMember<Int64>("true")
            var `try` = JSONMember<Int64>("try")
            var `typealias` = JSONMember<Int64>("typealias")
            var `var` = JSONMember<Int64>("var")
            var `where` = JSONMember<Int64>("where")
            var `while` = JSONMember<Int64>("while")
            var readerMember = JSONMember<Int64>("reader")
            var writer = JSONMember<Int64>("writer")
            var hashValueValue = JSONMember<Int64>("hashValue")
            var value = JSONMember<Int64>("value")
            var knownMember = JSONMember<Int64>("known")
            var encode = JSONMember<Int64>("encode")
            var any = JSONMember<Int64>("Any")
            var urlPath = JSONMember<Int64>("URLPath")
            var readOnly = JSONMember<Int64>("read_only")
            try reader.members {
                `as`.read(&$0) || `associatedtype`.read(&$0) || `await`.read(&$0) || `break`.read(&$0)
                    || `case`.read(&$0) || `catch`.read(&$0) || `class`.read(&$0) || `continue`.read(&$0)
                    || `default`.read(&$0) || `defer`.read(&$0) || `deinit`.read(&$0) || `do`.read(&$0)
                    || `else`.read(&$0) || `enum`.read(&$0) || `extension`.read(&$0) || `fallthrough`.read(&$0)
                    || `false`.read(&$0) || `fileprivate`.read(&$0) || `for`.read(&$0) || `func`.read(&$0)
                    || `guard`.read(&$0) || `if`.read(&$0) || `import`.read(&$0) || `in`.read(&$0)
                    || initValue.read(&$0) || `inout`.read(&$0) || `internal`.read(&$0) || `is`.read(&$0)
                    || `let`.read(&$0) || `nil`.read(&$0) || `operator`.read(&$0) || `private`.read(&$0)
                    || `protocol`.read(&$0) || `public`.read(&$0) || `repeat`.read(&$0) || `rethrows`.read(&$0)
                    || `return`.read(&$0) || selfValue.read(&$0) || `static`.read(&$0) || `struct`.read(&$0)
                    || `subscript`.read(&$0) || `super`.read(&$0) || `switch`.read(&$0) || `throw`.read(&$0)
                    || `throws`.read(&$0) || `true`.read(&$0) || `try`.read(&$0) || `typealias`.read(&$0)
                    || `var`.read(&$0) || `where`.read(&$0) || `while`.read(&$0) || readerMember.read(&$0)
                    || writer.read(&$0) || hashValueValue.read(&$0) || value.read(&$0) || knownMember.read(&$0)
                    || encode.read(&$0) || any.read(&$0) || urlPath.read(&$0) || readOnly.read(&$0)
            }
            self.as = try `as`.required
            self.associatedtype = try `associatedtype`.required
            self.await = try `await`.required
            self.break = try `break`.required
            self.case = try `case`.required
            self.catch = try `catch`.required
            self.class = try `class`.required
            self.continue = try `continue`.required
            self.default = try `default`.required
            self.defer = try `defer`.required
            self.deinit = try `deinit`.required
            self.do = try `do`.required
            self.else = try `else`.required
            self.enum = try `enum`.required
            self.extension = try `extension`.required
            self.fallthrough = try `fallthrough`.required
            self.false = try `false`.required
            self.fileprivate = try `fileprivate`.required
            self.for = try `for`.required
            self.func = try `func`.required
            self.guard = try `guard`.required
            self.if = try `if`.required
            self.import = try `import`.required
            self.in = try `in`.required
            self.initValue = try initValue.required
            self.inout = try `inout`.required
            self.internal = try `internal`.required
            self.is = try `is`.required
            self.let = try `let`.required
            self.nil = try `nil`.required
            self.operator = try `operator`.required
            self.private = try `private`.required
            self.protocol = try `protocol`.required
            self.public = try `public`.required
            self.repeat = try `repeat`.required
            self.rethrows = try `rethrows`.required
            self.return = try `return`.required
            self.selfValue = try selfValue.required
            self.static = try `static`.required
            self.struct = try `struct`.required
            self.subscript = try `subscript`.required
            self.super = try `super`.required
            self.switch = try `switch`.required
            self.throw = try `throw`.required
            self.throws = try `throws`.required
            self.true = try `true`.required
            self.try = try `try`.required
            self.typealias = try `typealias`.required
            self.var = try `var`.required
            self.where = try `where`.required
            self.while = try `while`.required
            self.reader = try readerMember.required
            self.writer = try writer.required
            self.hashValueValue = try hashValueValue.required
            self.value = try value.required
            self.known = try knownMember.required
            self.encode = try encode.required
            self.any = try any.required
            self.urlPath = try urlPath.required
            self.readOnly = try readOnly.required
        }
    }
}

extension Words {
    /// Types that are called like Swift's.
    public struct StringValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
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

extension Words {
    public struct TypeValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var of: Words.StringValue

        /// The value with these members.
        public init(of: Words.StringValue) {
            self.of = of
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("of", of)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var of = JSONMember<Words.StringValue>("of")
            reader.knownMembers { of.read(&$0) }
            self.of = try of.required
        }
    }
}

extension Words {
    public struct WordsValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var words: [Words.Word]

        /// The value with these members.
        public init(words: [Words.Word]) {
            self.words = words
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("words", words)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var words = JSONMember<[Words.Word]>("words")
            reader.knownMembers { words.read(&$0) }
            self.words = try words.required
        }
    }
}

extension Words {
    public struct MethodValue: Method {
        /// The name of the interface.
        public static var interface: String { Words.name }
        /// The name within the interface.
        public static let name = "Method"

        public var type: Words.MethodValue.TypeValue
        public var string: Words.MethodValue.StringValue
        public var reply: Words.MethodValue.ReplyValue
        public var lists: [TextMap<Words.MethodValue.Lists>?]?
        public var members: Words.Members

        /// The value with these members.
        public init(
            type: Words.MethodValue.TypeValue,
            string: Words.MethodValue.StringValue,
            reply: Words.MethodValue.ReplyValue,
            lists: [TextMap<Words.MethodValue.Lists>?]? = nil,
            members: Words.Members
        ) {
            self.type = type
            self.string = string
            self.reply = reply
            self.lists = lists
            self.members = members
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("type", type)
            writer.member("string", string)
            writer.member("reply", reply)
            writer.memberIfPresent("lists", lists)
            writer.member("members", members)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var type = JSONMember<Words.MethodValue.TypeValue>("type")
            var string = JSONMember<Words.MethodValue.StringValue>("string")
            var reply = JSONMember<Words.MethodValue.ReplyValue>("reply")
            var lists = JSONMember<[TextMap<Words.MethodValue.Lists>?]>("lists")
            var members = JSONMember<Words.Members>("members")
            try reader.members {
                type.read(&$0) || string.read(&$0) || reply.read(&$0) || lists.read(&$0) || members.read(&$0)
            }
            self.type = try type.required
            self.string = try string.required
            self.reply = try reply.required
            self.lists = try lists.optional
            self.members = try members.required
        }
    }
}

extension Words.MethodValue {
    public enum TypeValue: WireEnumeration {
        case fast
        case slow

        /// The word on the wire.
        public var word: StaticString {
            switch self {
            case .fast: "fast"
            case .slow: "slow"
            }
        }

        /// The word as a string.
        public var rawValue: String { word.description }

        /// The value with this word; nil if the word is unknown.
        public init?(rawValue: String) {
            switch rawValue {
            case "fast": self = .fast
            case "slow": self = .slow
            default: return nil
            }
        }
    }
}

extension Words.MethodValue {
    public struct StringValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var bool: Bool
        public var type: Words.MethodValue.StringValue.TypeValue?

        /// The value with these members.
        public init(bool: Bool, type: Words.MethodValue.StringValue.TypeValue? = nil) {
            self.bool = bool
            self.type = type
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("bool", bool)
            writer.memberIfPresent("type", type)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var bool = JSONMember<Bool>("bool")
            var type = JSONMember<Words.MethodValue.StringValue.TypeValue>("type")
            try reader.members { bool.read(&$0) || type.read(&$0) }
            self.bool = try bool.required
            self.type = try type.optional
        }
    }
}

extension Words.MethodValue.StringValue {
    public struct TypeValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var array: [Int64]

        /// The value with these members.
        public init(array: [Int64]) {
            self.array = array
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("array", array)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var array = JSONMember<[Int64]>("array")
            try reader.members { array.read(&$0) }
            self.array = try array.required
        }
    }
}

extension Words.MethodValue {
    public struct ReplyValue: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var anything: AnyJSON
        public var nothing: AnyJSON?
        public var object: JSONObject

        /// The value with these members.
        public init(anything: AnyJSON, nothing: AnyJSON? = nil, object: JSONObject) {
            self.anything = anything
            self.nothing = nothing
            self.object = object
        }

        /// Writes the members; those that are nil are left out.
        public func encode(into writer: inout JSONWriter) {
            writer.member("anything", anything)
            writer.memberIfPresent("nothing", nothing)
            writer.member("object", object)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var anything = JSONMember<AnyJSON>("anything")
            var nothing = JSONMember<AnyJSON>("nothing")
            var object = JSONMember<JSONObject>("object")
            try reader.members { anything.read(&$0) || nothing.read(&$0) || object.read(&$0) }
            self.anything = try anything.required
            self.nothing = try nothing.optional
            self.object = try object.required
        }
    }
}

extension Words.MethodValue {
    public struct Lists: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var name: String
        public var more: [[Double?]]

        /// The value with these members.
        public init(name: String, more: [[Double?]]) {
            self.name = name
            self.more = more
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("name", name)
            writer.member("more", more)
        }

        /// Reads the members. Refuses unknown ones.
        ///
        /// - Throws: the name of the member that is missing, unknown or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var name = JSONMember<String>("name")
            var more = JSONMember<[[Double?]]>("more")
            try reader.members { name.read(&$0) || more.read(&$0) }
            self.name = try name.required
            self.more = try more.required
        }
    }
}

extension Words.MethodValue {
    public struct Reply: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var words: TextMap<Words.WordsValue>
        public var type: Words.TypeValue
        public var set: TextMap<Words.MethodValue.Reply.Set>

        /// The value with these members.
        public init(
            words: TextMap<Words.WordsValue>,
            type: Words.TypeValue,
            set: TextMap<Words.MethodValue.Reply.Set>
        ) {
            self.words = words
            self.type = type
            self.set = set
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("words", words)
            writer.member("type", type)
            writer.member("set", set)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var words = JSONMember<TextMap<Words.WordsValue>>("words")
            var type = JSONMember<Words.TypeValue>("type")
            var set = JSONMember<TextMap<Words.MethodValue.Reply.Set>>("set")
            reader.knownMembers { words.read(&$0) || type.read(&$0) || set.read(&$0) }
            self.words = try words.required
            self.type = try type.required
            self.set = try set.required
        }
    }
}

extension Words.MethodValue.Reply {
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

extension Words.Failure {
    public struct ErrorError: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var selfValue: String
        public var `default`: [Words.Failure.ErrorError.Default]

        /// The value with these members.
        public init(selfValue: String, default: [Words.Failure.ErrorError.Default]) {
            self.selfValue = selfValue
            self.default = `default`
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("self", selfValue)
            writer.member("default", `default`)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var selfValue = JSONMember<String>("self")
            var `default` = JSONMember<[Words.Failure.ErrorError.Default]>("default")
            reader.knownMembers { selfValue.read(&$0) || `default`.read(&$0) }
            self.selfValue = try selfValue.required
            self.default = try `default`.required
        }
    }
}

extension Words.Failure.ErrorError {
    public struct Default: Sendable, Hashable, JSONEncodable, JSONDecodable {
        public var `in`: Int64

        /// The value with these members.
        public init(in: Int64) {
            self.in = `in`
        }

        /// Writes the members.
        public func encode(into writer: inout JSONWriter) {
            writer.member("in", `in`)
        }

        /// Reads the members. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(from reader: inout JSONReader) throws(InvalidParameter) {
            var `in` = JSONMember<Int64>("in")
            reader.knownMembers { `in`.read(&$0) }
            self.in = try `in`.required
        }
    }
}

extension Words {
    /// An error of the interface `org.example.Words`.
    public enum Failure: InterfaceError {
        case error(error: Words.Failure.ErrorError, writer: Int64, reader: Int64?)
        case `default`

        /// The names of the errors on the wire, in the order of the definition.
        public enum WireName: String, Sendable, CaseIterable {
            case error = "org.example.Words.Error"
            case `default` = "org.example.Words.Default"
        }

        /// The name of the error.
        public var name: WireName {
            switch self {
            case .error: .error
            case .`default`: .`default`
            }
        }

        /// Writes the parameters of the error; those that are nil are left out.
        public func encodeParameters(into writer: inout JSONWriter) {
            switch self {
            case .error(let error, let writerMember, let readerMember):
                writer.member("error", error)
                writer.member("writer", writerMember)
                writer.memberIfPresent("reader", readerMember)
            case .`default`: break
            }
        }

        /// Reads the parameters of the error with this name. Skips unknown ones, which a newer peer may have added.
        ///
        /// - Throws: the name of the member that is missing or invalid.
        public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
            switch name {
            case .error:
                self = .error(
                    error: try reader.member("error"),
                    writer: try reader.member("writer"),
                    reader: try reader.memberIfPresent("reader")
                )
            case .`default`: self = .`default`
            }
            reader.skipMembers()
        }
    }
}
