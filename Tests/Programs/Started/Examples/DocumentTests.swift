import Foundation
import TestSupport
import Testing

@Suite("The documents")
struct DocumentTests {
    /// A document that people read, by its path in the repository.
    struct Document: Sendable, CustomTestStringConvertible {
        let path: String
        let text: String

        init(_ path: String) throws {
            self.path = path
            text = try BuiltProduct.text(of: path)
        }

        var testDescription: String { path }

        /// The texts in backticks, and the lines of shell blocks.
        var commands: [Substring] {
            let blocks = text.matches(of: #/```(?:sh|console)\n((?s).*?)```/#).flatMap { $0.1.split(separator: "\n") }
            let prose = text.replacing(#/```(?s).*?```/#, with: "")
            return blocks + prose.matches(of: #/`([^`]+)`/#).map { $0.1 }
        }

        /// The sentences of paragraphs, list items and cells of tables, as their words; code is one word.
        var sentences: [[Substring]] {
            let prose = text.replacing(#/```(?s).*?```|<!--(?s).*?-->|(?m)^\[[^\]]*\]: .*$/#, with: "\n\n")
                .replacing(#/`[^`]*`/#, with: "code").replacing(#/\]\([^)]*\)/#, with: "]")
            var sentences: [[Substring]] = [[]]
            for line in prose.split(separator: "\n", omittingEmptySubsequences: false) {
                if line.isEmpty || line.contains(#/^(?: *(?:[-*]|\d+\.) |[|#>])/#) { sentences.append([]) }
                if line.hasPrefix("#") { continue }
                for word in line.split(separator: " ") {
                    if word == "|" { sentences.append([]) }
                    let hasText = word.contains { $0.isLetter || $0.isNumber }
                    if hasText { sentences[sentences.count - 1].append(word) }
                    if word.contains(#/[.!?][)*"\]]*$/#) { sentences.append([]) }
                }
            }
            return sentences
        }

        /// The anchors that its headings have on a page.
        var anchors: Set<String> {
            let prose = text.replacing(#/```(?s).*?```/#, with: "")
            return Set(
                prose.matches(of: #/(?m)^#+ (.+)$/#).map { heading in
                    heading.1.lowercased().replacing(" ", with: "-").filter {
                        $0.isLetter || $0.isNumber || "-_".contains($0)
                    }
                }
            )
        }
    }

    private static let documents = Result {
        let folder = BuiltProduct.packageDirectory
        let files = FileManager.default
        return try ["", "docs", "docs/decisions"].flatMap { place in
            try files.contentsOfDirectory(atPath: folder.appendingPathComponent(place).path)
                .filter { $0.hasSuffix(".md") }
                .map { try Document(place.isEmpty ? $0 : "\(place)/\($0)") }
        }
    }

    @Test("each link leads to an existing file, and to an existing heading in it", arguments: try documents.get())
    func links(document: Document) throws {
        let root = BuiltProduct.packageDirectory
        let folder = root.appendingPathComponent(document.path).deletingLastPathComponent()
        for link in document.text.matches(of: #/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/#) {
            let target =
                link.1.isEmpty
                ? root.appendingPathComponent(document.path) : folder.appendingPathComponent(String(link.1))
            let path = String(target.standardizedFileURL.path.dropFirst(root.standardizedFileURL.path.count + 1))
            #expect(FileManager.default.fileExists(atPath: target.path), "\(link.0)")
            guard let anchor = link.2 else { continue }
            #expect(try Document(path).anchors.contains(String(anchor)), "\(link.0)")
        }
    }

    @Test("a sentence has at most 35 words", arguments: try documents.get())
    func sentences(document: Document) {
        #expect(document.sentences.count > 1)
        for sentence in document.sentences where sentence.count > 35 {
            Issue.record("\(sentence.count) words: \(sentence.joined(separator: " "))")
        }
    }

    @Test("each target of make and each script that is named exists", arguments: try documents.get())
    func namedTargets(document: Document) throws {
        let makefile = try Document("Makefile").text
        let files = FileManager.default
        for command in document.commands {
            for named in command.matches(of: #/(?:^|sudo |\$ )make ([a-z-]+)/#) {
                #expect(makefile.contains("\n\(named.1):"), "\(command)")
            }
            for named in command.matches(of: #/(?:^|[ (])((?:scripts|Tests|examples|docs|systemd)\/[\w\/.+@-]+)/#) {
                let path = BuiltProduct.source(String(named.1))
                #expect(files.fileExists(atPath: path), "\(command)")
            }
        }
    }

    @Test("each subcommand of countdownctl that is used exists and has its options")
    func verbs() throws {
        var helps: [String: String] = [:]
        for command in try Self.documents.get().flatMap(\.commands) {
            for typed in command.matches(of: #/\bcountdownctl(?: --host \S+)? ([a-z][a-z-]*)([^|;&)]*)/#) {
                // A time or a duration in the place of the subcommand starts a timer.
                let verb = ["at", "in"].contains(typed.1) ? "timer" : String(typed.1)
                let help = try helps[verb] ?? CommandRun([verb, "--help"]).standardOutput
                helps[verb] = help
                #expect(verb == "help" || help.contains("USAGE: countdownctl \(verb)"), "\(command)")
                let own = typed.2.replacing(#/ -- .*| #.*/#, with: "").replacing(#/'[^']*'|"[^"]*"/#, with: "")
                for option in own.matches(of: #/ (--[a-z][a-z-]*)/#) {
                    #expect(help.contains(option.1), "\(command)")
                }
            }
        }
        #expect(helps.count > 10)
    }
}
