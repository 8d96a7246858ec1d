import CountdownCore
import Testing

@testable import Fleet

@Suite("Windows of proposals")
struct WindowTests {
    /// The windows of a change and of a confirmation, in milliseconds from now, decided on a record that ends at an instant.
    /// The call gives up after 2 s, and the margin is 50 ms.
    static let table = """
        state    end    change      confirmation
        none     -      -2000...2000  ...2000
        ended    -10    -2000...2000  ...2000
        paused   -      -2000...2000  ...2000
        expired  -10    -10...2000  -10...2000
        expired  0      0...2000    0...2000
        running  1      wait        ...1
        running  49     wait        ...49
        running  50     -2000...0  ...50
        running  60     -2000...10  ...60
        running  2000   -2000...1950  ...2000
        running  2050   -2000...2000  ...2000
        running  9000   -2000...2000  ...2000
        """

    struct Row: CustomTestStringConvertible {
        let words: [String]

        var testDescription: String { words.joined(separator: " ") }
    }

    static var rows: [Row] {
        table.split(separator: "\n").dropFirst().map { Row(words: $0.split(separator: " ").map(String.init)) }
    }

    @Test("are as in the table", arguments: rows)
    func window(_ row: Row) throws {
        let end = Int64(row.words[1]).map { noon + .milliseconds($0) }
        let basis = Basis(end: end, hasEnded: ["none", "ended"].contains(row.words[0]), at: noon)
        let limit = noon + .seconds(2)
        let options = Member.Options()
        let (patience, margin) = (options.patience, options.margin)
        let change = basis.windowOfChange(at: noon, until: limit, patience: patience, margin: margin)
        #expect(change.map(text) ?? "wait" == row.words[2])
        #expect(text(basis.windowOfConfirmation(until: limit)) == row.words[3])
    }

    private func text(_ window: Window) -> String {
        let first = window.notBefore.map { "\(($0 - noon).microseconds / 1_000)" } ?? ""
        return "\(first)...\((window.notAfter - noon).microseconds / 1_000)"
    }
}
