/// No input, timing or file content can end the process.
enum TrapRules {
    static func traps(in file: SourceFile) -> [Violation] {
        file.violations { line in
            line.hasForcedValue ? "try!, as! or a forced unwrapping" : nil
        } + file.violations(naming: ["fatalError"])
    }

    static func foundation(in file: SourceFile) -> [Violation] {
        file.violations { line in
            ImportRules.module(importedBy: line).flatMap { $0.hasPrefix("Foundation") ? "imports \($0)" : nil }
        }
    }
}

extension Substring {
    /// Whether an exclamation mark follows a value, a type, `try` or `as`; as an operator it stands before one, or is
    /// the beginning of `!=`.
    fileprivate var hasForcedValue: Bool {
        let bytes = Array(utf8)
        return bytes.indices.dropFirst().contains { place in
            guard bytes[place] == UInt8(ascii: "!") else { return false }
            let follows = Character(Unicode.Scalar(bytes[place - 1])).endsValue
            return follows && (place + 1 == bytes.endIndex || bytes[place + 1] != UInt8(ascii: "="))
        }
    }
}
