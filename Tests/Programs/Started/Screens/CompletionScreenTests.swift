import Foundation
import TestSupport
import Testing

@Suite("Completions in the shells themselves")
final class CompletionScreenTests: TerminalSuite {
    override init() throws {
        try super.init()
        for key in ["tea", "toast", "coffee", "alice@example.org", "sms:138", "sms/138"] + Self.difficult {
            try run("start", "--key=\(key)", "1h")
        }
    }

    /// Keys that a shell would divide or expand, or take for an option.
    private static let difficult = [
        "Green tea", "it's 5", "z$b `c`", "h*\u{8336} x", "q\"x\" y", "Jo's \"x\"", "-dash", "u/138",
    ]

    /// A line that becomes a shell, which has read our script as `make install` has it read.
    private static let shells = [
        "bash": """
        countdownctl --generate-completion-script bash > "$HOME/completions"
        echo 'PS1="> "; . ~/completions; clear' > "$HOME/.bashrc"
        exec bash --rcfile "$HOME/.bashrc" -i
        """,
        "zsh": """
        countdownctl --generate-completion-script zsh > "$HOME/_countdownctl"
        echo 'PS1="> "; fpath=(~ $fpath); autoload -U compinit; compinit -u -D; clear' > "$HOME/.zshrc"
        exec zsh -i
        """,
        "fish": """
        mkdir -p "$HOME/.config/fish/completions"
        countdownctl --generate-completion-script fish > "$HOME/.config/fish/completions/countdownctl.fish"
        echo 'function fish_prompt; echo "> "; end; clear' > "$HOME/.config/fish/config.fish"
        exec fish -i
        """,
    ]

    /// A terminal with a shell that has read our script.
    private func prompt(of shell: String) throws -> TerminalPane {
        let line = try #require(Self.shells[shell])
        let terminal = try terminal(line, ["HOME": daemon.directory.path])
        try terminal.wait(for: "the prompt") { $0.split(separator: "\n").last == ">" }
        return terminal
    }

    @Test("a completed key is that key, however it was begun", arguments: shells.keys.sorted())
    func quotes(_ shell: String) throws {
        let terminal = try prompt(of: shell)
        // Each key is begun in one of three ways, and each way is taken by keys with blanks, quotes and signs.
        for (place, key) in Self.difficult.enumerated() {
            let letter = String(key.prefix(1))
            let beginning = ["\\\(letter)", "'\(letter)", "\"\(letter)"][place % 3]
            try terminal.type("countdownctl show --format '<{key}>' -- \(beginning)\t\r", until: "<\(key)>")
            try terminal.type("clear\r")
            try terminal.wait(for: "an empty screen") { !$0.contains("countdownctl") }
        }
    }

    @Test("bash lists whole keys")
    func listsKeys() throws {
        for key in ["sms/139", "sms:139"] { try run("start", key, "1h") }
        let terminal = try prompt(of: "bash")
        for sign in ["/", ":"] {
            try terminal.type("countdownctl cancel sms\(sign)\t\t\t", until: "sms\(sign)138  sms\(sign)139")
            try terminal.type("\u{15}")
        }
    }

    @Test("Tab completes verbs, options, their values, and keys that the daemon has", arguments: shells.keys.sorted())
    func completes(_ shell: String) throws {
        let home = daemon.directory
        try home.makeDirectory(".ssh")
        try home.write("Host there *.example.org\n  Port 22\n", to: ".ssh/config")
        let terminal = try prompt(of: shell)
        for (typed, whole) in [
            ("cancel te", "cancel tea"), ("cancel @n", "cancel @next"), ("toggle tea @l", "toggle tea @last"),
            ("show @n", "show @next"), ("show @last --fo", "show @last --format"),
            ("show alice@ex", "show alice@example.org"), ("cancel sms:1", "cancel sms:138"),
            ("stat", "status"), ("list --rev", "list --reverse"),
            ("adjust co", "adjust coffee"),
            ("list --sort star", "list --sort started"), ("watch --format wa", "watch --format waybar"),
            ("list --state pau", "list --state paused"), ("wait coffee toa", "wait coffee toast"),
            ("watch --on fin", "watch --on finished"), ("start te", "start tea"),
            ("--ho", "--host"), ("--host the", "--host there"), ("--host there stat", "--host there status"),
            ("list --ho", "list --host"), ("help sno", "help snooze"), ("show -- -d", "show -- -dash"),
        ] {
            try terminal.type("countdownctl \(typed)\t")
            // The next typed word is separated from a completion, but not from a mere suggestion.
            try terminal.type("x")
            // bash completes with a backslash before @, and zsh before :, which changes nothing.
            let line = "countdownctl \(whole) x"
            try terminal.wait(for: line) { $0.replacing("\\", with: "").contains(line) }
            try terminal.type("\u{15}")
            try terminal.wait(for: "an empty line") { !$0.contains("countdownctl") }
        }
    }
}
