import Foundation
import TestSupport
import Testing

@testable import System

@Suite("The status of the notifications")
final class NotifierStatusTests: DirectorySuite {
    private func status(_ home: String = "home") -> NotifierStatus {
        NotifierStatus(root: directory.path) { $0 == "HOME" ? directory.path(of: home) : nil }
    }

    @Test("a link of the user or of the administrator enables the service, also if its target is missing")
    func enabled() throws {
        #expect(status().isEnabled == nil)
        try directory.makeDirectory("run/systemd/system")
        #expect(status().isEnabled == false)
        for folder in ["home/.config", "etc"] {
            let wants = "\(folder)/systemd/user/graphical-session.target.wants"
            try directory.makeDirectory(wants)
            let link = directory.path(of: "\(wants)/countdown-notify.service")
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "/nonexistent")
            #expect(status().isEnabled == true)
            try FileManager.default.removeItem(atPath: link)
        }
    }

    @Test("a state counts only while a countdown-notify runs")
    func reported() throws {
        let folder = "home/.local/state/countdown-notify"
        try directory.makeDirectory(folder)
        #expect(status().state == nil)
        // This process has another name.
        try NotifierStatus.report("shown", wakes: false, in: directory.path(of: folder))
        #expect(status().state == nil)
        for text in ["", "x\ny\n", "99999999999\ny\n", "\(getpid())"] {
            try directory.write(text, to: "\(folder)/status")
            #expect(status().state == nil)
        }
    }

    @Test("the sentence has the command that helps")
    func sentences() {
        func sentence(_ isEnabled: Bool?, _ state: String?) -> String {
            NotifierStatus(isEnabled: isEnabled, state: state).sentence
        }
        #expect(sentence(true, "shown by dunst 1.9; rings") == "shown by dunst 1.9; rings")
        #expect(sentence(nil, "shown\u{7}") == "shown\\u{7}")
        #expect(
            sentence(false, "shown")
                == "shown; not enabled, so not there after the next login: `systemctl --user enable --now countdown-notify`"
        )
        #expect(sentence(true, nil) == "not running, so ends are not shown: `systemctl --user start countdown-notify`")
        #expect(
            sentence(false, nil)
                == "not enabled, so ends are not shown: `systemctl --user enable --now countdown-notify`"
        )
        #expect(sentence(nil, nil) == "not running, so ends are not shown: `countdown-notify --session`")
    }
}

@Suite("The file of defaults")
final class DefaultsFileTests: DirectorySuite {
    private func read(_ text: String) throws -> DefaultsFile {
        try directory.makeDirectory(".config/countdownd")
        try directory.write(text, to: ".config/countdownd/config")
        return try DefaultsFile { $0 == "HOME" ? directory.path : nil }
    }

    @Test("a missing file has no settings")
    func missing() throws {
        #expect(try DefaultsFile { _ in nil }.settings.isEmpty)
        #expect(try DefaultsFile { $0 == "HOME" ? directory.path : nil }.settings.isEmpty)
    }

    @Test(
        "spaces, comments, empty lines and line ends of other systems have no effect, and the last line of a name counts"
    )
    func reads() throws {
        let file = try read("# mine\r\n\r\n  snooze =  10m \t\nsound=~/a = b.wav\n  # ring = no\nsnooze=5m")
        #expect(file.settings.map(\.value) == ["10m", "\(directory.path)/a = b.wav", "5m"])
        #expect(file[.snooze]?.value == "5m")
        #expect(file[.snooze]?.place == "\(directory.path)/.config/countdownd/config:6")
        #expect(file[.ring] == nil)
    }

    @Test(
        "an error names the file, the line and what is expected",
        arguments: [
            ("\nvolume = 5", ":2: unknown name 'volume': use ring, ring-times, snooze, sound, warn"),
            ("[countdownd]", ":1: unknown name '[countdownd]': use ring, ring-times, snooze, sound, warn"),
            ("sound =", ":1: sound needs a value: sound = VALUE"), ("ring", ":1: ring needs a value: ring = VALUE"),
            ("\u{7} = 1", ":1: unknown name '\\u{7}': use ring, ring-times, snooze, sound, warn"),
        ]
    )
    func refuses(text: String, sentence: String) throws {
        let path = "\(directory.path)/.config/countdownd/config"
        #expect(throws: DefaultsFile.Invalid(sentence: path + sentence)) { try read(text) }
    }

    @Test("a file that cannot be read is an error, and so is a directory in its place")
    func unreadable() throws {
        let path = try directory.makeDirectory(".config/countdownd/config")
        #expect(throws: DefaultsFile.Invalid(sentence: "\(path): Is a directory")) {
            try DefaultsFile { $0 == "HOME" ? directory.path : nil }
        }
    }
}
