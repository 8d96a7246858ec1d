import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("countdownctl timer, toggle and snooze, and the words @next and @last")
struct TimerCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    private func state(_ key: String) throws -> String? {
        try member("state", of: typist.type(words: ["show", "--key", key, "--json"]).standardOutput)
    }

    /// Starts countdowns in this order, which have an hour or more.
    private func start(_ lines: String...) throws {
        for line in lines { #expect(try typist.type("start \(line)").exitCode == 0) }
    }

    /// The first word of what a command says, which is the key.
    private func key(_ run: CommandRun) -> String { String(run.message.prefix { $0 != ":" && $0 != " " }) }

    @Test("a timer gets its key from its label, with a number if that is running or paused, and prints it with its end")
    func timers() throws {
        let tea = try typist.type("timer 1h Green tea")
        #expect(tea.messages == ["timer/green-tea (Green tea): started, 1:00:00 left, ends TIME"])
        #expect(tea.exitCode == 0 && tea.standardOutput == "timer/green-tea\n")
        _ = try typist.type("pause timer/green-tea")
        #expect(try key(typist.type("1h Green tea")) == "timer/green-tea-2")
        #expect(try key(typist.type(words: ["2h", "GREEN  tea!"])) == "timer/green-tea-3")
        _ = try typist.type("cancel timer/green-tea-2")
        #expect(try key(typist.type("1h green tea")) == "timer/green-tea-2")
        #expect(try key(typist.type("1h 抹茶")) == "timer/抹茶")
        #expect(try key(typist.type("3600")) == "timer/1h")
        let reply = try typist.type("1h 抹茶 --json -q")
        #expect(reply.standardOutput.contains(#""outcome":"started""#) && reply.standardError.isEmpty)
        #expect(reply.standardOutput.contains(#""key":"timer/抹茶-2""#))
        #expect(reply.standardOutput.contains(#""label":"抹茶""#))
    }

    @Test("a timer is found by its label or by the words that started it; keys come first, two timers are an error")
    func findsByLabel() throws {
        _ = try typist.type("1h Green tea")
        #expect(try typist.type("pause green tea").messages == ["timer/green-tea (Green tea): paused, 1:00:00 left"])
        #expect(try key(typist.type(words: ["resume", "Green tea"])) == "timer/green-tea")
        #expect(try key(typist.type(words: ["adjust", "GREEN TEA", "+1m"])) == "timer/green-tea")
        #expect(try typist.type(words: ["show", "green tea", "--format", "{key}"]).data == ["timer/green-tea"])
        #expect(try typist.type("is-running green-tea").exitCode == 4)
        #expect(try typist.type("cancel --key=green --key=tea").exitCode == 4)
        #expect(try state("timer/green-tea") == "running")

        try start("tea 1h")
        let both = try typist.type("cancel Green tea")
        #expect(both.exitCode == 64)
        #expect(both.messages[0].hasSuffix("'Green tea' is a timer, and 'tea' is a key: quote the label, or use --key"))
        #expect(try state("tea") == "running" && state("timer/green-tea") == "running")
        #expect(try key(typist.type("cancel tea")) == "tea")

        _ = try typist.type("2h Green tea")
        for words in [["cancel", "Green", "tea"], ["show", "green tea"], ["adjust", "green tea", "+1m"]] {
            let several = try typist.type(words: words)
            #expect(several.exitCode == 4)
            #expect(several.message.hasSuffix("use timer/green-tea or timer/green-tea-2"), "\(several.message)")
        }
        _ = try typist.type("cancel timer/green-tea-2")
        #expect(try typist.type("cancel Green tea").exitCode == 0)
        #expect(try state("timer/green-tea") == "cancelled")
        #expect(try typist.type("cancel Green tea").exitCode == 4)
    }

    @Test("a timer that is waited for ends with its command")
    func waits() throws {
        let run = try typist.type("timer 1ms tea --wait")
        #expect(run.exitCode == 0)
        #expect(run.message.hasPrefix("timer/tea (tea): started, "))
        #expect(run.data.first?.hasPrefix("timer/tea (tea): finished at TIME") == true)
    }

    @Test("an invalid timer is refused as a usage error, also without the subcommand")
    func refusesTimers() throws {
        let run = try typist.type("1h30 tea")
        #expect(run.exitCode == 64)
        #expect(run.messages[0].contains("invalid duration '1h30': missing unit"))
        #expect(run.messages[1] == "see `countdownctl timer -h`")
        #expect(try typist.type("5m tea --nonsense").message.contains("--nonsense"))
    }

    @Test("@next is the countdown that ends first, and @last the one that was started last, without cooldowns")
    func finds() throws {
        #expect(try typist.type("show @next").exitCode == 4)
        #expect(try typist.type("cancel @last").messages == ["countdownctl: @last: no such countdown"])
        try start("early 1h", "late 3h", "middle 2h", "backup 30m --meta cooldown=yes")
        #expect(try key(typist.type("pause @next")) == "early")
        #expect(try key(typist.type("adjust @next +1m")) == "middle")
        #expect(try typist.type("list @next @last --no-legend").data.count == 1)
        #expect(try typist.type(words: ["show", "@next", "--format", "{key}"]).data == ["middle"])
        #expect(try typist.type("is-running @next").exitCode == 0)
        #expect(try key(typist.type("cancel @last")) == "middle")
        #expect(try key(typist.type("cancel @last")) == "late")
        // A paused countdown is found if no other one is there, as bars show it.
        #expect(try typist.type("is-running @next").exitCode == 3)
        #expect(try key(typist.type("cancel @next")) == "early")
        #expect(try typist.type("cancel @next").exitCode == 4)
        #expect(try state("backup") == "running")
    }

    @Test("behind many cooldowns that end before it, a countdown is still found")
    func findsBehindCooldowns() throws {
        let caller = try Caller(of: daemon)
        for number in 0..<100 {
            let metadata: TextMap<String> = ["cooldown": "yes"]
            _ = try caller.call(Start(key: "c\(number)", durationUSec: .seconds(60), metadata: metadata))
        }
        try start("tea 2h", "egg 1h")
        #expect(try key(typist.type("pause @next")) == "egg")
        #expect(try key(typist.type("pause @next")) == "tea")
        #expect(try key(typist.type("cancel @next")) == "egg")
    }

    @Test("--key takes a key that is called @next")
    func takesLiterally() throws {
        try start("tea 1h", "--key @next 2h")
        #expect(try key(typist.type("pause --key @next")) == "@next")
        #expect(try key(typist.type("adjust --key @next +1m")) == "@next")
        #expect(try key(typist.type("cancel @next")) == "tea")
        #expect(try state("@next") == "paused")
        #expect(try typist.type("wait --key @next --timeout 1ms").exitCode == 124)
        #expect(try typist.type("list --key @next --no-legend").data.count == 1)
        #expect(try typist.type("start @next 1h").exitCode == 64)
        #expect(try typist.type("cancel @next --if-revision 7").exitCode == 64)
    }

    @Test("watch and wait follow the countdown that the word stood for when they began")
    func follows() throws {
        try start("late 2h", "early 1h")
        let wait = try typist.begin("wait @next")
        let watch = try typist.begin("watch @last --tick 0 --json")
        try typist.awaitWatchers(2)
        try start("earlier 30m")
        _ = try typist.type("finish early")
        #expect(try wait.finish().exitCode == 0)
        #expect(try watch.line()?.contains(#""key":"early""#) == true)
        watch.interrupt()
        _ = try watch.finish()
    }

    @Test("toggle pauses and resumes; @next resumes the countdown that was paused last before it pauses another one")
    func toggles() throws {
        try start("tea 1h", "egg 2h", "cake 3h")
        #expect(try typist.type("toggle tea").message.hasPrefix("tea: paused, "))
        #expect(try typist.type("toggle tea").message.hasPrefix("tea: resumed, "))
        _ = try typist.type("pause cake")
        _ = try typist.type("pause egg")
        for line in ["egg: resumed, ", "cake: resumed, ", "tea: paused, ", "tea: resumed, "] {
            let run = try typist.type("toggle @next")
            #expect(run.exitCode == 0 && run.message.hasPrefix(line), "\(run.message)")
        }
        _ = try typist.type("finish tea")
        let ended = try typist.type("toggle tea nothing")
        #expect(ended.exitCode == 4)
        #expect(ended.message.hasPrefix("countdownctl: tea: nothing changed: it is finished"))
    }

    @Test("snooze starts the countdown that finished last again, with its label and metadata")
    func snoozes() throws {
        #expect(try typist.type("snooze").messages == ["countdownctl: no countdown has finished"])
        try start("tea 1h --label Tea --meta ring=once", "egg 1h", "cake 1h", "backup 1h --meta cooldown=yes")
        for line in ["finish tea", "finish egg", "cancel cake", "finish backup"] { _ = try typist.type(line) }
        #expect(try typist.type("snooze").messages == ["egg: started again, 5:00 left, ends TIME"])
        // Its end was answered, so that an older one is not meant.
        let second = try typist.type("snooze 10m")
        #expect(
            second.exitCode == 75 && second.message.hasPrefix("countdownctl: egg: nothing changed: it is running, ")
        )
        #expect(try typist.type("snooze tea 10m").messages == ["tea (Tea): started again, 10:00 left, ends TIME"])
        #expect(try typist.type("show tea").data.contains { $0.contains("ring=once") })
        #expect(try typist.type("snooze").message.contains("tea (Tea): nothing changed: it is running"))
        #expect(try typist.type("snooze backup 1m").exitCode == 0)
        let running = try typist.type("snooze tea 1m")
        #expect(running.exitCode == 75)
        #expect(running.message.hasPrefix("countdownctl: tea (Tea): nothing changed: it is running, "))
        let cancelled = try typist.type("snooze cake")
        #expect(cancelled.exitCode == 3)
        #expect(cancelled.message.hasPrefix("countdownctl: cake: nothing changed: it is cancelled"))
        // A countdown that finishes later comes before those that were snoozed.
        try start("rice 1h")
        _ = try typist.type("finish rice")
        #expect(try typist.type("snooze").messages == ["rice: started again, 5:00 left, ends TIME"])
    }

    @Test("the file of defaults has the duration of snooze, an option overrides it, and an error names the line")
    func snoozeDefault() throws {
        let directory = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: directory.path(of: "countdownd"),
            withIntermediateDirectories: true
        )
        let file = try directory.write("# mine\nsnooze = 12m\n", to: "countdownd/config")
        var typist = typist
        typist.environment = ["XDG_CONFIG_HOME": directory.path]
        try start("tea 1h")
        _ = try typist.type("finish tea")
        #expect(try typist.type("snooze").messages == ["tea: started again, 12:00 left, ends TIME"])
        _ = try typist.type("finish tea")
        #expect(try typist.type("snooze 1m").messages == ["tea: started again, 1:00 left, ends TIME"])
        _ = try typist.type("finish tea")
        try directory.write("\nsnooze = later\n", to: "countdownd/config")
        let fault = try typist.type("snooze")
        let sentence = "snooze: invalid duration 'later'; use for example 5m, 90s or 1:30"
        #expect(fault.exitCode == 64 && fault.standardError.hasPrefix("countdownctl: \(file):2: \(sentence)\n"))
    }
}
