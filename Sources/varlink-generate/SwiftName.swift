/// Names of Swift that are made from names of a definition.
enum SwiftName {
    /// A member, a word of an enumeration or an error: `read_only` is `readOnly`, `URLPath` is `urlPath`.
    static func member(_ name: String) -> String {
        let parts = parts(name)
        let first = parts[0]
        let capitals = first.prefix(while: \.isUppercase).count
        let lowered = capitals == first.count || capitals < 2 ? capitals : capitals - 1
        return ([first.prefix(lowered).lowercased() + first.dropFirst(lowered)] + parts.dropFirst().map(capitalized))
            .joined()
    }

    /// A type. A name that the generated code uses, or that Swift does not allow, ends in Value.
    static func type(_ name: String) -> String {
        let type = parts(name).map(capitalized).joined()
        return used.contains(type) ? "\(type)Value" : type
    }

    /// A name in its declaration or after a dot.
    static func escaped(_ name: String) -> String { reserved.contains(name) ? "`\(name)`" : name }

    /// A name that labels a parameter or an argument.
    static func label(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

    private static func capitalized(_ part: String) -> String { part.prefix(1).uppercased() + part.dropFirst() }

    /// The parts between underscores. An underscore between digits stays.
    private static func parts(_ name: String) -> [String] {
        var parts: [String] = []
        for part in name.split(separator: "_").map(String.init) {
            if let last = parts.last, last.last?.isNumber == true, part.first?.isNumber == true {
                parts[parts.count - 1] = "\(last)_\(part)"
            } else {
                parts.append(part)
            }
        }
        return parts
    }

    private static let used: Set = [
        "Any", "AnyJSON", "Array", "Bool", "CaseIterable", "Double", "Duration", "Hashable", "IfKnown", "Int64",
        "InterfaceDescription", "InterfaceError", "InvalidParameter", "JSONDecodable", "JSONEncodable",
        "JSONExtensible", "JSONMember", "JSONObject", "JSONReadable", "JSONReader", "JSONWriter", "Method",
        "Protocol", "Reply", "Self", "Sendable", "StaticString", "String", "TextMap", "Type", "Void",
        "WireEnumeration", "WireName",
    ]

    private static let reserved: Set = [
        "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit",
        "do", "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if",
        "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private",
        "protocol", "public", "repeat", "rethrows", "return", "self", "static", "struct", "subscript", "super",
        "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]
}
