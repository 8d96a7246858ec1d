import TestSupport
import Testing

@Suite("Asking for a code in a terminal")
final class CodeTerminalTests: TerminalSuite {
    private func asking(_ options: String = "", columns: Int = 80) throws -> TerminalPane {
        let terminal = try terminal(
            "code=$(countdownctl ask-code \(options)); status=$?; echo \"<$code>\"; (exit $status)",
            columns: columns
        )
        try terminal.wait(for: "ctrl-c leave")
        return terminal
    }

    @Test("only the code goes to standard output, and a full code is accepted at once")
    func asks() throws {
        let terminal = try asking("--length 6")
        try terminal.type("12")
        try terminal.wait(for: "two digits") { $0.hasPrefix(" 1    2    ") }
        try terminal.type("\u{7F}3x４\u{1B}[D\u{1B}[D5")
        try terminal.wait(for: "what was mended") { $0.contains(#/^ 1    5    [4│]\n/#) }
        try terminal.type("\u{1B}[F789", untilExit: 0)
        #expect(try terminal.picture() == "<154789>\n[exit 0]")
    }

    @Test("the next box has the cursor, while the terminal has the keyboard")
    func cursor() throws {
        let terminal = try asking()
        try terminal.wait(for: "the cursor") { $0.hasPrefix(" │") }
        try terminal.type("\u{1B}[O1")
        try terminal.wait(for: "no cursor without the keyboard") { $0.hasPrefix(" 1\n") }
    }

    @Test("a paste in brackets is looked through for the code")
    func pastes() throws {
        let terminal = try asking()
        try terminal.paste("1: 1234 or 5678\n")
        try terminal.wait(for: "no code in the text, or several; type it")
        try terminal.paste("code 12-34, valid 5 min, parcel 27KX3141\n")
        try terminal.waitForExit(0)
        #expect(try terminal.picture().hasPrefix("<1234>"))
    }

    @Test("Ctrl-C exits with 130 and prints nothing, --timeout exits with 124")
    func leaves() throws {
        let terminal = try asking()
        try terminal.type("123\u{3}", untilExit: 130)
        #expect(try terminal.picture().contains("<>"))
        let late = try asking("--timeout 1s")
        try late.waitForExit(124)
        #expect(try late.picture().contains("<>"))
    }

    @Test("with --hidden there are dots, and with --confirm Enter accepts the code")
    func hides() throws {
        let terminal = try asking("--hidden --confirm")
        try terminal.type("1234", untilItLooksLike: "terminal-code-hidden")
        try terminal.type("\u{1B}[D9\r", untilExit: 0)
        #expect(try terminal.picture().hasPrefix("<1239>"))
    }

    @Test("a narrow terminal has less spacing, and on one that is too narrow the screen says so")
    func shrinks() throws {
        let terminal = try asking("--length 9 --spacing 4 --confirm")
        try terminal.type("123456789", until: "enter done")
        try terminal.resize(columns: 30, rows: 12)
        try terminal.wait(toLookLike: "terminal-code-30")
        try terminal.resize(columns: 24, rows: 12)
        try terminal.wait(toLookLike: "terminal-code-24")
    }

    @Test("without a terminal one line is read, and the input behind it is not")
    func reads() throws {
        let terminal = try terminal(
            "printf 'code 1234, valid 5 min\\nrest\\n' | { countdownctl ask-code; cat; }"
        )
        try terminal.waitForExit(0)
        #expect(try terminal.picture() == "1234\nrest\n[exit 0]")
        let none = try self.terminal("echo 12 | countdownctl ask-code")
        try none.waitForExit(64)
        #expect(try none.picture().contains("the input has no code of 4 digits"))
        let pipe = daemon.directory.path(of: "pipe")
        let never = try self.terminal("mkfifo '\(pipe)'; countdownctl ask-code --timeout 10ms 0<> '\(pipe)'")
        try never.waitForExit(124)
    }

    @Test("on a terminal that cannot be drawn on a line is typed")
    func readsFromDumbTerminal() throws {
        let terminal = try terminal("countdownctl ask-code", ["TERM": "dumb"])
        try terminal.wait(for: "code (4 characters):")
        try terminal.type("1234\r", until: "\n1234\n[exit 0]")
    }

    @Test("the button beside it resends, counts, and still counts when the code is asked for again")
    func resends() throws {
        let terminal = try asking("--key login --for 1h --resend 'echo sent by $0; exit 0'")
        try terminal.wait(toLookLike: "terminal-code-button")
        try terminal.type("\t\r", until: "Resend in 3")
        #expect(try terminal.picture().hasPrefix("sent by sh"))
        try terminal.type("1\u{3}", untilExit: 130)
        let again = try asking("--key login --resend true")
        try again.wait(for: "the same hour") { $0.contains(#/Resend in 3[56][0-9]{2} s/#) }
    }

    @Test("a click on the button resends")
    func clicks() throws {
        let terminal = try asking("--key login --resend true")
        let lines = try terminal.wait(for: "┃  ").split(separator: "\n", omittingEmptySubsequences: false)
        let row = try #require(lines.firstIndex { $0.contains("Resend") })
        try terminal.click(row: row, column: 26)
        try terminal.wait(for: "Resend in")
    }

    @Test("invalid arguments are refused", arguments: ["--length 0", "--spacing 99", "--key login", "--resend true"])
    func refuses(options: String) throws {
        let terminal = try terminal("countdownctl ask-code \(options)")
        try terminal.waitForExit(64)
    }
}
