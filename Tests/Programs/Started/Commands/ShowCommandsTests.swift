import Foundation
import IPC
import TestSupport
import Testing
import VarlinkDefinition

@Suite("countdownctl show, list, status and is-running")
final class ShowCommandsTests: CommandSuite {
    @Test("list prints many countdowns, each once")
    func listsMany() throws {
        let caller = try Caller(of: daemon)
        for number in 0..<2_000 {
            let key = String(repeating: "x", count: 100) + "\(number)"
            _ = try caller.call(Start(key: key, durationUSec: .seconds(3600)))
        }
        let run = try typist.type("list --no-legend")
        #expect(run.data.count == 2_000)
        #expect(Set(run.data.map { $0.prefix { $0 != " " } }).count == 2_000)
    }

    @Test("a label of another client cannot control a terminal, in text or JSON")
    func escapesLabels() throws {
        _ = try typist.type(words: ["start", "tea", "1h", "--label", "\u{1B}]0;x\u{7}\u{9B}2J\n\u{202E}"])
        for line in ["list", "show tea", "list --json", "show tea --json", "start tea", "pause tea"] {
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

    @Test("status --format openmetrics prints every counter and queue")
    func printsMetrics() throws {
        try prepare("start egg 5ms --wait")
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
    }

    @Test(
        "--json prints the interface's objects, each one valid",
        arguments: [
            ("start tea 1h", "Start", "…"), ("status", "GetStatus", "…"), ("show tea", "Get", #"{"countdown":…}"#),
            ("status tea", "Get", #"{"countdown":…}"#), ("pause tea", "Get", #"{"countdown":…}"#),
            ("resume tea", "Get", #"{"countdown":…}"#), ("adjust tea +1m", "Get", #"{"countdown":…}"#),
            ("finish tea", "Get", #"{"countdown":…}"#), ("wait egg", "Get", #"{"countdown":…}"#),
            ("list -a", "List", #"{"countdowns":…}"#), ("start rice 1200ms --attach -q", "Watch", #"{"events":[…]}"#),
            ("attach egg", "Watch", #"{"events":[…]}"#),
        ]
    )
    func printsObjects(line: String, method: String, reply: String) throws {
        try prepare("start tea 1h", "start egg 1ms --wait")
        let lines = try typist.type("\(line) --json").standardOutput.split(separator: "\n")
        let objects = method == "Watch" ? lines.filter { $0.hasPrefix(#"{"type":"#) } : lines
        #expect(!objects.isEmpty)
        let text = reply.replacing("…", with: objects.joined(separator: ","))
        #expect(try Definition(parsing: Interface.definition).check(reply: Array(text.utf8), of: method) == [])
    }
}
