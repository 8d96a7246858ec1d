/// Why a text is not a definition: the token that was found, and the one that was expected.
public struct DefinitionSyntaxError: Error, Equatable {
    /// The token that was expected.
    public var expected: String
    /// The token that was found.
    public var found: String
}

extension Definition {
    /// Parses the text of an interface definition.
    public init(parsing text: String) throws {
        var parser = DefinitionParser(tokens: DefinitionParser.tokens(of: text))
        self = try parser.definition()
    }
}

/// Reads the definition language of Varlink, a token at a time.
struct DefinitionParser {
    private var tokens: ArraySlice<String>

    init(tokens: [String]) {
        self.tokens = tokens[...]
    }

    /// Words and single punctuation marks; comments and whitespace are left out.
    static func tokens(of text: String) -> [String] {
        var tokens: [String] = []
        for line in text.split(separator: "\n") {
            var word = ""
            for character in line.prefix(while: { $0 != "#" }) + " " {
                if character.isLetter || character.isNumber || "._".contains(character) {
                    word.append(character)
                    continue
                }
                if !word.isEmpty { tokens.append(word) }
                word = ""
                if !character.isWhitespace { tokens.append(String(character)) }
            }
        }
        return tokens
    }

    mutating func definition() throws -> Definition {
        try expect("interface")
        var definition = Definition(name: try word())
        while let keyword = tokens.popFirst() {
            let name = try word()
            switch keyword {
            case "type": definition.types.append(.init(name: name, value: try parenthesized()))
            case "error": definition.errors.append(.init(name: name, value: try parenthesized()))
            case "method": definition.methods.append(try method(name))
            default: throw DefinitionSyntaxError(expected: "type, method or error", found: keyword)
            }
        }
        return definition
    }

    private mutating func method(_ name: String) throws -> Definition.Method {
        let parameters = try parenthesized()
        try expect("-")
        try expect(">")
        return Definition.Method(name: name, parameters: parameters, reply: try parenthesized())
    }

    private mutating func type() throws -> Definition.Shape {
        switch tokens.first {
        case "?": return .nullable(try after("?"))
        case "(": return try parenthesized()
        case "[": return try container()
        default: break
        }
        return switch try word() {
        case "bool": .bool
        case "int": .int
        case "float": .float
        case "string": .string
        case "object": .object
        case let name: .named(name)
        }
    }

    private mutating func after(_ token: String) throws -> Definition.Shape {
        try expect(token)
        return try type()
    }

    private mutating func container() throws -> Definition.Shape {
        try expect("[")
        guard tokens.first == "string" else { return .array(try after("]")) }
        try expect("string")
        return .map(try after("]"))
    }

    /// A structure, or an enumeration: its members have no types.
    private mutating func parenthesized() throws -> Definition.Shape {
        try expect("(")
        var fields: [Definition.Field] = []
        var cases: [String] = []
        while tokens.first != ")" {
            if !fields.isEmpty || !cases.isEmpty { try expect(",") }
            let name = try word()
            if tokens.first == ":" {
                fields.append(.init(name: name, type: try after(":")))
            } else {
                cases.append(name)
            }
        }
        try expect(")")
        guard fields.isEmpty || cases.isEmpty else {
            throw DefinitionSyntaxError(expected: "a type for every member or for none", found: cases[0])
        }
        return cases.isEmpty ? .structure(fields) : .enumeration(cases)
    }

    private mutating func word() throws -> String {
        guard let token = tokens.popFirst() else { throw DefinitionSyntaxError(expected: "a name", found: "the end") }
        guard token.first?.isLetter == true else { throw DefinitionSyntaxError(expected: "a name", found: token) }
        return token
    }

    private mutating func expect(_ expected: String) throws {
        let found = tokens.popFirst()
        guard found == expected else { throw DefinitionSyntaxError(expected: expected, found: found ?? "the end") }
    }
}
