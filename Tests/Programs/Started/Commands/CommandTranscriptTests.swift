import Foundation
import TestSupport
import Testing

/// The transcripts in Tests/Programs/Transcripts, each with a daemon of its own. `## ` is before the sentence of a transcript,
/// `$ ` before the words of a countdownctl, in which single quotes hold a word together, and `% ` before a line for a shell.
///
/// What a command prints follows: standard output, then standard error with `! `, and `[exit CODE]` unless the code is 0.
/// `…` is any text within a line, `«REGEX»` what the expression matches, and TIME a time of day. Commands after `> `,
/// with semicolons between them, have to succeed, and may print anything.
///
/// A command after `& ` goes on, and each `| ` is a line that it prints. `^C` interrupts it, `fg` lets it end by itself; the rest
/// of what it prints follows, without ticks. Where `**` is, the daemon is killed and started again.
@Suite("countdownctl as it is typed")
struct CommandTranscriptTests {
    struct Transcript: Sendable, CustomTestStringConvertible {
        let sentence: String
        let lines: [String]

        var testDescription: String { sentence }
    }

    private static let transcripts = Result {
        let folder = BuiltProduct.packageDirectory.appendingPathComponent("Tests/Programs/Transcripts")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().flatMap { name in
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            return text.components(separatedBy: "## ").dropFirst().map { part in
                let lines = part.split(separator: "\n").map(String.init)
                return Transcript(sentence: lines[0], lines: Array(lines.dropFirst()))
            }
        }
    }

    @Test("a command prints what its transcript has, and has its exit code", arguments: try transcripts.get())
    func plays(transcript: Transcript) throws {
        var daemon = try DaemonProcess()
        defer { withExtendedLifetime(daemon) {} }
        let typist = Typist(daemon)
        var rest = transcript.lines[...]
        var job: RunningCommand?
        var seen = 0
        while let line = rest.popFirst() {
            let typed = String(line.dropFirst(2))
            let run: CommandRun
            switch line.prefix(2) {
            case "& ":
                (job, seen) = (try typist.begin(words: words(of: typed)), 0)
                if rest.first?.hasPrefix("|") != true { try typist.awaitWatchers(1) }
                continue
            case "| ", "|":
                let next = try #require(try job?.line(), "\(line)")
                #expect(fits(lines(of: next).first ?? "", typed), "\(next)")
                seen += next.isEmpty ? 0 : 1
                continue
            case "^C", "fg":
                if line == "^C" { job?.interrupt() }
                run = try #require(try job?.finish())
                job = nil
            case "**":
                try daemon.kill()
                daemon = try DaemonProcess(in: daemon.directory)
                if job != nil { try typist.awaitWatchers(1) }
                continue
            case "> ":
                for line in typed.components(separatedBy: "; ") {
                    let run = try typist.type(words: words(of: line))
                    #expect(run.exitCode == 0, "\(line)\n\(run.standardError)")
                }
                continue
            case "% ": run = try typist.type(shell: typed)
            default: run = try typist.type(words: words(of: typed))
            }
            var output = run.data
            if ["^C", "fg"].contains(line) {
                output = output.dropFirst(seen).filter { !$0.contains(#/^[^,]*: [0-9:]+ left$/#) }
            }
            let code = run.exitCode == 0 ? [] : ["[exit \(run.exitCode.map(String.init) ?? "by a signal")]"]
            let shown = output + run.messages.map { "! \($0)" } + code
            let expected = rest.prefix { !Self.prompts.contains(String($0.prefix(2))) }
            rest = rest.dropFirst(expected.count)
            let isExpected = shown.count == expected.count && zip(shown, expected).allSatisfy(fits)
            #expect(isExpected, "\(line)\n\(shown.joined(separator: "\n"))")
        }
    }

    private static let prompts: Set = ["$ ", "% ", "> ", "& ", "| ", "|", "^C", "fg", "**"]

    private func words(of line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { place, part in
            place.isMultiple(of: 2) ? part.split(separator: " ").map(String.init) : [String(part)]
        }
    }

    private func fits(_ shown: String, _ expected: String) -> Bool {
        let parts = expected.split(separator: #/[«»]/#, omittingEmptySubsequences: false).map(String.init)
        let pattern = parts.enumerated().map { place, part in
            place.isMultiple(of: 2)
                ? NSRegularExpression.escapedPattern(for: part).replacing("…", with: ".*") : "(?:\(part))"
        }
        return shown.range(of: "^\(pattern.joined())$", options: .regularExpression) != nil
    }
}
