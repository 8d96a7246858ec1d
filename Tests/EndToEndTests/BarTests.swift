import Foundation
import TestSupport
import Testing

/// What the bars of the examples run, run as they do and read as they do.
@Suite("Countdowns in bars")
struct BarTests {
    private let daemon: DaemonProcess
    private let typist: Typist
    /// A label that somebody may write so that a bar takes parts of it for markup or commands.
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
        let url = BuiltProduct.packageDirectory.appendingPathComponent("examples/\(path)")
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
    }

    /// The first lines that a bar is sent by a command of its settings, which it gives to a shell.
    private func lines(_ count: Int, of command: String) throws -> [String] {
        let built = URL(fileURLWithPath: try BuiltProduct.path(of: "countdownctl")).deletingLastPathComponent().path
        let bar = try RunningCommand(
            ["-c", command],
            executable: "/bin/sh",
            environment: ["COUNTDOWND_SOCKET": daemon.socketPath, "PATH": "\(built):/usr/bin:/bin"]
        )
        return try (0..<count).map { _ in try #require(try bar.line()) }
    }

    /// What jq makes of a text; an error where it is no JSON.
    private func jq(_ options: String..., text: String) throws -> String {
        let run = try RunningCommand(options, executable: "/usr/bin/jq", input: text).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        return run.standardOutput
    }

    /// What Pango shows of JSON strings, a line each.
    private func pango(_ markup: String) throws -> [String] {
        let script = BuiltProduct.packageDirectory.appendingPathComponent("Tests/EndToEndTests/Bars/pango.py").path
        let run = try RunningCommand([script], executable: "/usr/bin/python3", input: markup).finish()
        #expect(run.exitCode == 0, "\(run.standardError)")
        return try run.standardOutput.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8), options: .fragmentsAllowed) as? String)
        }
    }

    @Test("waybar's module of the example shows the label as it is, in the text and in the tooltip")
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
        // waybar looks the icon up by alt, and style.css the colour by class.
        let icons = try jq("-r", "\(module).\"format-icons\" | keys[]", text: settings).split(separator: "\n")
        #expect(icons == ["finished", "idle", "paused", "running", "soon", "urgent"])
        let styles = try example("waybar/style.css").compactMap {
            $0.firstMatch(of: #/^#custom-countdown\.([a-z]+)/#)?.1
        }
        #expect(styles.contains("paused") && Set(styles).isSubset(of: icons))
    }

    @Test("polybar's module of the example shows the label as it is, and no tag in it")
    func polybar() throws {
        let settings = try example("polybar/config.ini")
        let command = try #require(settings.first { $0.hasPrefix("exec = ") }?.dropFirst(7))
        #expect(settings.contains("tail = true"))
        let line = try #require(try lines(1, of: String(command)).first)
        #expect(!line.contains("%{"))
        #expect(line.replacing("\u{2060}", with: "") == "\(shown) 1:00:00")
    }

    @Test("i3bar reads a header, and then an array that goes on")
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

    @Test("what is read as JSON is JSON, with the label as it is")
    func json() throws {
        let line = try #require(try lines(1, of: "countdownctl watch --format json").first)
        let read = try jq("-c", ".countdowns[].label", text: line)
        #expect(try JSONSerialization.jsonObject(with: Data(read.utf8), options: .fragmentsAllowed) as? String == label)
    }
}
