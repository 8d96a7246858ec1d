import Foundation
import IPC
import TestSupport
import Testing
import Varlink

@Suite("countdownctl timer, toggle and snooze, and the words @next and @last")
final class TimerCommandsTests: CommandSuite {
    @Test("behind many cooldowns that end before it, a countdown is still found")
    func findsBehindCooldowns() throws {
        let caller = try Caller(of: daemon)
        for number in 0..<100 {
            let metadata: TextMap<String> = ["cooldown": "yes"]
            _ = try caller.call(Start(key: "c\(number)", durationUSec: .seconds(60), metadata: metadata))
        }
        try prepare("start tea 2h", "start egg 1h")
        for (verb, key) in [("pause", "egg"), ("pause", "tea"), ("cancel", "egg")] {
            #expect(try typist.type("\(verb) @next").message.hasPrefix("\(key): "))
        }
    }

    @Test("watch and wait follow the countdown that the word stood for when they began")
    func follows() throws {
        try prepare("start late 2h", "start early 1h")
        let wait = try typist.begin("wait @next")
        let watch = try typist.begin("watch @last --tick 0 --json")
        try typist.awaitWatchers(2)
        try prepare("start earlier 30m", "finish early")
        #expect(try wait.finish().exitCode == 0)
        #expect(try watch.line()?.contains(#""key":"early""#) == true)
        _ = try watch.stop()
    }

    @Test("the file of defaults has the duration of snooze, an option overrides it, and an error names the line")
    func snoozeDefault() throws {
        try directory.makeDirectory("countdownd")
        var typist = typist
        typist.environment = ["XDG_CONFIG_HOME": directory.path]
        let file = try directory.write("# mine\nsnooze = 12m\n", to: "countdownd/config")
        for (line, left) in [("snooze", "12:00"), ("snooze 1m", "1:00")] {
            try prepare("start tea 1h", "finish tea")
            #expect(try typist.type(line).messages == ["tea: started again, \(left) left, ends TIME"])
        }
        try directory.write("\nsnooze = later\n", to: "countdownd/config")
        let fault = try typist.type("snooze")
        let sentence = "snooze: invalid duration 'later'; use for example 5m, 90s or 1:30"
        #expect(fault.exitCode == 64 && fault.standardError.hasPrefix("countdownctl: \(file):2: \(sentence)\n"))
    }
}
