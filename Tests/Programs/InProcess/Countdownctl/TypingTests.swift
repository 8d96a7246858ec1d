import ArgumentParser
import Foundation
import IPC
import System
import Testing

@testable import countdownctl

@Suite("Command line arguments")
struct TypingTests {
    @Test(
        "a negative amount or duration is a value",
        arguments: rows(
            """
            adjust tea -1m → adjust tea --by=-1m
            adjust tea -.5h -q → adjust tea --by=-.5h -q
            adjust -- tea -1m → adjust -- tea -1m
            adjust tea -q -1m → adjust tea -q --by=-1m
            cancel tea -1m → cancel tea -1m
            start tea 5m --queue --queue-timeout -5m → start tea 5m --queue --queue-timeout=-5m
            start tea --until 17:30 tomorrow --fail → start tea --until 17:30 tomorrow --fail
            start tea -5m → start tea --for=-5m
            run tea -5m -- true -5m → run tea --for=-5m -- true -5m
            start tea --for -5m → start tea --for=-5m
            wait tea --timeout -.5h → wait tea --timeout=-.5h
            watch --tick -1s --json → watch --tick=-1s --json
            start --label -5 tea → start --label -5 tea
            run tea -E -5 -- true → run tea -E -5 -- true
            """
        )
    )
    func normalizes(typed: String, put: String) {
        #expect(ArgumentNormalizer.normalize(typed.components(separatedBy: " ")).joined(separator: " ") == put)
    }

    @Test(
        "an alias stands for its command for the parser, the short help, the other machine and the report of an error",
        arguments: [
            ("ls", "list"), ("ps", "list"), ("rm", "cancel"), ("delete", "cancel"), ("unpause", "resume"),
            ("get", "show"),
        ]
    )
    func knowsAliases(_ alias: String, _ name: String) throws {
        let command = try #require(Subcommands.named(alias))
        #expect(command.name.rawValue == name)
        #expect(UnknownCommand([alias, "tea"]) == nil)
        #expect(ObjectIdentifier(type(of: try Countdownctl.parseAsRoot([alias]))) == ObjectIdentifier(command))
        #expect(
            ShortHelp([alias, "-h"], of: Countdownctl.configuration)
                == ShortHelp([name, "-h"], of: Countdownctl.configuration)
        )
    }

    @Test("each command has its own names")
    func namesOnce() {
        let names = CommandName.allCases.flatMap { [$0.rawValue] + $0.aliases }
        #expect(Set(names).count == names.count)
        for name in CommandName.allCases {
            let command = Subcommands.type(of: name)
            #expect(command.name == name)
            #expect(command.configuration.commandName == name.rawValue)
            #expect(command.configuration.aliases == name.aliases)
        }
        let grouped = CommandName.groups.flatMap(\.commands)
        #expect(grouped.count == CommandName.allCases.count)
        #expect(Set(grouped) == Set(CommandName.allCases))
    }

    @Test(
        "an unknown command is answered with advice on the right one",
        arguments: rows(
            """
            restart tea 5m → unknown command 'restart'; `countdownctl start tea 5m --restart` starts it again
            restart → unknown command 'restart'; `countdownctl start KEY --restart` starts it again
            stop tea → unknown command 'stop'; `countdownctl cancel tea` ends it, `countdownctl pause tea` keeps the remaining \
            time
            add tea 5m → unknown command 'add'; `countdownctl start tea 5m` starts a countdown, `countdownctl adjust tea +5m` \
            adds time
            abort a;b → unknown command 'abort'; `countdownctl cancel 'a;b'` ends it, `countdownctl pause 'a;b'` keeps the \
            remaining time
            strat tea 5m → unknown command 'strat'; did you mean `countdownctl start tea 5m`?
            lst → unknown command 'lst'; did you mean `countdownctl list`?
            frobnicate → unknown command 'frobnicate'; `countdownctl -h` lists the commands
            sta → unknown command 'sta'; `countdownctl -h` lists the commands
            crash tea → unknown command 'crash'; `countdownctl -h` lists the commands
            """
        )
    )
    func answersMistakes(_ typed: String, _ sentence: String) throws {
        let words = typed.split(separator: " ").map(String.init)
        #expect(try #require(UnknownCommand(words)).sentence == sentence)
    }

    @Test("subcommands, options and an empty command line are not unknown commands")
    func passesVerbs() {
        #expect(UnknownCommand(["start", "tea"]) == nil)
        #expect(UnknownCommand(["--help"]) == nil)
        #expect(UnknownCommand([]) == nil)
    }

    @Test("subcommands cannot be abbreviated", arguments: ["sta", "li", "c"])
    func refusesAbbreviations(_ word: String) {
        #expect(throws: (any Error).self) { try Countdownctl.parseAsRoot([word, "tea"]) }
    }

    @Test("a duration in the place of the subcommand stands for timer, and no subcommand looks like a duration")
    func expandsTimers() {
        #expect(Invocation(arguments: ["5m", "tea"]).arguments == ["timer", "5m", "tea"])
        #expect(Invocation(arguments: ["1h30"]).arguments == ["timer", "1h30"])
        #expect(Invocation(arguments: ["at", "17:30"]).arguments == ["timer", "at", "17:30"])
        #expect(Invocation(arguments: ["tea", "5m"]).arguments == ["tea", "5m"])
        #expect(Invocation(arguments: []).arguments == [])
        for name in CommandName.allCases.flatMap({ [$0.rawValue] + $0.aliases }) {
            #expect(!TimerWords.isBeginning([name]))
        }
    }

    @Test("words are quoted for a shell")
    func quotes() {
        #expect(ShellWord.quote("tea") == "tea")
        #expect(ShellWord.quote("login/+8613800138000") == "login/+8613800138000")
        #expect(ShellWord.quote("") == "''")
        #expect(ShellWord.quote("it's") == "'it'\\''s'")
        #expect(ShellWord.quote("it'\u{301}s") == "'it'\\''\u{301}s'")
        #expect(ShellWord.quote("*") == "'*'")
        #expect(ShellWord.quote("a\\b") == "'a\\b'")
        #expect(ShellWord.quote("it's\u{1B}\\\u{200B}\u{E0041}") == "$'it\\'s\\u001b\\\\\\u200b\\U000e0041'")
    }

    @Test("the help of every subcommand begins with examples, and has the usage")
    func helpsWithExamples() throws {
        #expect(Countdownctl.configuration.subcommands.count >= 13)
        for subcommand in Countdownctl.configuration.subcommands {
            let name = try #require(subcommand.configuration.commandName)
            let help = Countdownctl.helpMessage(for: subcommand, columns: 80)
            let lines = help.split(separator: "\n")
            #expect(lines[1] == "Examples:", "\(name)")
            #expect(lines[2].hasPrefix("  "), "\(name)")
            #expect(lines[2].contains("countdownctl \(name)"), "\(name)")
            #expect(help.contains("USAGE: countdownctl \(name)"), "\(name)")
        }
        #expect(Countdownctl.helpMessage(columns: 80).split(separator: "\n")[1] == "Examples:")
    }
}
