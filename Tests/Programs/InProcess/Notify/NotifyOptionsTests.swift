import Foundation
import IPC
import System
import TestSupport
import Testing
import Text
import Varlink

@testable import countdown_notify

@Suite("The command line of countdown-notify")
struct NotifyOptionsTests {
    @Test("a word without wildcards is a key; options may be anywhere before --")
    func parses() throws {
        let words = ["tea", "--progress", "login/*", "--state-directory=/a", "--state-directory", "/b", "--", "--help"]
        let options = NotifierOptions(
            selection: KeySelection(typed: ["login/*"], keys: ["tea", "--help"]),
            showsProgress: true,
            stateDirectory: "/b"
        )
        #expect(try NotifierOptions.parse(words) == .run(options))
        #expect(try NotifierOptions.parse([]) == .run(NotifierOptions()))
        #expect(try NotifierOptions.parse(["--progress", "--help"]) == .showHelp)
        #expect(try NotifierOptions.parse(["--session"]) == .run(NotifierOptions(endsWithBus: true)))
        #expect(try NotifierOptions.parse(["--version"]) == .showVersion)
    }

    @Test(
        "an error names what was typed and what is expected",
        arguments: [
            (["--loud"], "unknown option '--loud'; see --help"), (["-p"], "unknown option '-p'; see --help"),
            (["--state-directory"], "--state-directory needs a value; see --help"),
            (["--state-directory="], "--state-directory needs a value; see --help"),
            ([""], "invalid pattern '': use a key or a pattern"),
            (["--ring", "loud"], "invalid --ring 'loud': use yes, once or no"),
            (["--ring-times", "0"], "invalid --ring-times '0': use a number of at least 1"),
            (["--critical", "a["], "invalid --critical 'a[': use a pattern with a ] after each ["),
            (["--warn", "soon"], "--warn: invalid duration 'soon'; use for example 5m, 90s or 1:30"),
        ]
    )
    func refuses(words: [String], sentence: String) {
        #expect(throws: Exit(64, sentence)) { try NotifierOptions.parse(words) }
    }

    @Test("the options for sounds, warnings and waking are read")
    func announcements() throws {
        let words = "--ring once --ring-times 5 --sound /a --critical b* --critical c --warn 1m30s --wake"
        var options = NotifierOptions()
        options.rules.ring = .once
        options.rules.warningUSec = 90_000_000
        options.rules.critical = ["b*", "c"].compactMap(KeyPattern.init)
        options.maximumSounds = 5
        options.sound = "/a"
        options.wakes = true
        #expect(try NotifierOptions.parse(words.split(separator: " ").map(String.init)) == .run(options))
    }

    /// Reads a command line with a file of defaults.
    private func command(_ words: String, _ file: String) throws -> NotifierCommand {
        let directory = try TemporaryDirectory()
        try directory.makeDirectory("countdownd")
        try directory.write(file, to: "countdownd/config")
        let variables = ["XDG_CONFIG_HOME": directory.path, "HOME": "/home/alice"]
        return try NotifierOptions.parse(words.split(separator: " ").map(String.init)) {
            () throws(DefaultsFile.Invalid) in try DefaultsFile { variables[$0] }
        }
    }

    private func options(_ words: String, _ file: String) throws -> NotifierOptions {
        let command = try command(words, file)
        guard case .run(let options) = command else { throw Exit(1, "\(command)") }
        return options
    }

    @Test("the file of defaults sets what options override")
    func defaults() throws {
        let file = "ring = once\nring-times=5\nwarn = 1m\nsnooze = 10m\nsound = ~/gong.wav\n"
        let read = try options("", file)
        #expect(read.rules == AnnouncementRules(ring: .once, warningUSec: 60_000_000, snoozeUSec: 600_000_000))
        #expect(read.maximumSounds == 5 && read.sound == "/home/alice/gong.wav")
        let typed = try options("--ring no --ring-times 2 --warn 5s --sound /a", file)
        #expect(typed.rules == AnnouncementRules(ring: .no, warningUSec: 5_000_000, snoozeUSec: 600_000_000))
        #expect(typed.maximumSounds == 2 && typed.sound == "/a")
    }

    @Test(
        "an error in the file of defaults names the line, the value and what is expected, and the help is shown all the same",
        arguments: [
            ("\nring = loud", "config:2: invalid ring 'loud': use yes, once or no"),
            ("ring-times = few", "config:1: invalid ring-times 'few': use a number of at least 1"),
            ("snooze = 0", "config:1: snooze: invalid duration '0'; use for example 5m, 90s or 1:30"),
            ("warn = soon", "config:1: warn: invalid duration 'soon'; use for example 5m, 90s or 1:30"),
        ]
    )
    func defaultFaults(file: String, sentence: String) throws {
        let error = #expect(throws: Exit.self) { try options("", file) }
        #expect(error?.status == 64 && error?.sentence.hasSuffix("/countdownd/\(sentence)") == true, "\(error as Any)")
        #expect(try command("--help", file) == .showHelp)
    }

    @Test("a sound file of the defaults that cannot be read is named with its line")
    func defaultSound() throws {
        let error = #expect(throws: Exit.self) { try options("", "sound = /nonexistent/a.oga\n").checkSound() }
        #expect(error?.sentence.hasSuffix("/config:1: sound /nonexistent/a.oga: No such file or directory") == true)
    }

