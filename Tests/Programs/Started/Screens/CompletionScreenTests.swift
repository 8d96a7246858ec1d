import Foundation
import TestSupport
import Testing

@Suite("Completions in the shells themselves")
final class CompletionScreenTests: TerminalSuite {
    override init() throws {
        try super.init()
        for key in ["tea", "toast", "coffee", "alice@example.org", "sms:138"] { try run("start", key, "1h") }
    }

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

    @Test("Tab completes verbs, options, their values, and keys that the daemon has", arguments: shells.keys.sorted())
    func completes(_ shell: String) throws {
        let line = try #require(Self.shells[shell])
        let home = daemon.directory
        try home.makeDirectory(".ssh")
        try home.write("Host there *.example.org\n  Port 22\n", to: ".ssh/config")
        let terminal = try terminal(line, ["HOME": home.path])
        try terminal.wait(for: "the prompt") { $0.split(separator: "\n").last == ">" }
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
            ("list --ho", "list --host"),
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
