import TestSupport
import Testing

private let lost = "lost the connection to the daemon; reconnecting"
private let back = "reconnected to the daemon"
private let trimmed = "the daemon no longer has the history since the last event; ends may be missing"

@Suite("countdownctl while the daemon goes away and comes back")
final class LostDaemonCommandsTests: CommandSuite {
    @Test("watch reconnects, prints the ends since then once, and reports it on standard error")
    func watches() throws {
        let watch = try typist.begin("watch --json --tick 0")
        func next() throws -> String { try member("type", of: #require(try watch.line())) ?? "" }
        #expect(try next() == "synced")
        try prepare("start tea 1h", "start egg 300ms")
        #expect(try [next(), next()] == ["started", "started"])
        try restartDaemon()
        try prepare("finish tea")
        // An end may be delivered before the daemon goes away, after it is back, or later.
        var told: [String] = []
        while told.count(where: { $0 == "finished" }) < 2 || !told.contains("synced") { told.append(try next()) }
        #expect(told.sorted() == ["finished", "finished", "synced"])
        let run = try watch.stop()
        #expect(run.data.count { $0.contains(#""type":"finished""#) } == 2)
        #expect(run.messages == [lost, back])
    }

    @Test("wait gets an end that happened while the daemon was away")
    func waitsForEndMeanwhile() throws {
        try prepare("start tea 1h")
        let waiting = try typist.begin("wait tea")
        try typist.awaitWatchers(1)
        // Its end falls while the daemon is away, or just before.
        try prepare("adjust tea -3599.9s")
        try restartDaemon()
        let run = try waiting.finish()
        #expect(run.data.count == 1)
        #expect(run.data[0].hasPrefix("tea: finished at TIME"))
        #expect(run.exitCode == 0)
    }

    @Test("wait gives up in time while the daemon is away, and Ctrl-C ends it too")
    func givesUp() throws {
        try prepare("start tea 1h")
        let impatient = try typist.begin("wait tea --timeout 1s")
        let patient = try typist.begin("wait tea")
        try typist.awaitWatchers(2)
        try daemon.kill()
        #expect(try impatient.finish().exitCode == 124)
        #expect(try patient.stop().exitCode == 130)
    }
}

/// What a daemon answers that lost more than its connections.
@Suite("countdownctl with a daemon that comes back without its history")
struct LostHistoryCommandsTests {
    private let daemon: ScriptedDaemon

    init() throws { daemon = try ScriptedDaemon() }

    @Test("if a countdown with forget ended while the daemon was away, the code is 4, and the error says so")
    func missesForgotten() throws {
        let waiting = try daemon.typist.begin("wait tea")
        let tea = Answer.countdown("tea")
        let attached = #"{"type":"attached","key":"tea","remainingUSec":9000000,"countdown":\#(tea)}"#
        try daemon.answer("Watch", without: "since", Answer.events(attached, Answer.synced(7)))
        let watch = try daemon.answer(#""since":7"#, Answer.events(Answer.synced(9)))
        try daemon.answer(#""io.countdownd.List""#, Answer.none)
        let unknown = Answer.error("NoSuchCountdown", #""key":"tea""#)
        try daemon.answer(#""io.countdownd.Get","parameters":{"key":"tea"}"#, unknown)
        let run = try waiting.finish()
        #expect(run.messages == [lost, back, "tea: ended unseen and is no longer known"])
        #expect(run.exitCode == 4)
        withExtendedLifetime(watch) {}
    }

    @Test("words that are a label are not taken as keys if the daemon does not list the keys")
    func labelOrKeys() throws {
        let cancelling = try daemon.typist.begin("cancel Green tea")
        let timer = Answer.countdown("timer/green-tea", more: #""label":"Green tea","#)
        let client = try daemon.answer("io.countdownd.List", #"{"parameters":{"countdowns":[\#(timer)]}}"#)
        let opening = Answer.error("StorageFailed", #""reason":"opening""#)
        try daemon.answer(#""keys":["Green","tea"]"#, of: client, opening)
        let run = try cancelling.finish()
        #expect(run.exitCode == 75 && run.messages == ["countdownctl: the daemon cannot open its store: opening"])
    }

    @Test("if the daemon comes back without its history, the watch begins again and reports it")
    func watchesAfresh() throws {
        let watch = try daemon.typist.begin("watch --json")
        try daemon.answer("Watch", without: "since", Answer.events(Answer.synced(7)))
        #expect(try watch.line() == Answer.synced(7))
        try daemon.answer(#""since":7"#, Answer.historyTrimmed)
        let third = try daemon.answer("Watch", without: "since", Answer.events(Answer.synced(9)))
        #expect(try watch.line() == Answer.synced(9))
        #expect(try watch.stop().messages == [lost, trimmed, back])
        withExtendedLifetime(third) {}
    }

    @Test(
        "a daemon that answers HistoryTrimmed again and again is reported once",
        arguments: ["watch --json", "watch --format json", "wait tea", "attach tea"]
    )
    func backsOff(_ line: String) throws {
        let watch = try daemon.typist.begin(line)
        for _ in 0..<4 { try daemon.answer("Watch", Answer.historyTrimmed) }
        let run = try watch.stop()
        #expect(run.messages == [trimmed])
        #expect(run.exitCode == 130)
    }
}
