import CountdownControls
import IPC
import System
import Testing
import Varlink

@testable import countdownctl

@Suite("Asking for a code")
struct CodeScreenTests {
    private static let start = Start(key: "login", durationUSec: 60_000_000)
    private static let held = Start(key: "login", durationUSec: 60_000_000, ifRunning: .fail, metadata: [:])
    private static let resend = ShellCommand.line("send-code")

    private var button: CommandButton {
        let titles = CountdownButton.Titles(idle: "Resend", counting: "Resend in {s} s")
        return CommandButton(titles, command: Self.resend, start: Self.start)
    }

    private func screen(
        _ typed: String = "",
        length: Int = 4,
        spacing: Int = 2,
        button: CommandButton? = nil,
        isHidden: Bool = false,
        confirms: Bool = false
    ) -> CodeScreen {
        var screen = CodeScreen(
            CodeField(length: length, spacing: spacing),
            button: button,
            isHidden: isHidden,
            confirms: confirms
        )
        for character in typed { _ = screen.handle(.key(.character(character))) }
        return screen
    }

    @Test("the line under a filled box lights, and the next box has the cursor, which the terminal lets blink")
    func draws() throws {
        try expect(screen("12").frame(on: .plain()).lines, toLookLike: "code-two")
        try expect(screen("12").frame(on: .plain(.ascii)).lines, toLookLike: "code-two-ascii")
        try expect(screen("12", isHidden: true).frame(on: .plain()).lines, toLookLike: "code-two-hidden")
        #expect(screen("12").hasCursor)
    }

