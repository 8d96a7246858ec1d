import ArgumentParser
import Foundation
import IPC
import Testing

@testable import countdownctl

@Suite("What is typed")
struct TypingTests {
    @Test("an amount with a minus sign behind adjust is a value, and --json takes none that follows")
    func normalizes() {
        #expect(ArgumentNormalizer.normalize(["adjust", "tea", "-1m"]) == ["adjust", "tea", "--by=-1m"])
        #expect(ArgumentNormalizer.normalize(["adjust", "tea", "-.5h", "-q"]) == ["adjust", "tea", "--by=-.5h", "-q"])
        #expect(ArgumentNormalizer.normalize(["adjust", "--", "tea", "-1m"]) == ["adjust", "--", "tea", "-1m"])
        #expect(ArgumentNormalizer.normalize(["adjust", "tea", "-q", "-1m"]) == ["adjust", "tea", "-q", "--by=-1m"])
        #expect(ArgumentNormalizer.normalize(["cancel", "tea", "-1m"]) == ["cancel", "tea", "-1m"])
        #expect(ArgumentNormalizer.normalize(["show", "--json", "tea"]) == ["show", "--json=short", "tea"])
        #expect(
            ArgumentNormalizer.normalize(["run", "tea", "--", "x", "--json"]) == ["run", "tea", "--", "x", "--json"]
        )
    }

    @Test(
        "a length with a minus sign is no option, so that its verb says what is wrong with it",
        arguments: [
            ("start tea -5m", "start tea --for=-5m"), ("run tea -5m -- true -5m", "run tea --for=-5m -- true -5m"),
            ("start tea --for -5m", "start tea --for=-5m"), ("wait tea --timeout -.5h", "wait tea --timeout=-.5h"),
            ("watch --tick -1s --json", "watch --tick=-1s --json=short"),
            ("start --label -5 tea", "start --label -5 tea"), ("run tea -E -5 -- true", "run tea -E -5 -- true"),
        ]
    )
    func normalizesLengths(typed: String, put: String) {
        #expect(ArgumentNormalizer.normalize(typed.components(separatedBy: " ")).joined(separator: " ") == put)
    }

    @Test("--json stands alone or has its style behind =, whatever follows")
    func takesStyles() throws {
        func style(_ words: String...) throws -> JSONStyle? {
            try ShowCommand.parse(ArgumentNormalizer.normalize(words)).options.json
        }
        #expect(try style("tea") == nil)
        #expect(try style("--json", "tea", "-q") == .short)
        #expect(try style("--json=pretty", "-q", "tea") == .pretty)
        #expect(throws: (any Error).self) { try style("--json=tall", "tea") }
    }

    private let verbs = ["start", "show", "list", "watch", "cancel", "pause", "resume", "adjust"]

    @Test(
        "a word that is no verb is answered with the verb that is meant",
        arguments: [
            ("restart tea 5m", "unknown command 'restart'; `countdownctl start tea 5m --restart` starts it again"),
            ("restart", "unknown command 'restart'; `countdownctl start KEY --restart` starts it again"),
            (
                "stop tea",
                "unknown command 'stop'; `countdownctl cancel tea` ends it, `countdownctl pause tea` keeps the remaining time"
            ),
            (
                "add tea 5m",
                "unknown command 'add'; `countdownctl start tea 5m` starts a countdown, `countdownctl adjust tea +5m` adds time"
            ),
            ("rm a;b", "unknown command 'rm'; `countdownctl cancel 'a;b'` ends it"),
            ("ls", "unknown command 'ls'; did you mean `countdownctl list`?"),
            ("strat tea 5m", "unknown command 'strat'; did you mean `countdownctl start tea 5m`?"),
            ("lst", "unknown command 'lst'; did you mean `countdownctl list`?"),
            ("frobnicate", "unknown command 'frobnicate'; `countdownctl --help` lists the commands"),
            ("sta", "unknown command 'sta'; did you mean `countdownctl start KEY`?"),
        ]
    )
    func answersMistakes(_ typed: String, _ sentence: String) throws {
        let words = typed.split(separator: " ").map(String.init)
        #expect(try #require(UnknownCommand(words, verbs: verbs)).sentence(verbs: verbs) == sentence)
    }

    @Test("verbs, options and nothing at all are no mistakes")
    func passesVerbs() {
        #expect(UnknownCommand(["start", "tea"], verbs: verbs) == nil)
        #expect(UnknownCommand(["--help"], verbs: verbs) == nil)
        #expect(UnknownCommand([], verbs: verbs) == nil)
    }

    @Test("no verb can be abbreviated", arguments: ["sta", "li", "c"])
    func refusesAbbreviations(_ word: String) {
        #expect(throws: (any Error).self) { try Countdownctl.parseAsRoot([word, "tea"]) }
    }

    @Test("words are quoted as a shell takes them")
    func quotes() {
        #expect(ShellWord.quote("tea") == "tea")
        #expect(ShellWord.quote("login/+8613800138000") == "login/+8613800138000")
        #expect(ShellWord.quote("") == "''")
        #expect(ShellWord.quote("it's") == "'it'\\''s'")
        #expect(ShellWord.quote("*") == "'*'")
        #expect(ShellWord.quote("a\\b") == "'a\\b'")
        #expect(ShellWord.quote("it's\u{1B}\\\u{200B}\u{E0041}") == "$'it\\'s\\u001b\\\\\\u200b\\U000e0041'")
    }

    @Test("every verb's help begins with examples, and names what they use")
    func helpsWithExamples() throws {
        #expect(Countdownctl.configuration.subcommands.count >= 13)
        for verb in Countdownctl.configuration.subcommands {
            let name = try #require(verb.configuration.commandName)
            let help = Countdownctl.helpMessage(for: verb, columns: 80)
            let lines = help.split(separator: "\n")
            #expect(lines[1] == "Examples:", "\(name)")
            #expect(lines[2].hasPrefix("  "), "\(name)")
            #expect(lines[2].contains("countdownctl \(name)"), "\(name)")
            #expect(help.contains("USAGE: countdownctl \(name)"), "\(name)")
        }
        #expect(Countdownctl.helpMessage(columns: 80).split(separator: "\n")[1] == "Examples:")
    }

    @Test("what a help says at its beginning fits into 80 columns")
    func helpFits() {
        let verbs = Countdownctl.configuration.subcommands.map { $0.configuration }
        let lines = (verbs + [Countdownctl.configuration]).flatMap { $0.discussion.split(separator: "\n") }
        #expect(lines.filter { $0.count > 80 } == [])
    }
}
