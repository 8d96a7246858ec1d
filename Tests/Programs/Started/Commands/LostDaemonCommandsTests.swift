import TestSupport
import Testing

@Suite("countdownctl while the daemon goes away and comes back")
struct LostDaemonCommandsTests {
    /// Kills a daemon, and starts another on its state.
    private func replace(_ daemon: DaemonProcess) throws -> DaemonProcess {
        try daemon.kill()
        return try DaemonProcess(in: daemon.directory)
    }

    /// The output of a watch up to an event of this type.
    private func types(of watch: RunningCommand, through last: String) throws -> [String] {
        var types: [String] = []
        while types.last != last, let line = try watch.line() { types.append(try member("type", of: line) ?? "") }
        return types
    }

    @Test("watch reconnects, prints the ends since then once, and reports it on standard error")
    func watches() throws {
        let first = try DaemonProcess()
        let typist = Typist(first)
        let watch = try typist.begin("watch --json --tick 0")
        #expect(try types(of: watch, through: "synced") == ["synced"])
        _ = try typist.type("start tea 1h")
        _ = try typist.type("start egg 300ms")
        #expect(try types(of: watch, through: "started") == ["started"])
        #expect(try types(of: watch, through: "started") == ["started"])
        let second = try replace(first)
        _ = try typist.type("finish tea")
        // An end may be delivered before the daemon goes away, after it is back, or later.
        var told: [String] = []
        while told.count(where: { $0 == "finished" }) < 2 || !told.contains("synced"), let line = try watch.line() {
            told.append(try member("type", of: line) ?? "")
        }
        #expect(told.sorted() == ["finished", "finished", "synced"])
        watch.interrupt()
        let run = try watch.finish()
        #expect(run.data.count { $0.contains(#""type":"finished""#) } == 2)
        #expect(run.messages == ["lost the connection to the daemon; reconnecting", "reconnected to the daemon"])
        withExtendedLifetime(second) {}
    }

    @Test("wait and attach reconnect", arguments: ["wait tea", "attach tea"])
    func staysToTheEnd(_ line: String) throws {
        let first = try DaemonProcess()
        let typist = Typist(first)
        _ = try typist.type("start tea 1h")
        let waiting = try typist.begin(line)
        try typist.awaitWatchers(1)
        let second = try replace(first)
        try typist.awaitWatchers(1)
        _ = try typist.type("finish tea")
        let run = try waiting.finish()
        #expect(run.data.last == "tea: finished at TIME")
        #expect(run.messages == ["lost the connection to the daemon; reconnecting", "reconnected to the daemon"])
        #expect(run.exitCode == 0)
        withExtendedLifetime(second) {}
    }

    @Test("wait gets an end that happened while the daemon was away")
    func waitsForEndMeanwhile() throws {
        let first = try DaemonProcess()
        let typist = Typist(first)
        _ = try typist.type("start tea 1h")
        let waiting = try typist.begin("wait tea")
        try typist.awaitWatchers(1)
        // Its end falls while the daemon is away, or just before.
        _ = try typist.type("adjust tea -3599.9s")
        try first.kill()
        let second = try DaemonProcess(in: first.directory)
        let run = try waiting.finish()
        #expect(run.data.count == 1)
        #expect(run.data[0].hasPrefix("tea: finished at TIME"))
        #expect(run.exitCode == 0)
        withExtendedLifetime(second) {}
    }

    @Test("wait gives up in time while the daemon is away, and Ctrl-C ends it too")
    func givesUp() throws {
        let daemon = try DaemonProcess()
        let typist = Typist(daemon)
        _ = try typist.type("start tea 1h")
        let impatient = try typist.begin("wait tea --timeout 1s")
        let patient = try typist.begin("wait tea")
        try typist.awaitWatchers(2)
        try daemon.kill()
        #expect(try impatient.finish().exitCode == 124)
        patient.interrupt()
        #expect(try patient.finish().exitCode == 130)
    }

    private let countdown =
        #"{"key":"tea","state":"running","clock":"elapsed","durationUSec":9,"remainingUSec":9,"startedUSec":1,"#
        + #""deadlineUSec":10,"forget":true,"revision":7}"#

