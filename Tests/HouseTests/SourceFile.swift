import Foundation
import TestSupport

/// A Swift file of the package.
struct SourceFile: Sendable {
    /// The folder in Sources/, which bears the target's name.
    let target: String
    /// The path from the package's folder on.
    let path: String
    /// The lines as they are written.
    let text: [Substring]
    /// The lines without comments and string literals.
    let code: [Substring]
    private let wholeCode: String

    init(path: String, text: String) {
        self.path = path
        target = path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
        self.text = text.split(separator: "\n", omittingEmptySubsequences: false)
        wholeCode = codeAlone(of: text)
        code = wholeCode.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var name: Substring { path.split(separator: "/").last ?? "" }

    /// Every Swift file in Sources/, in the order of their paths, but what a tutorial shows.
    static let all: [SourceFile] = {
        let root = BuiltProduct.packageDirectory.path
        let paths = FileManager.default.enumerator(atPath: "\(root)/Sources")?.compactMap { $0 as? String } ?? []
        return paths.filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.sorted().compactMap { path in
            (try? String(contentsOfFile: "\(root)/Sources/\(path)", encoding: .utf8))
                .map { SourceFile(path: "Sources/\(path)", text: $0) }
        }
    }()
}

/// A line that breaks a rule.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let what: String

    var description: String { "\(path):\(line): \(what)" }
}

extension SourceFile {
    /// A violation for each line of code for which the body names one.
    func violations(_ body: (Substring) -> String?) -> [Violation] {
        zip(1..., code).compactMap { number, line in
            body(line).map { Violation(path: path, line: number, what: $0) }
        }
    }

    /// A violation for each line with one of these words, which stand alone: no part of a longer name.
    func violations(naming words: [String]) -> [Violation] {
        let mentioned = words.filter { strstr(wholeCode, $0) != nil }
        return mentioned.isEmpty ? [] : violations { line in mentioned.first { line.has(word: $0) } }
    }
}

extension Substring {
    /// What stands between its spaces.
    var words: [Substring] {
        utf8.split(separator: UInt8(ascii: " ")).map(Substring.init)
    }

    /// Whether the word stands here and neither of its neighbours prolongs it to another name. A word that begins with
    /// a point is a member without its type: what stands before the point must not be a value.
    func has(word: String) -> Bool {
        var rest = self
        while let range = rest.firstRange(of: word) {
            let before = self[..<range.lowerBound].last
            let after = rest[range.upperBound...].first
            let prolonged = (before?.endsValue ?? false) && (word.first.map { $0 == "." || $0.isName } ?? false)
            if !prolonged, !((word.last?.isName ?? false) && (after?.isName ?? false)) { return true }
            rest = rest[range.upperBound...]
        }
        return false
    }
}

extension Character {
    /// Whether it may stand in the name of something.
    var isName: Bool { isLetter || isNumber || self == "_" }

    /// Whether an expression may end with it.
    var endsValue: Bool { isName || ")]}?!".contains(self) }
}