    @Test("codes of 2 to 9 characters fit with every spacing, on every terminal", arguments: 2...9)
    func fits(length: Int) throws {
        for spacing in 0...8 {
            let screen = screen("1", length: length, spacing: spacing)
            for columns in 1...100 {
                let lines = screen.frame(on: .plain(columns: columns)).lines
                #expect(lines.allSatisfy { $0.width <= columns })
                let wanted = length * 3 + (length - 1) * spacing
                if columns >= wanted { #expect(lines[1].width == wanted) }
                if columns >= length * 3 { #expect(lines[0].text.hasPrefix(" 1 ")) }
            }
        }
        try expect(screen("1", length: length, spacing: 1).frame(on: .plain()).lines, toLookLike: "code-of-\(length)")
    }

    @Test("a narrow terminal shrinks the spacing, and one that is too narrow shows a notice")
    func shrinks() throws {
        let screen = screen("12345", length: 9, spacing: 4)
        try expect(screen.frame(on: .plain(columns: 45)).lines, toLookLike: "code-45")
        try expect(screen.frame(on: .plain(columns: 29)).lines, toLookLike: "code-29")
        try expect(screen.frame(on: .plain(columns: 20)).lines, toLookLike: "code-20")
    }

    @Test("a full code is taken at once")
    func takes() {
        var screen = screen("123")
        #expect(screen.handle(.key(.character("x"))).isEmpty)
        #expect(screen.handle(.key(.character("4"))) == [.leave(.success)])
        #expect(screen.input.code == "1234")
        #expect(!screen.hasCursor)
        var other = self.screen()
        #expect(other.handle(.paste("code 5678, valid 5 min")) == [.leave(.success)])
        #expect(other.input.code == "5678")
    }

    @Test("a pasted text without a code, or with several, changes nothing, and that is said")
    func findsNone() {
        var screen = screen("1")
        for text in ["1234 or 5678", "on 14.03.2026 at 10:30"] {
            #expect(screen.handle(.paste(text)).isEmpty)
            #expect(String(screen.input.characters) == "1")
            #expect(screen.frame(on: .plain()).lines.last?.text == "no code in the text, or several; type it")
        }
        _ = screen.handle(.key(.character("2")))
        #expect(screen.frame(on: .plain()).lines.last?.text == "ctrl-c leave")
    }

    @Test("with --confirm a full code has no cursor and can be mended until Enter")
    func confirms() throws {
        var screen = screen("12", confirms: true)
        #expect(screen.handle(.key(.enter)).isEmpty)
        try expect(screen.frame(on: .plain()).lines, toLookLike: "code-missing-two")
        _ = screen.handle(.paste("34"))
        #expect(!screen.hasCursor)
        try expect(screen.frame(on: .plain()).lines, toLookLike: "code-to-confirm")
        for key in [TerminalKey.character("9"), .home, .right, .character("7"), .end, .backspace, .character("8")] {
            #expect(screen.handle(.key(key)).isEmpty)
        }
        #expect(screen.handle(.key(.enter)) == [.leave(.success)])
        #expect(screen.input.code == "1738")
    }

    @Test("every editing key has its effect")
    func edits() {
        var screen = screen("123", confirms: true)
        for key in [TerminalKey.left, .left, .delete, .up, .escape, .control("l"), .backspace] {
            _ = screen.handle(.key(key))
        }
        #expect(String(screen.input.characters) == "3")
    }

    @Test("the cursor rests while the terminal has no keyboard")
    func rests() {
        var screen = screen("12")
        _ = screen.handle(.focus(false))
        #expect(!screen.hasCursor)
        #expect(!screen.frame(on: .plain()).lines[0].text.contains("│"))
        _ = screen.handle(.focus(true))
        #expect(screen.hasCursor)
    }

    @Test("the button is beside the boxes, or below them if there is no room", arguments: [79, 30, 12])
    func drawsButton(columns: Int) throws {
        var screen = screen("12", button: button)
        _ = screen.handle(told(.attached, countdown("login", 30, of: 60)))
        _ = screen.handle(synced)
        let frame = screen.frame(on: .plain(columns: columns))
        #expect(frame.lines.allSatisfy { $0.width <= columns })
        try expect(frame.lines, toLookLike: "code-button-\(columns)")
        let target = try #require(frame.target)
        let row = frame.lines[target.rows.lowerBound + target.rows.count / 2].text
        #expect(row.contains(columns == 12 ? "[Resend in" : "Resend in 30 s"))
    }

    @Test("tab moves to the button, where enter presses it; digits go to the boxes again")
    func pressesButton() throws {
        var screen = screen("12", button: button)
        _ = screen.handle(synced)
        try expect(screen.frame(on: .plain()).lines, toLookLike: "code-button-idle")
        #expect(screen.handle(.key(.enter)).isEmpty)
        _ = screen.handle(.key(.tab))
        #expect(!screen.hasCursor)
        #expect(screen.frame(on: .plain()).lines.last?.text == "enter press   tab to the code   ctrl-c leave")
        #expect(screen.handle(.key(.enter)).withoutToken == [.call(.start(Self.held))])
        // While the button cannot be pressed, no press is offered.
        #expect(screen.frame(on: .plain()).lines.last?.text == "tab to the code   ctrl-c leave")
        _ = screen.handle(.key(.character("3")))
        #expect(String(screen.input.characters) == "123")
        #expect(screen.hasCursor)
    }

    @Test("a click presses the button")
    func clicksButton() {
        var screen = screen(button: button)
        _ = screen.handle(synced)
        #expect(screen.handle(.click).withoutToken == [.call(.start(Self.held))])
        #expect(screen.handle(.click).isEmpty)
    }

    @Test("a full code waits for the command that runs, as its countdown would not be started")
    func waitsForCommand() {
        var screen = screen("123", button: button)
        _ = screen.handle(synced)
        _ = screen.handle(.click)
        #expect(screen.handle(.key(.character("4"))).isEmpty)
        #expect(screen.handle(.key(.backspace)).isEmpty)
        let answered = screen.handle(.answered(.success(countdown("login", 60, of: 60))))
        #expect(answered == [.wake(at: 30_000_000), .run(Self.resend)])
        #expect(screen.frame(on: .plain()).lines.last?.text.contains("waiting for the command") == true)
        let ended = screen.handle(.ended(CommandEnding(cause: .ended(.exited(code: 0)))))
        #expect(ended == [.print([]), .wake(at: nil), .leave(.success)])
        #expect(screen.input.code == "1234")
    }

    @Test("without a button tab does nothing")
    func hasNoButton() {
        var screen = screen("12")
        _ = screen.handle(.key(.tab))
        #expect(screen.hasCursor)
        #expect(screen.handle(.click).isEmpty)
    }

    @Test("the code does not stay on the terminal")
    func remains() {
        #expect(screen("1234").remains(on: .plain()).isEmpty)
    }
}

extension CodeScreen {
    fileprivate var hasCursor: Bool {
        var canvas = Canvas.plain()
        canvas.palette = Palette(isColoured: true)
        return frame(on: canvas).lines.contains { $0.text.contains("\u{1B}[1m │ \u{1B}[0m") }
    }
}