    /// A reply with events of a watch.
    private func telling(_ events: String) -> String { #"{"parameters":{"events":[\#(events)]},"continues":true}"# }

    @Test("if a countdown with forget ended while the daemon was away, the code is 4, and the error says so")
    func missesForgotten() throws {
        let directory = try TemporaryDirectory()
        let daemon = try ListeningSocket(path: directory.path(of: "socket"))
        let waiting = try Typist(at: daemon.path).begin("wait tea")
        do {
            let watch = try daemon.accept()
            #expect(try !watch.message().contains("since"))
            let attached = #"{"type":"attached","key":"tea","remainingUSec":9,"countdown":\#(countdown)}"#
            try watch.send(message: telling(attached + #",{"type":"synced","revision":7}"#))
        }
        let watch = try daemon.accept()
        #expect(try watch.message().contains(#""since":7"#))
        try watch.send(message: telling(#"{"type":"synced","revision":9}"#))
        let list = try daemon.accept()
        #expect(try list.message().contains(#""io.countdownd.List""#))
        try list.send(message: #"{"parameters":{"countdowns":[]}}"#)
        let lookUp = try daemon.accept()
        #expect(try lookUp.message().contains(#""io.countdownd.Get","parameters":{"key":"tea"}"#))
        try lookUp.send(message: #"{"error":"io.countdownd.NoSuchCountdown","parameters":{"key":"tea"}}"#)
        let run = try waiting.finish()
        #expect(
            run.messages == [
                "lost the connection to the daemon; reconnecting", "reconnected to the daemon",
                "tea: ended unseen and is no longer known",
            ]
        )
        #expect(run.exitCode == 4)
    }

    @Test("words that are a label are not taken as keys if the daemon does not list the keys")
    func labelOrKeys() throws {
        let directory = try TemporaryDirectory()
        let daemon = try ListeningSocket(path: directory.path(of: "socket"))
        let cancelling = try Typist(at: daemon.path).begin("cancel Green tea")
        let client = try daemon.accept()
        #expect(try client.message().contains("io.countdownd.List"))
        let timer = countdown.replacing(#""key":"tea""#, with: #""key":"timer/green-tea","label":"Green tea""#)
        try client.send(message: #"{"parameters":{"countdowns":[\#(timer)]}}"#)
        #expect(try client.message().contains(#""keys":["Green","tea"]"#))
        try client.send(message: #"{"error":"io.countdownd.StorageFailed","parameters":{"reason":"opening"}}"#)
        let run = try cancelling.finish()
        #expect(run.exitCode == 75 && run.messages == ["countdownctl: the daemon cannot open its store: opening"])
    }

    @Test("if the daemon comes back without its history, the watch begins again and reports it")
    func watchesAfresh() throws {
        let directory = try TemporaryDirectory()
        let daemon = try ListeningSocket(path: directory.path(of: "socket"))
        let watch = try Typist(at: daemon.path).begin("watch --json")
        do {
            let first = try daemon.accept()
            _ = try first.message()
            try first.send(message: telling(#"{"type":"synced","revision":7}"#))
        }
        #expect(try watch.line() == #"{"type":"synced","revision":7}"#)
        do {
            let second = try daemon.accept()
            #expect(try second.message().contains(#""since":7"#))
            try second.send(message: #"{"error":"io.countdownd.HistoryTrimmed","parameters":{"oldestRevision":8}}"#)
        }
        let third = try daemon.accept()
        #expect(try !third.message().contains("since"))
        try third.send(message: telling(#"{"type":"synced","revision":9}"#))
        #expect(try watch.line() == #"{"type":"synced","revision":9}"#)
        watch.interrupt()
        #expect(
            try watch.finish().messages == [
                "lost the connection to the daemon; reconnecting",
                "the daemon no longer has the history since the last event; ends may be missing",
                "reconnected to the daemon",
            ]
        )
    }

    @Test(
        "a daemon that answers HistoryTrimmed again and again is reported once",
        arguments: ["watch --json", "watch --format json", "wait tea", "attach tea"]
    )
    func backsOff(_ line: String) throws {
        let directory = try TemporaryDirectory()
        let daemon = try ListeningSocket(path: directory.path(of: "socket"))
        let watch = try Typist(at: daemon.path).begin(line)
        for _ in 0..<4 {
            let attempt = try daemon.accept()
            _ = try attempt.message()
            try attempt.send(message: #"{"error":"io.countdownd.HistoryTrimmed","parameters":{"oldestRevision":8}}"#)
        }
        watch.interrupt()
        let run = try watch.finish()
        #expect(run.messages == ["the daemon no longer has the history since the last event; ends may be missing"])
        #expect(run.exitCode == 130)
    }
}