    @Test("a sound file that cannot be read is named")
    func sound() throws {
        var options = NotifierOptions()
        try options.checkSound()
        options.sound = "/nonexistent/a.oga"
        #expect(throws: Exit(66, "--sound /nonexistent/a.oga: No such file or directory")) { try options.checkSound() }
        options.sound = "/"
        #expect(throws: Exit(66, "--sound /: Is a directory")) { try options.checkSound() }
    }

    @Test("the help fits on a terminal of 120 columns")
    func help() {
        #expect(NotifierOptions.help.split(separator: "\n").allSatisfy { $0.count <= 116 })
    }

    @Test("the state directory has the program's name, and without a home one must be named")
    func directory() throws {
        #expect(try StateFile.directory(option: nil) { $0 == "XDG_STATE_HOME" ? "/x" : nil } == "/x/countdown-notify")
        #expect(throws: Exit.self) { try StateFile.directory(option: nil) { _ in nil } }
    }
}

@Suite("The state file")
final class StateFileTests: DirectorySuite {
    @Test("it is read as it was written, from a directory that is made for its user alone")
    func reads() throws {
        let path = directory.path(of: "a/b")
        let stateFile = try StateFile(in: path)
        #expect(try stateFile.read() == nil)
        for (revision, lastEnd) in [(7, 5), (8, 0), (.max, .max)] as [(Int64, Int64)] {
            let state = DeliveryState(revision: revision, lastEnd: lastEnd, lastRing: lastEnd)
            try stateFile.write(state)
            #expect(try stateFile.read() == state)
        }
        #expect(try FileStatus.read(path).mode == 0o700)
        #expect(try FileStatus.read("\(path)/delivered").mode == 0o600)
    }

    @Test("a file of an earlier version, with two revisions, is read")
    func earlier() throws {
        let stateFile = try StateFile(in: directory.path)
        try directory.write("7 5\n", to: "delivered")
        #expect(try stateFile.read() == DeliveryState(revision: 7, lastEnd: 5, lastRing: 5))
    }

    @Test(
        "a file without revisions is refused",
        arguments: ["", "1 2", "12\n", "tea 1\n", "1  2\n", "-1 2\n", "1 2 -3\n", "1 2 3 4\n"]
    )
    func refuses(text: String) throws {
        let stateFile = try StateFile(in: directory.path)
        try directory.write(text, to: "delivered")
        #expect(throws: StateFile.Unreadable.self) { _ = try stateFile.read() }
    }

    @Test("a directory has one user at a time, and an error names a directory that cannot be used")
    func locked() throws {
        let path = directory.path
        let first = try StateFile(in: path)
        let second = #expect(throws: Exit.self) { _ = try StateFile(in: path) }
        #expect(second?.status == 69)
        #expect(second?.sentence.contains("process \(ProcessInfo.processInfo.processIdentifier) on ") == true)
        let file = try directory.write("", to: "file")
        #expect(throws: Exit.self) { _ = try StateFile(in: file) }
        #expect(throws: Exit.self) { _ = try StateFile(in: "\(file)/a") }
        _ = try? first.read()
    }
}

@Suite("Actions on a countdown that has ended")
struct PendingStartTests {
    @Test("Again starts it with its fields, +1 min extends it, and neither shortens one that runs")
    func calls() {
        var tea = ended("tea", label: "Earl Grey", metadata: ["a": "b"])
        var again = Start(key: "tea", durationUSec: 300_000_000, ifRunning: .attach, label: "Earl Grey")
        again.metadata = ["a": "b"]
        #expect(PendingStart.call(for: .again, of: tea) == again)
        tea.forget = true
        let minute = PendingStart.call(for: .addTime, of: tea)
        #expect(minute?.durationUSec == 60_000_000 && minute?.ifRunning == .extend && minute?.forget == true)
        let rules = AnnouncementRules(snoozeUSec: 5)
        #expect(PendingStart.call(for: .addTime, of: tea, rules)?.durationUSec == 5)
        #expect(PendingStart.call(for: .dismiss, of: tea) == nil)
    }

    @Test("a missing bus address is explained in words")
    func failures() {
        let explanation = BusFailure(call: "sd_bus_open_user", code: 123).explanation
        #expect(explanation.hasPrefix("neither DBUS_SESSION_BUS_ADDRESS nor"))
        #expect(BusFailure(call: "sd_bus_open_user", code: 2).explanation == "No such file or directory")
    }

    @Test("an action that failed is reported with the reason")
    func troubles() {
        let error = ClientError.countdown(.storageFailed(reason: "disk full"))
        let trouble = PendingStart.failureNotification(.again, of: ended("tea"), error, .at(0))
        #expect(trouble.summary == "tea")
        #expect(trouble.body == "It could not be started again: the daemon cannot use its store: disk full")
    }

    @Test("without a translation, the reasons are the sentences of the errors")
    func reasons() {
        let errors: [ClientError] = [
            .unreachable(path: "/a", errno: ENOENT), .disconnected, .failed(errno: EIO), .service(.permissionDenied),
            .countdown(.limitReached(limit: "countdowns", maximum: 5)), .countdown(.storageFailed(reason: "full")),
            .countdown(.unreachable(reason: "late")), .countdown(.noSuchCountdown(key: "a")),
            .service(.methodNotFound("a")), .callTooLong(bytes: 5), .unknownError(name: "a"),
        ]
        for error in errors { #expect(Strings.at(0).reason(error) == "\(error)") }
    }
}
