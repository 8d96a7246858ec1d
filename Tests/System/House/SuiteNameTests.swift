import Foundation
import TestSupport
import Testing

/// A filter of `swift test`, and a row of the documents that names a suite, must find one.
@Suite("Names of suites")
struct SuiteNameTests {
    /// The text of every suite's name or type.
    private func found(_ pattern: String) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern, options: .anchorsMatchLines)
        let folder = BuiltProduct.packageDirectory.appendingPathComponent("Tests")
        let paths = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return try paths.filter { $0.hasSuffix(".swift") }.flatMap { path in
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            return expression.matches(in: text, range: NSRange(text.startIndex..., in: text)).compactMap { match in
                Range(match.range(at: 1), in: text).map { String(text[$0]) }
            }
        }
    }

    @Test(
        "no two suites have the same name, or types of the same name",
        arguments: [#"^@Suite\(\s*"(.*?)""#, #"^(?:final )?(?:struct|class) (\w+(?:Tests|Trials))\b"#]
    )
    func unique(pattern: String) throws {
        let names = try found(pattern)
        #expect(names.count > 200)
        #expect(Dictionary(grouping: names) { $0 }.filter { $1.count > 1 }.keys.sorted() == [])
    }
}
