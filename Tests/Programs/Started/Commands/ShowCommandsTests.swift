import Foundation
import IPC
import TestSupport
import Testing

@Suite("countdownctl show, list, status and is-running")
struct ShowCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    @Test("show KEY shows a countdown, also after its end, and exits with 4 for an unknown key")
    func shows() throws {
        _ = try typist.type("start tea 1h --label green --meta cup=1")
        let run = try typist.type("show tea")
        #expect(
            run.data.map { $0.prefix(while: { $0 != ":" }) }.dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }
                == ["State", "Remaining", "Started", "Ends", "Metadata", "Revision"]
        )
        #expect(run.data[0] == "tea (green)")
        #expect(run.data[1] == "    State: running")
        #expect(run.exitCode == 0)
        _ = try typist.type("cancel tea")
        let ended = try typist.type("show tea")
        #expect(ended.data.contains("    State: cancelled"))
        #expect(ended.exitCode == 0)
        let unknown = try typist.type("show coffee")
        #expect(unknown.messages == ["countdownctl: coffee: no such countdown"])
        #expect(unknown.exitCode == 4)
    }

    @Test("a KEY is never a pattern", arguments: ["show", "is-running", "wait", "attach", "cancel", "status"])
    func takesKeysAsTheyAre(_ verb: String) throws {
        _ = try typist.type("start tea 1h")
        #expect(try typist.type("\(verb) t*").exitCode == 4)
        #expect(try typist.type("is-running tea").exitCode == 0)
    }

    @Test("list [-a | --state S] [PATTERN…] lists in aligned columns, with titles or without")
    func lists() throws {
        #expect(try typist.type("list").messages == ["no countdowns"])
        for line in ["start tea 1h", "start coffee 30m --label black", "start egg 10ms --wait", "pause tea"] {
            #expect(try typist.type(line).exitCode == 0)
        }
        let run = try typist.type("list")
        try #require(run.data.count == 3)
        #expect(run.data[0].split(separator: " ") == ["KEY", "STATE", "REMAINING", "DURATION", "END", "LABEL"])
        #expect(run.data[1].hasPrefix("coffee  running  "))
        #expect(run.data[1].hasSuffix("  30m  TIME  black"))
        #expect(run.data[2].hasPrefix("tea     paused   "))
        #expect(try typist.type("list --no-legend").data.map { $0.prefix(6) } == ["coffee", "tea   "])
        #expect(try typist.type("list t* --no-legend").data.count == 1)
        #expect(try typist.type("list t* c* --no-legend").data.count == 2)
        #expect(try typist.type("list x*").messages == ["no countdowns match"])
        #expect(try typist.type("list -a --no-legend").data.count == 3)
        #expect(try typist.type("list --all --no-legend").data.last?.hasPrefix("egg     finished") == true)
        #expect(try typist.type("list --state finished --no-legend").data.count == 1)
        #expect(try typist.type("list --state finished,paused --no-legend").data.count == 2)
        #expect(try typist.type("list --state running --state paused --no-legend").data.count == 2)
    }

    @Test(
        "list --sort orders by a column, --reverse reverses the order",
        arguments: [
            ("", "b a c"), ("--sort end", "b a c"), ("--sort key", "a b c"), ("--sort remaining", "b c a"),
            ("--sort duration --reverse", "a c b"), ("--sort started", "c a b"), ("--sort state -r", "c b a"),
        ]
    )
    func sorts(_ options: String, _ keys: String) throws {
        for line in ["start c 2h", "start a 3h", "start b 1h", "pause c"] { _ = try typist.type(line) }
        let run = try typist.type("list --no-legend \(options)")
        #expect(run.data.map { String($0.prefix(1)) }.joined(separator: " ") == keys)
        #expect(try typist.type("list --sort size").exitCode == 64)
    }

    @Test("list prints many countdowns, each once")
    func listsMany() throws {
        let client = try daemon.connect()
        for number in 0..<2_000 {
            let key = String(repeating: "x", count: 100) + "\(number)"
            _ = try client.exchange(
                #"{"method":"io.countdownd.Start","parameters":{"key":"\#(key)","durationUSec":3600000000}}"#
            )
        }
        let run = try typist.type("list --no-legend")
        #expect(run.data.count == 2_000)
        #expect(Set(run.data.map { $0.prefix { $0 != " " } }).count == 2_000)
    }

    @Test("list --color paints, NO_COLOR and a pipe do not")
    func paints() throws {
        _ = try typist.type("start tea 1h")
        #expect(try typist.type("list --color=always").standardOutput.contains("\u{1B}[32mrunning\u{1B}[0m"))
        #expect(try !typist.type("list").standardOutput.contains("\u{1B}"))
        #expect(try !typist.type("list --color never").standardOutput.contains("\u{1B}"))
    }

    @Test("a label of another client cannot control a terminal, in text or JSON")
    func escapesLabels() throws {
        _ = try typist.type(words: ["start", "tea", "1h", "--label", "\u{1B}]0;x\u{7}\u{9B}2J\n\u{202E}"])
        for line in ["list", "show tea", "list --json", "show tea --json=pretty", "start tea", "pause tea"] {
            let run = try typist.type(line)
            let text = run.standardOutput + run.standardError
            #expect(!text.isEmpty)
            #expect(
                !text.unicodeScalars.contains { $0.properties.generalCategory == .control && $0 != "\n" && $0 != "\t" }
            )
            #expect(text.contains("\\u"))
        }
        let json = try typist.type("show tea --json").standardOutput
        #expect(try member("label", of: json) == "\u{1B}]0;x\u{7}\u{9B}2J\n\u{202E}")
    }

    @Test("keys that differ by an invisible character look different")
    func tellsKeysApart() throws {
        let keys = ["tea", "te\u{200B}a", "te\u{200D}a", "\u{FEFF}tea", "tea\u{E0041}", "te\\u{200b}a", "tea\u{200F}"]
        for key in keys { _ = try typist.type(words: ["start", key, "1h"]) }
        let list = try typist.type("list --no-legend").data.map { $0.prefix { $0 != " " } }
        let escaped = ["tea", #"te\u{200b}a"#, #"te\u{200d}a"#, #"\u{feff}tea"#, #"tea\u{e0041}"#, #"te\\u{200b}a"#]
        #expect(Set(list) == Set((escaped + [#"tea\u{200f}"#]).map { $0[...] }))
        let json = try typist.type("list --json").standardOutput
        for key in keys { #expect(!json.contains("\"\(key)\"") || key.utf8.allSatisfy { $0 < 0x80 }) }
        let decoded = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [[String: Any]] ?? []
        #expect(Set(decoded.compactMap { $0["key"] as? String }).isSuperset(of: keys))
    }

    @Test("is-running KEY exits with 0, 3 or 4, and prints nothing")
    func tellsWhetherRunning() throws {
        _ = try typist.type("start tea 1h")
        _ = try typist.type("start coffee 1h")
        _ = try typist.type("pause coffee")
        _ = try typist.type("start egg 5ms --wait")
        for (line, code) in [("tea", 0), ("coffee", 3), ("egg", 3), ("nothing", 4), ("-q tea", 0)] {
            let run = try typist.type("is-running \(line)")
            #expect(run.exitCode == Int32(code))
            #expect(run.standardOutput.isEmpty && run.standardError.isEmpty)
        }
    }

    @Test("status shows the daemon in five lines, and with --all its counters and limits")
    func showsStatus() throws {
        _ = try typist.type("start tea 1h")
        let run = try typist.type("status")
        #expect(run.data[0].hasPrefix("countdownd \(Version.current), since TIME ("))
        #expect(
            run.data.dropFirst() == [
                "Countdowns: 1 running, 0 paused, 0 starts queued", "   Clients: 1 connection, 0 watchers",
                "  Lateness: no countdown has ended yet", "   Storage: changes are stored",
            ]
        )
        let all = try typist.type("status --all").data
        for title in ["  Revision: ", "    Queues:", "  Counters:", "    Limits:"] {
            #expect(all.contains { $0.hasPrefix(title) }, "\(title)")
        }
        #expect(try typist.type("status tea").standardOutput == typist.type("show tea").standardOutput)
    }

    @Test("status --format openmetrics prints every counter and queue, and refuses --json and a key")
    func printsMetrics() throws {
        _ = try typist.type("start egg 5ms --wait")
        let status = try Caller(of: daemon).call(GetStatus())
        let lines = try typist.type("status --format openmetrics -q").data
        #expect(lines.last == "# EOF")
        let figures = lines.filter { $0.contains(" of GetStatus.") }
        for name in Array(status.counters.keys) + Array(try #require(status.queues).keys) {
            #expect(figures.filter { $0.hasSuffix(": \(name) of GetStatus.") }.count == 1, "\(name)")
        }
        #expect(lines.contains("countdownd_endings_total 1"))
        #expect(lines.contains("countdownd_end_lateness_seconds_count 1"))
        for (name, limit) in status.limits where name == name.lowercased() {
            #expect(lines.contains("countdownd_limit{limit=\"\(name)\"} \(limit)"))
        }
        let older = try typist.type("status --format prometheus").data
        let socket = "{socket=\"\(daemon.socketPath)\"}"
        #expect(older.contains("# TYPE countdownd_endings_total counter"))
        #expect(older.contains("countdownd_endings_total\(socket) 1"))
        for line in ["--json", "tea"] {
            #expect(try typist.type("status --format openmetrics \(line)").exitCode == 64)
        }
        let unknown = try typist.type("status --format graphite")
        #expect(unknown.exitCode == 64)
        #expect(unknown.messages.first?.contains("graphite") == true)
    }

    @Test("--json prints the interface's objects, each one valid")
    func printsObjects() throws {
        let definition = try Definition(parsing: Interface.definition)
        #expect(
            definition.check(reply: Array(try typist.type("start tea 1h --json").standardOutput.utf8), of: "Start")
                == []
        )
        #expect(
            definition.check(reply: Array(try typist.type("status --json").standardOutput.utf8), of: "GetStatus") == []
        )
        for line in ["show tea", "status tea", "pause tea", "resume tea", "adjust tea +1m", "finish tea", "wait tea"] {
            let object = try typist.type("\(line) --json").standardOutput
            #expect(definition.check(reply: Array(#"{"countdown":\#(object)}"#.utf8), of: "Get") == [], "\(line)")
        }
        let list = try typist.type("list -a --json").standardOutput
        #expect(definition.check(reply: Array(#"{"countdowns":\#(list)}"#.utf8), of: "List") == [])
        for line in ["start egg 1200ms --attach -q", "attach tea"] {
            let objects = try typist.type("\(line) --json").standardOutput.split(separator: "\n")
                .filter { $0.hasPrefix(#"{"type":"#) }
            #expect(!objects.isEmpty)
            #expect(
                definition.check(reply: Array(#"{"events":[\#(objects.joined(separator: ","))]}"#.utf8), of: "Watch")
                    == []
            )
        }
    }

    @Test("--json=pretty prints the same object in several lines, and --json takes no word after it as its value")
    func laysOut() throws {
        _ = try typist.type("start tea 1h")
        let pretty = try typist.type("show --json=pretty tea").standardOutput
        #expect(pretty.hasPrefix("{\n\t\"key\": \"tea\",\n"))
        #expect(
            try member("revision", of: pretty) == member("revision", of: typist.type("show --json tea").standardOutput)
        )
        #expect(try typist.type("show tea --json=tall").exitCode == 64)
    }
}
