import TestSupport
import Testing

@Suite("countdownctl cancel, finish, pause, resume and adjust")
struct ChangeCommandsTests {
    private let daemon: DaemonProcess
    private let typist: Typist

    init() throws {
        daemon = try DaemonProcess()
        typist = Typist(daemon)
        for key in ["a", "b"] { _ = try typist.type("start \(key) 1h") }
    }

    /// The state of a countdown.
    private func state(_ key: String) throws -> String? {
        try member("state", of: typist.type("show \(key) --json").standardOutput)
    }

    @Test(
        "cancel, finish and pause KEY… change each key and report it",
        arguments: [
            ("cancel", "cancelled", "cancelled, "), ("finish", "finished", "finished"), ("pause", "paused", "paused, "),
        ]
    )
    func changesAll(_ verb: String, _ state: String, _ message: String) throws {
        let run = try typist.type("\(verb) a b")
        #expect(run.exitCode == 0)
        #expect(run.standardOutput.isEmpty)
        #expect(run.messages.count == 2)
        for (key, line) in zip(["a", "b"], run.messages) {
            #expect(line.hasPrefix("\(key): \(message)"))
            #expect(try self.state(key) == state)
        }
    }

    @Test("resume KEY… lets paused countdowns run on")
    func resumes() throws {
        _ = try typist.type("pause a b")
        let run = try typist.type("resume a b")
        #expect(run.exitCode == 0)
        #expect(run.messages.allSatisfy { $0.contains(": resumed, ") && $0.hasSuffix(" left, ends TIME") })
        #expect(try state("a") == "running")
    }

    @Test("with several keys all are changed even if one is unknown, and the highest code counts")
    func changesAllThatAreKnown() throws {
        _ = try typist.type("cancel b")
        let run = try typist.type("pause b nothing a")
        #expect(run.exitCode == 4)
        #expect(run.message.hasPrefix("countdownctl: b: nothing changed: it is cancelled at TIME"))
        #expect(run.messages[1] == "countdownctl: nothing: no such countdown")
        #expect(run.messages[2].hasPrefix("a: paused, "))
        #expect(try typist.type("pause b").exitCode == 3)
    }

    @Test("pause of a paused and resume of a running countdown report it and exit with 0")
    func findsItDone() throws {
        _ = try typist.type("pause a")
        let paused = try typist.type("pause a")
        #expect(paused.message.hasPrefix("a: nothing changed: it is already paused, "))
        #expect(paused.exitCode == 0)
        let running = try typist.type("resume b")
        #expect(running.message.hasPrefix("b: nothing changed: it is already running, "))
        #expect(running.exitCode == 0)
    }

    @Test("several keys and --json print an object a line")
    func printsObjects() throws {
        let run = try typist.type("pause a b --json -q")
        #expect(run.data.count == 2)
        #expect(run.data.allSatisfy { $0.contains(#""state":"paused""#) })
        #expect(run.standardError.isEmpty)
    }

    @Test("adjust KEY +D or -D changes the remaining time and the duration")
    func adjusts() throws {
        let more = try typist.type("adjust a +30m")
        #expect(more.message.hasPrefix("a: adjusted, 1:"))
        #expect(try member("durationUSec", of: typist.type("show a --json").standardOutput) == "5400000000")
        let less = try typist.type("adjust a -1h")
        #expect(less.exitCode == 0)
        #expect(try member("durationUSec", of: typist.type("show a --json").standardOutput) == "1800000000")
        #expect(try typist.type("adjust -q b -59m").standardError.isEmpty)
        #expect(try typist.type("adjust b -5m").messages == ["b: finished, because no time remained"])
        #expect(try typist.type("adjust b +5m").exitCode == 3)
    }

    @Test("adjust KEY --until T sets a deadline, and refuses a paused countdown")
    func adjustsUntil() throws {
        #expect(try typist.type("adjust a --until 23:59:59").exitCode == 0)
        #expect(try member("clock", of: typist.type("show a --json").standardOutput) == "wall")
        _ = try typist.type("pause b")
        let refused = try typist.type("adjust b --until 23:59:59")
        #expect(refused.exitCode == 3)
        #expect(refused.messages.last?.contains("`countdownctl resume b` first") == true)
        #expect(try typist.type("adjust b +1m").exitCode == 0)
    }

    @Test("a change with another revision is not made and exits with 75")
    func keepsRevisions() throws {
        let revision = try #require(try member("revision", of: typist.type("show a --json").standardOutput))
        _ = try typist.type("adjust a +1m")
        let run = try typist.type("cancel a --if-revision \(revision)")
        #expect(run.exitCode == 75)
        #expect(run.message.hasPrefix("countdownctl: a: revision mismatch: its revision is "))
        #expect(try typist.type("is-running a").exitCode == 0)
        #expect(try typist.type("cancel a b --if-revision \(revision)").exitCode == 64)
    }

    @Test("a change is made even if the reader of the output has gone")
    func changesUnread() throws {
        _ = try typist.type(shell: "{ countdownctl pause a b --json; echo $? >&2; } | true")
        #expect(try state("a") == "paused")
        #expect(try state("b") == "paused")
    }

    @Test("a key that is too long for a call is refused, and the keys after it are still changed")
    func passesOverLongKeys() throws {
        for key in ["tea", "egg"] { _ = try typist.type("start \(key) 1h") }
        let run = try typist.type(words: ["cancel", "tea", String(repeating: "\u{1}", count: 60_000), "egg"])
        #expect(run.exitCode == 64)
        #expect(run.messages.map { $0.prefix { $0 != ":" } } == ["tea", "countdownctl", "egg"])
        #expect(try typist.type("list tea egg").messages == ["no countdowns match"])
    }
}
