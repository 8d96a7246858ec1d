import TestSupport
import Testing

@Suite("countdownctl start")
struct StartCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
    }

    @Test(
        "start KEY [DURATION | --for D | --until T] starts a countdown and prints its end",
        arguments: [
            ("start tea", "tea: started, 1:00 left, ends TIME"),
            ("start tea 5m", "tea: started, 5:00 left, ends TIME"),
            ("start tea 90", "tea: started, 1:30 left, ends TIME"),
            ("start tea 1:02:03", "tea: started, 1:02:03 left, ends TIME"),
            ("start tea --for 1.5m", "tea: started, 1:30 left, ends TIME"),
            ("start tea --label green 5m", "tea (green): started, 5:00 left, ends TIME"),
            ("start --key 5m 10m", "5m: started, 10:00 left, ends TIME"),
            ("start -- -tea 5m", "-tea: started, 5:00 left, ends TIME"),
        ]
    )
    func starts(_ line: String, _ message: String) throws {
        let run = try typist.type(line)
        #expect(run.messages == [message])
        #expect(run.standardOutput.isEmpty)
        #expect(run.exitCode == 0)
    }

    @Test("start --until takes the next such time of day, and its countdown follows the system clock")
    func startsUntil() throws {
        let run = try typist.type("start call --until 23:59:59")
        #expect(run.messages.last?.hasPrefix("call: started, ") == true)
        #expect(run.messages.last?.hasSuffix(" left, ends TIME") == true)
        #expect(try member("clock", of: typist.type("show call --json").standardOutput) == "wall")
    }

    @Test("start --until with a time that has passed today takes tomorrow's, and says so")
    func startsTomorrow() throws {
        let run = try typist.type("start call --until 0:00:00")
        #expect(run.messages.first == "'0:00:00' has passed today; using tomorrow")
        #expect(run.messages.last?.hasPrefix("call: started, ") == true)
        #expect(run.exitCode == 0)
    }

    @Test("start on a running key reports that nothing changed, and names --restart")
    func findsRunning() throws {
        let first = try typist.type("start tea 1h")
        #expect(first.exitCode == 0)
        let before = try typist.type("show tea --json").standardOutput
        let run = try typist.type("start tea 2h --label other")
        #expect(run.exitCode == 0)
        let message = try #require(run.messages.first)
        #expect(message.hasPrefix("tea: already running, "))
        #expect(message.hasSuffix(" left, ends TIME; nothing changed; --restart starts it again"))
        let after = try typist.type("show tea --json").standardOutput
        for name in ["revision", "durationUSec", "deadlineUSec"] {
            #expect(try member(name, of: after) == member(name, of: before))
        }
    }

    @Test("start on a paused key names resume as well")
    func findsPaused() throws {
        _ = try typist.type("start tea 1h")
        _ = try typist.type("pause tea")
        let message = try #require(try typist.type("start tea").messages.first)
        #expect(message.hasPrefix("tea: already paused, "))
        #expect(message.hasSuffix("nothing changed; `countdownctl resume tea` continues it, --restart starts it again"))
    }

    @Test("start --later lets the later end win, within --max")
    func letsTheLaterEndWin() throws {
        #expect(try typist.type("start api 42s --later").messages == ["api: started, 0:42 left, ends TIME"])
        #expect(try typist.type("start api 1m --later").messages == ["api: extended, 1:00 left, ends TIME"])
        for line in ["start api 5s --later", "start api 1m --later --max 1m"] {
            let run = try typist.type(line)
            #expect(run.exitCode == 0)
            #expect(run.message.hasPrefix("api: already running, "))
            #expect(run.message.hasSuffix(" left, ends TIME; nothing changed"))
        }
        _ = try typist.type("pause api")
        let refused = try typist.type("start api --until 23:59:59 --later")
        #expect(refused.exitCode == 3)
        #expect(refused.message.hasSuffix("api: is paused; nothing changed"))
    }

    @Test("start --restart starts it again, --extend adds, --fail changes nothing and exits with 75")
    func choosesWhatToDo() throws {
        _ = try typist.type("start tea 1h")
        #expect(try typist.type("start tea 5m --restart").messages == ["tea: restarted, 5:00 left, ends TIME"])
        let extended = try typist.type("start tea 5m --extend")
        #expect(extended.message.hasPrefix("tea: extended, "))
        #expect(try member("durationUSec", of: typist.type("show tea --json").standardOutput) == "600000000")
        let failed = try typist.type("start tea --fail")
        #expect(failed.exitCode == 75)
        #expect(failed.message.hasPrefix("countdownctl: tea: already running, "))
        #expect(try typist.type("start coffee --fail").exitCode == 0)
    }

    @Test("start --rate accepts so many at once, says how many are left, and refuses with the time until the next")
    func startsAtRate() throws {
        #expect(try typist.type("start codes --rate 3/1h").messages == ["codes: accepted, 2 left now"])
        #expect(try typist.type("start codes --rate 3/1h").messages == ["codes: accepted, 1 left now"])
        let last = try typist.type("start codes --rate 3/1h --json")
        #expect(last.message.wholeMatch(of: #/codes: accepted, the next one in (20:00|19:[0-9]{2})/#) != nil)
        #expect(last.standardOutput.hasPrefix(#"{"outcome":"extended","countdown":{"#))
        let refused = try typist.type("start codes --rate 3/1h --json")
        #expect(refused.exitCode == 75)
        #expect(refused.message.wholeMatch(of: #/countdownctl: codes: again in (20:00|19:[0-9]{2})/#) != nil)
        #expect(refused.standardOutput.hasPrefix(#"{"outcome":"refused","countdown":{"#))
        #expect(try member("retryAfterUSec", of: refused.standardOutput) != nil)
        _ = try typist.type("pause codes")
        let paused = try typist.type("start codes --rate 3/1h")
        #expect(paused.message.hasPrefix("countdownctl: codes: paused; again "))
    }

    @Test("start --queue starts the countdown when the one before has ended, or gives up after its timeout")
    func queues() throws {
        _ = try typist.type("start tea 50ms")
        #expect(try typist.type("start tea 1h --queue").messages == ["tea: started, 1:00:00 left, ends TIME"])
        let late = try typist.type("start tea 1h --queue=10ms")
        #expect(late.messages.first == "countdownctl: tea: its turn did not come within 10ms")
        #expect(late.exitCode == 75)
        #expect(try typist.type("start tea 1h --queue --wait").exitCode == 64)
    }

    @Test("start --label --meta --forget stores these values")
    func keepsMore() throws {
        let run = try typist.type("start tea 1h --label green --meta cup=1 --meta pot= --forget --json")
        #expect(run.standardOutput.hasPrefix(#"{"outcome":"started","countdown":{"key":"tea","#))
        #expect(run.standardOutput.contains(#""label":"green","metadata":{"cup":"1","pot":""},"forget":true"#))
        #expect(run.standardOutput.hasSuffix("}}\n"))
        _ = try typist.type("cancel tea")
        #expect(try typist.type("show tea").exitCode == 4)
    }

    @Test("start --wait stays until the end: 0 if it finished, 3 if it was cancelled")
    func waits() throws {
        let run = try typist.type("start tea 30ms --wait")
        #expect(run.messages == ["tea: started, 0:01 left, ends TIME"])
        #expect(run.data == ["tea: finished at TIME"])
        #expect(run.exitCode == 0)

        let waiting = try typist.begin("start coffee 1h --wait --json")
        #expect(try waiting.line()?.hasPrefix(#"{"outcome":"started""#) == true)
        _ = try typist.type("cancel coffee")
        #expect(try waiting.line()?.contains(#""state":"cancelled""#) == true)
        #expect(try waiting.finish().exitCode == 3)
    }

    @Test("start --wait with --forget gets the end, however short the countdown is")
    func waitsForTheShortest() throws {
        let run = try typist.type("start blink 1us --forget --wait")
        #expect(run.data == ["blink: finished at TIME"])
        #expect(run.exitCode == 0)
    }

    @Test("start --attach follows to the end, with each whole second that remains")
    func attaches() throws {
        let run = try typist.type("start tea 2s --attach")
        #expect(
            run.data == ["tea: started, 0:02 left, ends TIME", "tea: 0:01 left", "tea: finished at TIME"]
        )
        #expect(run.messages == [])
        #expect(run.exitCode == 0)
    }

    @Test("start --restart --attach does not take the end of the earlier countdown for its own")
    func attachesAfterRestart() throws {
        _ = try typist.type("start tea 1h")
        let attached = try typist.begin("start tea 1h --restart --attach")
        #expect(try attached.line()?.hasPrefix("tea: restarted, 1:00:00 left") == true)
        _ = try typist.type("finish tea")
        let run = try attached.finish()
        #expect(run.data.last == "tea: finished at TIME")
        #expect(run.exitCode == 0)
    }

    @Test("start --attach on a running key reports it and follows the running countdown")
    func attachesToRunning() throws {
        _ = try typist.type("start tea 1h")
        let attached = try typist.begin("start tea 5m --attach")
        #expect(try attached.line()?.hasPrefix("tea: running, ") == true)
        attached.interrupt()
        let run = try attached.finish()
        #expect(run.messages.first?.hasPrefix("tea: already running, ") == true)
        #expect(run.messages.last?.hasPrefix("tea: keeps running, ") == true)
        #expect(run.exitCode == 130)
        #expect(try typist.type("is-running tea").exitCode == 0)
    }

    @Test(
        "a single argument that looks like a duration is refused, and nothing is started",
        arguments: ["5m", "90", "1:30"]
    )
    func refusesLengthAsKey(_ text: String) throws {
        let run = try typist.type("start \(text)")
        #expect(
            run.message
                == "countdownctl: missing key; for example `countdownctl start tea \(text)` (`countdownctl start --key=\(text)` has the key '\(text)')"
        )
        #expect(run.exitCode == 64)
        #expect(try typist.type("list --json").standardOutput == "[]\n")
    }

    @Test("-q omits messages, but no errors")
    func isQuiet() throws {
        let run = try typist.type("start tea 1h -q")
        #expect(run.standardOutput.isEmpty && run.standardError.isEmpty)
        #expect(try typist.type("start tea --fail -q").messages.count == 1)
        #expect(try typist.type("start coffee 20ms --attach -q").standardOutput.isEmpty)
    }
}
