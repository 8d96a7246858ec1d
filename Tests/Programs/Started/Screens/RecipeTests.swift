import Foundation
import TestSupport
import Testing

/// The recipes in the README, run as they stand there.
@Suite("The recipes")
final class RecipeTests: TerminalSuite {
    private let programs: TemporaryDirectory

    /// The programs that the recipes call write their arguments to a file.
    override init() throws {
        programs = try TemporaryDirectory()
        for name in ["send-code", "restic"] {
            try programs.write(program: "echo \"$0 $*\" >> '\(programs.path(of: "calls"))'", to: name)
        }
        try super.init()
    }

    /// A terminal in which the lines of a recipe were typed.
    private func play(_ recipe: String) throws -> TerminalPane {
        let readme = try BuiltProduct.text(of: "README.md")
        let blocks = readme.matches(of: #/<!-- RecipeTests: ([a-z]+) -->\n```sh\n((?s).*?)```/#)
        let block = try #require(blocks.first { $0.1 == recipe }, "the README has no recipe \(recipe)")
        #expect(blocks.count == 6)
        let built = try BuiltProduct.folder()
        return try terminal(String(block.2), ["PATH": "\(built):\(programs.path):/usr/bin:/bin"], rows: 24)
    }

    /// The calls of other programs, without their folder.
    private func calls() throws -> [String] {
        try String(contentsOfFile: programs.path(of: "calls"), encoding: .utf8)
            .replacing("\(programs.path)/", with: "").split(separator: "\n").map(String.init)
    }

    @Test("the button sends once, and still counts when it is drawn again")
    func button() throws {
        let first = try play("button")
        try first.wait(for: "enter press")
        try first.type("\r")
        try first.wait(for: "the countdown") { $0.contains(#/│ +[56][0-9] s +│/#) }
        try first.type("\r\u{3}", untilExit: 130)
        let second = try play("button")
        try second.wait(for: "the countdown") { $0.contains(#/│ +[1-6]?[0-9] s +│/#) }
        #expect(try calls() == ["send-code 138"])
    }

    @Test("the field takes a pasted code")
    func field() throws {
        let terminal = try play("field")
        try terminal.wait(for: "ctrl-c leave")
        try terminal.paste("Your code is 123456, valid for 5 min\n")
        try terminal.waitForExit(0)
        #expect(try terminal.picture().hasSuffix("the code is 123456\n[exit 0]"))
    }

    @Test("the tea runs on when its bar is left")
    func tea() throws {
        let terminal = try play("tea")
        try terminal.wait(for: "space pause")
        #expect(try terminal.picture().contains(#/tea \(Green tea\) +[34]:[0-9]{2} +▕/#))
        try terminal.type("q", untilExit: 130)
        #expect(try run("is-running", "tea").exitCode == 0)
    }

    @Test("the backup runs once a day")
    func cooldown() throws {
        let terminal = try play("cooldown")
        try terminal.waitForExit(75)
        #expect(try terminal.picture().contains("backup: again in "))
        #expect(try calls() == ["restic backup /home"])
    }

    @Test("three codes are sent, and the fourth is told when to come again")
    func rate() throws {
        let terminal = try play("rate")
        try terminal.waitForExit(75)
        #expect(try terminal.picture().contains(#/codes\/138: again in 3:[12][0-9]/#))
        #expect(try calls() == Array(repeating: "send-code 138", count: 3))
    }

    @Test("one countdown serves several programs")
    func shared() throws {
        let terminal = try play("shared")
        try terminal.waitForExit(0)
        let picture = try terminal.picture()
        #expect(picture.contains("sms/138: started") && picture.contains("sms/138: already running"))
        #expect(picture.contains("not yet\n"))
    }
}
