import Foundation
import TestSupport
import Testing

/// The commands of the status bar examples, run and read as the bars do.
@Suite("Countdowns in bars")
struct BarTests {
    private let daemon: DaemonProcess
    private let typist: Typist
    /// A label with markup and commands of the bars.
    private let label = #"<b>&amp; "%{A1:touch x:}'\]},🍵茶"# + "\u{202E}\u{301}"
    /// The label as a bar shows it: with an escape for the invisible character, and a doubled backslash.
    private let shown = #"<b>&amp; "%{A1:touch x:}'\\]},🍵茶\u{202e}"# + "\u{301}"

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
        _ = try typist.type(words: ["start", "tea", "1h", "--label", label])
        _ = try typist.type("pause tea")
    }

    private func example(_ path: String) throws -> [Substring] {
        try BuiltProduct.text(of: "examples/\(path)").split(separator: "\n")
    }

    /// A command from a bar's settings, run by a shell.
    private func begin(_ command: String) throws -> RunningCommand {
        let built = try BuiltProduct.folder()
        return try RunningCommand(
            ["-c", command],
            executable: "/bin/sh",
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "PATH": "\(built):/usr/bin:/bin"]
        )
    }

    /// The first lines of such a command.
    private func lines(_ count: Int, of command: String) throws -> [String] {
        let bar = try begin(command)
        return try (0..<count).map { _ in try #require(try bar.line()) }
    }

    /// Clicks on the countdown that is paused, and then on the one that runs; of two that end, the next is shown.
    private func click(left: String, right: String) throws {
        func state(_ key: String) throws -> String? {
            try member("state", of: typist.type("show \(key) --json").standardOutput)
        }
        _ = try typist.type("start later 2h")
        for (command, key, outcome) in [
            (left, "tea", "running"), (left, "tea", "paused"), (left, "tea", "running"), (right, "tea", "cancelled"),
            (left, "later", "paused"), (right, "later", "cancelled"),
        ] {
            #expect(try begin(command).finish().exitCode == 0)
            #expect(try state(key) == outcome, "\(command)")
        }
        #expect(try begin(left).finish().exitCode == 4)
    }

    /// The output of jq for a text; throws if the text is not JSON.
    private func jq(_ options: String..., text: String) throws -> String {
        let run = try RunningCommand(options, executable: "/usr/bin/jq", input: text).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        return run.standardOutput
    }

    /// JSON strings as Pango displays them, a line each.
    private func pango(_ markup: String) throws -> [String] {
        let script = BuiltProduct.source("Tests/Programs/Started/Examples/Bars/pango.py")
        let run = try RunningCommand([script], executable: "/usr/bin/python3", input: markup).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        return try run.standardOutput.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed) as? String)
        }
    }

    @Test(
        "the waybar module of the example shows the label unchanged, in the text and the tooltip; clicks toggle and cancel"
    )
    func waybar() throws {
        let settings = try example("waybar/config.jsonc").filter { !$0.contains(#/^ *\/\//#) }.joined(separator: "\n")
        let module = #"."custom/countdown""#
        #expect(try jq("-r", "\(module).\"return-type\"", text: settings) == "json\n")
        let command = try jq("-r", "\(module).exec", text: settings)
        let line = try #require(try lines(1, of: command).first)
        #expect(
            try pango(jq("-c", ".text, .tooltip", text: line)) == [
                "\(shown) 1:00:00", "tea (\(shown)): paused, 1:00:00 left",
            ]
        )
        #expect(try jq("-r", ".class, .alt, (.percentage | type)", text: line) == "paused\npaused\nnumber\n")
        try click(
            left: jq("-r", "\(module).\"on-click\"", text: settings),
            right: jq("-r", "\(module).\"on-click-right\"", text: settings)
        )
        // waybar finds the icon by alt, and style.css the color by class.
        let icons = try jq("-r", "\(module).\"format-icons\" | keys[]", text: settings).split(separator: "\n")
        #expect(icons == ["finished", "idle", "paused", "running", "soon", "urgent"])
        let styles = try example("waybar/style.css").compactMap {
            $0.firstMatch(of: #/^#custom-countdown\.([a-z]+)/#)?.1
        }
        #expect(styles.contains("paused") && Set(styles).isSubset(of: icons))
    }

    @Test("the polybar module of the example shows the label unchanged, without its tags; clicks toggle and cancel")
    func polybar() throws {
        let settings = try example("polybar/config.ini")
        let command = try #require(settings.first { $0.hasPrefix("exec = ") }?.dropFirst(7))
        #expect(settings.contains("tail = true"))
        let line = try #require(try lines(1, of: String(command)).first)
        #expect(!line.contains("%{"))
        #expect(line.replacing("\u{2060}", with: "") == "\(shown) 1:00:00")
        func setting(_ name: String) throws -> String {
            try String(#require(settings.first { $0.hasPrefix("\(name) = ") }).dropFirst(name.count + 3))
        }
        try click(left: setting("click-left"), right: setting("click-right"))
    }

    @Test("i3bar reads a header, and then an array without an end")
    func i3bar() throws {
        let lines = try lines(3, of: "countdownctl watch --format i3bar")
        #expect(try jq("-r", ".version", text: lines[0]) == "1\n")
        let array = lines[1] + lines[2] + "[]]"
        let block = ".[0][0]"
        #expect(
            try pango(jq("-c", "\(block).full_text, \(block).short_text", text: array)) == [
                "\(shown) 1:00:00", "1:00:00",
            ]
        )
        #expect(try jq("-r", "\(block).markup, (\(block).urgent | type)", text: array) == "pango\nboolean\n")
    }

    @Test("lines for bars that read JSON are JSON, with the label unchanged")
    func json() throws {
        let line = try #require(try lines(1, of: "countdownctl watch --format json").first)
        let read = try jq("-c", ".countdowns[].label", text: line)
        #expect(try JSONSerialization.jsonObject(with: Data(read.utf8), options: .fragmentsAllowed) as? String == label)
    }
}
