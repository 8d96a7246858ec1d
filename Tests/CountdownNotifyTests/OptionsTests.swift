import IPC
import TestSupport
import Testing

@testable import countdown_notify

@Suite("The command line of countdown-notify")
struct OptionsTests {
    @Test("what has nothing of a pattern is a key; options stand anywhere, and behind -- nowhere")
    func parses() throws {
        let words = ["tea", "--progress", "login/*", "--state-directory=/a", "--state-directory", "/b", "--", "--help"]
        let options = NotifierOptions(
            patterns: ["login/*"],
            keys: ["tea", "--help"],
            showsProgress: true,
            stateDirectory: "/b"
        )
        #expect(try NotifierOptions.parse(words) == .run(options))
        #expect(try NotifierOptions.parse([]) == .run(NotifierOptions()))
        #expect(try NotifierOptions.parse(["--progress", "--help"]) == .showHelp)
        #expect(try NotifierOptions.parse(["--version"]) == .showVersion)
    }

    @Test(
        "what cannot be meant is named",
        arguments: [
            (["--loud"], "there is no option --loud, see --help"), (["-p"], "there is no option -p, see --help"),
            (["--state-directory"], "--state-directory needs a value, see --help"),
            (["--state-directory="], "--state-directory needs a value, see --help"),
            ([""], "an empty pattern matches nothing; without any, all are told"),
        ]
    )
    func refuses(words: [String], sentence: String) {
        #expect(throws: Exit(64, sentence)) { try NotifierOptions.parse(words) }
    }

    @Test("all countdowns are watched where none are named")
    func watches() {
        #expect(NotifierOptions().watch(tick: 0) == Watch(tickUSec: 0, heartbeatUSec: ResumableWatch.heartbeat))
        let named = NotifierOptions(patterns: ["a*"], keys: ["b"]).watch(tick: 5, since: 7)
        #expect(
            named == Watch(match: ["a*"], tickUSec: 5, since: 7, heartbeatUSec: ResumableWatch.heartbeat, keys: ["b"])
        )
    }

    @Test("the help fits on a terminal of 120 columns, as that of countdownd")
    func help() {
        #expect(NotifierOptions.help.split(separator: "\n").allSatisfy { $0.count <= 116 })
    }

    @Test("what is remembered is where the option says, else where systemd or the specification has it")
    func directory() throws {
        func directory(_ option: String?, _ variables: [String: String]) throws -> String {
            try StateFile.directory(option: option) { variables[$0] }
        }
        let all = ["STATE_DIRECTORY": "/s:/t", "XDG_STATE_HOME": "/x", "HOME": "/h"]
        #expect(try directory("/o", all) == "/o")
        #expect(try directory(nil, all) == "/s")
        #expect(try directory(nil, ["XDG_STATE_HOME": "/x", "HOME": "/h"]) == "/x/countdown-notify")
        #expect(try directory(nil, ["HOME": "/h"]) == "/h/.local/state/countdown-notify")
        #expect(throws: Exit.self) { try directory(nil, [:]) }
    }
}

@Suite("What is remembered")
struct RecordTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("it is read as it was written, from a directory that is made for its user alone")
    func reads() throws {
        let path = directory.path(of: "a/b")
        let stateFile = try StateFile(in: path)
        #expect(try stateFile.read() == nil)
        for told in [DeliveryState(all: 7, ending: 5), DeliveryState(all: 8, ending: 0), DeliveryState(all: .max, ending: .max)] {
            try stateFile.write(told)
            #expect(try stateFile.read() == told)
        }
        #expect(try FileStatus.read(path).mode == 0o700)
        #expect(try FileStatus.read("\(path)/told").mode == 0o600)
    }

    @Test(
        "what is no revision is refused, not taken for one",
        arguments: ["", "1 2", "12\n", "tea 1\n", "1  2\n", "-1 2\n"]
    )
    func refuses(text: String) throws {
        let stateFile = try StateFile(in: directory.path)
        try directory.write(text, to: "told")
        #expect(throws: StateFile.Unreadable.self) { try stateFile.read() }
    }

    @Test("a directory has one at a time, and one that cannot be had is named")
    func one() throws {
        let first = try StateFile(in: directory.path)
        #expect(throws: Exit.self) { try StateFile(in: directory.path) }
        try directory.write("", to: "file")
        #expect(throws: Exit.self) { try StateFile(in: directory.path(of: "file")) }
        withExtendedLifetime(first) {}
    }
}

@Suite("What can be done about a countdown that has ended")
struct ErrandTests {
    @Test("again starts it with what it had, a minute extends it, both without harm to one that runs")
    func calls() {
        var tea = ended("tea", label: "Earl Grey")
        tea.metadata = ["a": "b"]
        let again = Start(
            key: "tea",
            durationUSec: 300_000_000,
            ifRunning: .attach,
            label: "Earl Grey",
            metadata: ["a": "b"]
        )
        #expect(PendingStart.start(.again, of: tea) == again)
        tea.forget = true
        let minute = PendingStart.start(.addMinute, of: tea)
        #expect(minute?.durationUSec == 60_000_000 && minute?.ifRunning == .extend && minute?.forget == true)
        #expect(PendingStart.start(.dismiss, of: tea) == nil)
    }

    @Test("a bus that nobody names is said to be one, not a medium that is missing")
    func failures() {
        #expect(BusFailure(call: "sd_bus_open_user", code: 123).sentence.hasPrefix("neither DBUS_SESSION_BUS_ADDRESS"))
        #expect(BusFailure(call: "sd_bus_open_user", code: 2).sentence == "No such file or directory")
    }

    @Test("that it came to nothing is told, with why")
    func troubles() {
        let trouble = PendingStart.trouble(.again, of: ended("tea"), .countdown(.storageFailed(reason: "disk full")))
        #expect(trouble.summary == "tea")
        #expect(trouble.body == "It could not be started again: the daemon cannot store it: disk full")
    }
}
