/// What others may use says what it does.
enum DocumentationRules {
    /// Methods that protocols ask for; what they mean is said there.
    private static let witnesses = [
        "static func == ", "static func < ", "static func + ", "static func - ", "func hash(into", "var description",
        "func encode(into", "init(decoding", "func encodeParameters(into",
    ]

    /// The properties that protocols of ours ask for, and document.
    static func requirements(in file: SourceFile) -> Set<String> {
        Set(file.code.filter { $0.contains("{ get") }.compactMap(property))
    }

    /// Public declarations without a comment of three slashes: right above, or at the head of the lines that stand
    /// together with them, such as a type's for the values that it is made of.
    static func undocumented(in file: SourceFile, requirements: Set<String>) -> [Violation] {
        var isDocumented = false
        return zip(1..., zip(file.text, file.code)).compactMap { number, line in
            let begin = line.0.words.first ?? ""
            if begin.isEmpty { isDocumented = false }
            if begin.hasPrefix("///") { isDocumented = true }
            guard !isDocumented, isPublic(line.1), !isExplained(line.1, requirements) else { return nil }
            return Violation(path: file.path, line: number, what: "\(line.1.words.joined(separator: " ")) without ///")
        }
    }

    private static func isPublic(_ line: Substring) -> Bool {
        let words = line.words.drop { $0.hasPrefix("@") }
        guard let first = words.first, ["public", "open", "package"].contains(first) else { return false }
        return words.dropFirst().first != "import"
    }

    /// Whether a protocol says what it means; an initializer that cannot fail takes the values that its type documents.
    private static func isExplained(_ line: Substring, _ requirements: Set<String>) -> Bool {
        witnesses.contains { line.contains($0) }
            || property(of: line).map(requirements.contains) ?? false
            || line.contains(" init(") && !line.contains("throws")
    }

    private static func property(of line: Substring) -> String? {
        let words = line.words
        guard let place = words.firstIndex(where: { $0 == "var" || $0 == "let" }) else { return nil }
        return words.dropFirst(place + 1).first.map { String($0.prefix(while: \.isName)) }
    }
}
