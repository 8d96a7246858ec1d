extension Definition {
    /// Parses the text of an interface definition.
    ///
    /// - Throws: the first fault of the text.
    public init(parsing text: String) throws(DefinitionFault) {
        var parser = DefinitionParser(try DefinitionLexer(text))
        self = try parser.parse()
    }
}

/// Reads the definition language of Varlink, a token at a time.
struct DefinitionParser {
    private var lexer: DefinitionLexer
    private var definition = Definition(name: "")
    /// The names of types that were used, and their places.
    private var used: [(name: String, place: Definition.Place)] = []

    init(_ lexer: DefinitionLexer) { self.lexer = lexer }

    mutating func parse() throws(DefinitionFault) -> Definition {
        let first = try expect("interface")
        let name = try word("the name of the interface") { $0.isInterfaceName }
        definition.name = name.text
        definition.comment = Comment(lines: first.comments)
        while let keyword = lexer.next() { try member(keyword) }
        for (name, place) in used where definition.type(name) == nil {
            throw DefinitionFault("there is no type \(name)", at: place)
        }
        return definition
    }

    private mutating func member(_ keyword: DefinitionLexer.Token) throws(DefinitionFault) {
        guard ["type", "method", "error"].contains(keyword.text) else {
            throw fault(keyword, "type, method or error")
        }
        let name = try word("a name that begins with a capital letter") { $0.isTypeName }
        try note(name.text, name, comments: keyword.comments)
        switch keyword.text {
        case "type": definition.types.append(.init(name: name.text, value: try parenthesized(name.text)))
        case "error": definition.errors.append(.init(name: name.text, value: try structure(name.text)))
        default:
            let parameters = try structure(name.text)
            try expect("->")
            let path = "\(name.text).Reply"
            definition.places[path] = name.place
            definition.methods.append(
                Definition.Method(name: name.text, parameters: parameters, reply: try structure(path))
            )
        }
    }

    /// Notes the place and the comment of a name, which is used once.
    private mutating func note(
        _ path: String,
        _ token: DefinitionLexer.Token,
        comments: [String]
    ) throws(DefinitionFault) {
        guard definition.places[path] == nil else {
            throw DefinitionFault("\(token.text) is defined twice", at: token.place)
        }
        definition.places[path] = token.place
        if !comments.isEmpty { definition.comments[path] = Comment(lines: comments) }
    }

    /// A type in a structure, under the path of its member.
    private mutating func type(_ path: String) throws(DefinitionFault) -> Definition.Shape {
        let token = lexer.peek
        switch token?.text {
        case "?":
            _ = lexer.next()
            guard lexer.peek?.text != "?" else { throw fault(lexer.peek, "a type that is not optional again") }
            return .nullable(try type(path))
        case "(": return try parenthesized(path)
        case "[": return try container(path)
        default: break
        }
        let word = try word("a type") { $0.isTypeName || Self.simpleTypes[$0] != nil }
        if let simple = Self.simpleTypes[word.text] { return simple }
        used.append((word.text, word.place))
        return .named(word.text)
    }

    private static let simpleTypes: [String: Definition.Shape] = [
        "bool": .bool, "int": .int, "float": .float, "string": .string, "object": .object, "any": .any,
    ]

    private mutating func container(_ path: String) throws(DefinitionFault) -> Definition.Shape {
        try expect("[")
        let isMap = lexer.peek?.text == "string"
        if isMap { _ = lexer.next() }
        try expect("]")
        return isMap ? .map(try type(path)) : .array(try type(path))
    }

    private mutating func structure(_ path: String) throws(DefinitionFault) -> Definition.Shape {
        let opening = lexer.peek
        let shape = try parenthesized(path)
        guard case .structure = shape else { throw fault(opening, "a structure, not an enumeration") }
        return shape
    }

    /// A structure, or an enumeration: its members have no types.
    private mutating func parenthesized(_ path: String) throws(DefinitionFault) -> Definition.Shape {
        try expect("(")
        var fields: [Definition.Field] = []
        var cases: [String] = []
        while lexer.peek?.text != ")" || !fields.isEmpty || !cases.isEmpty {
            let name = try word("the name of a member") { $0.isMemberName }
            let memberPath = "\(path).\(name.text)"
            try note(memberPath, name, comments: name.comments)
            if lexer.peek?.text == ":" {
                guard cases.isEmpty else { throw fault(lexer.peek, "a member without a type, like those before") }
                _ = lexer.next()
                fields.append(.init(name: name.text, type: try type(memberPath)))
            } else {
                guard fields.isEmpty else { throw fault(lexer.peek, "':' and a type") }
                cases.append(name.text)
            }
            let isLast = lexer.peek?.text != ","
            if !isLast { _ = lexer.next() }
            noteTrailing(memberPath, name)
            guard !isLast else { break }
        }
        try expect(")")
        return cases.isEmpty ? .structure(fields) : .enumeration(cases)
    }

    /// Takes the comment behind a member, if nothing else follows on the line.
    private mutating func noteTrailing(_ path: String, _ name: DefinitionLexer.Token) {
        guard lexer.peek?.place.line != name.place.line, let comment = lexer.trailingComments[name.place.line] else {
            return
        }
        if definition.comments[path] == nil { definition.comments[path] = Comment(lines: [comment]) }
    }

    private mutating func word(
        _ expected: String,
        _ isValid: (String) -> Bool
    ) throws(DefinitionFault) -> DefinitionLexer.Token {
        guard let token = lexer.next() else { throw fault(nil, expected) }
        guard isValid(token.text) else { throw fault(token, expected) }
        return token
    }

    @discardableResult
    private mutating func expect(_ expected: String) throws(DefinitionFault) -> DefinitionLexer.Token {
        guard let token = lexer.next() else { throw fault(nil, "'\(expected)'") }
        guard token.text == expected else { throw fault(token, "'\(expected)'") }
        return token
    }

    private func fault(_ token: DefinitionLexer.Token?, _ expected: String) -> DefinitionFault {
        let found = token.map { "unexpected '\($0.text)'" } ?? "unexpected end"
        return DefinitionFault("\(found); expected \(expected)", at: token?.place ?? lexer.end)
    }
}

extension String {
    /// Whether the parts of a name, split at a separator, are letters and digits.
    private func hasParts(at separator: Character, _ isPart: (Substring) -> Bool) -> Bool {
        split(separator: separator, omittingEmptySubsequences: false).allSatisfy(isPart)
    }

    private static func isAlphanumeric(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber)
    }

    private var beginsWithLetter: Bool { first.map { $0.isASCII && $0.isLetter } ?? false }

    fileprivate var isInterfaceName: Bool {
        beginsWithLetter && contains(".")
            && hasParts(at: ".") { part in
                let isEnclosed = part.first != "-" && part.last != "-"
                return !part.isEmpty && isEnclosed && part.allSatisfy { $0 == "-" || Self.isAlphanumeric($0) }
            }
    }

    fileprivate var isTypeName: Bool {
        first.map { $0.isASCII && $0.isUppercase } ?? false && allSatisfy(Self.isAlphanumeric)
    }

    fileprivate var isMemberName: Bool {
        beginsWithLetter && hasParts(at: "_") { !$0.isEmpty && $0.allSatisfy(Self.isAlphanumeric) }
    }
}
