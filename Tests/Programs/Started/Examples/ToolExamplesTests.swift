import Foundation
import IPC
import TestSupport
import Testing

/// The examples that put countdowns into other tools: hooks, menus and prompts.
@Suite("Examples for hooks, menus and prompts")
final class ToolExamplesTests: CommandSuite {
    private func example(_ path: String) -> String {
        BuiltProduct.source("examples/\(path)")
    }

    /// Starts a command with countdownctl, and with programs that are shell scripts, in PATH.
    private func use(
        _ words: [String],
        _ environment: [String: String] = [:],
        with programs: [String: String] = [:]
    ) throws -> RunningCommand {
        for (name, text) in programs { try directory.write(program: text, to: name) }
        let built = try BuiltProduct.folder()
        let variables = [
            "COUNTDOWND_SOCKET": daemon.socketPath, "HOME": directory.path,
            "PATH": "\(directory.path):\(built):/usr/bin:/bin",
        ]
        return try RunningCommand(
            words,
            executable: "/usr/bin/env",
            environment: variables.merging(environment) { _, given in given }
        )
    }

    private func duration(_ key: String) throws -> String? {
        try member("durationUSec", of: typist.type(words: ["show", key, "--json"]).standardOutput)
    }

    private func awaitState(_ state: String, of key: String) throws {
        try waitUntil("\(key) to be \(state)") {
            // An unknown key has no JSON.
            try typist.type(words: ["show", key, "--json"]).standardOutput.contains("\"state\":\"\(state)\"")
        }
    }

    @Test("work and break start each other, in two lines, and nothing starts after a cancellation")
    func pomodoro() throws {
        let script = example("shell/pomodoro.sh")
        let lines = try String(contentsOfFile: script, encoding: .utf8).split(separator: "\n")
        #expect(lines.filter { !$0.hasPrefix("#") }.count == 2)
        // It passes SIGTERM on to both lines.
        let run = try use(["timeout", "600", "sh", script])
        try typist.awaitWatchers(2)
        _ = try typist.type("start work 25m")
        for (ended, next, length) in [
            ("work", "break", "300000000"), ("break", "work", "1500000000"), ("work", "break", "300000000"),
        ] {
            _ = try typist.type("finish \(ended)")
            try awaitState("running", of: next)
            #expect(try duration(next) == length)
        }
        _ = try typist.type("cancel break")
        #expect(try typist.type("list").messages == ["no countdowns"])
        run.process.send(signal: SIGTERM)
        _ = try run.finish()
    }

    /// A web server that takes one request, and prints its path and its text.
    private static let server = """
        import http.server

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(200)
                self.end_headers()
                print(self.path, text, flush=True)

            def log_message(self, *words):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.handle_request()
        """

    @Test("the hook for phones posts the label of the countdown to the address, and fails if that refuses it")
    func phone() throws {
        let server = try RunningCommand(["-c", Self.server], executable: "/usr/bin/python3")
        let port = try #require(try server.line())
        let words = ["watch", "-q", "--on", "finished", "--exec", example("shell/phone")]
        let watch = try use(["countdownctl"] + words, ["PUSH_URL": "http://127.0.0.1:\(port)/topic"])
        try typist.awaitWatchers(1)
        _ = try typist.type(words: ["timer", "1h", "Green", "@tea"])
        _ = try typist.type("finish @next")
        #expect(try server.line() == "/topic Green @tea: finished")
        #expect(try server.finish().exitCode == 0)
        #expect(try watch.stop().messages == [])
        let unset = try use([example("shell/phone")], ["COUNTDOWN_KEY": "tea"]).finish()
        #expect(unset.exitCode != 0 && unset.standardError.contains("set it to the address"))
    }

    @Test("the menu lists the countdowns in fifteen lines; a choice toggles, and other text starts a timer")
    func menu() throws {
        let script = example("shell/countdown-menu.sh")
        #expect(try String(contentsOfFile: script, encoding: .utf8).split(separator: "\n").count <= 15)
        /// Runs the menu with a stand-in that prints its input and chooses a text.
        func choose(_ choice: String, in program: String) throws -> CommandRun {
            let stand = "printf '%s\\n' \"$*\" > \"$HOME/menu\"; cat >> \"$HOME/menu\"; \(choice)"
            return try use(["bash", script], with: [program: stand]).finish()
        }
        func shown() throws -> [String] {
            try String(contentsOfFile: directory.path(of: "menu"), encoding: .utf8).split(separator: "\n")
                .map(String.init)
        }
        #expect(try choose("echo '1h Green tea'", in: "fuzzel").exitCode == 0)
        #expect(try shown() == ["--dmenu --prompt countdown "])
        _ = try typist.type("pause @next")
        _ = try typist.type("start egg 2h")
        #expect(try choose("tail -n 1 \"$HOME/menu\"", in: "rofi").exitCode == 0)
        let lines = try shown()
        #expect(lines[0] == "-dmenu -p countdown" && lines[2] == "Green tea  1:00:00  paused")
        try awaitState("running", of: "timer/green-tea")
        #expect(try choose("sed -n 2p \"$HOME/menu\"", in: "rofi").exitCode == 0)
        try awaitState("paused", of: "timer/green-tea")
        #expect(try choose("exit 1", in: "rofi").exitCode == 0)
        #expect(try typist.type("list --no-legend").data.count == 2)
    }

    @Test("the module for starship prints the countdown that ends first, and nothing without one")
    func starship() throws {
        let settings = try BuiltProduct.text(of: "examples/prompt/starship.toml")
        let command = try #require(settings.firstMatch(of: #/\ncommand = "(.*)"\n/#)).1
        #expect(settings.contains("\nwhen = true\n"))
        #expect(try use(["sh", "-c", String(command)]).finish().standardOutput.isEmpty)
        _ = try typist.type("1h Green tea")
        _ = try typist.type("pause @next")
        #expect(try use(["sh", "-c", String(command)]).finish().standardOutput == "Green tea 1:00:00\n")
    }
}
