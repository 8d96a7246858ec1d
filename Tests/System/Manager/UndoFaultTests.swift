import TestSupport
import Testing

@Suite("A change is undone under systemd, whatever happens meanwhile", .onMachine)
struct UndoFaultTests {
    private static let directory = "/home/sara/.local/state/countdown-undo"
    private let session: Session

    init() throws {
        session = try Session(of: .sara)
        try shell("mkdir -p ~/bin ~/on; rm -rf ~/on/* ~/log")
        // undo NAME…: notes that it has begun and ended, and removes the marks.
        try shell(
            """
            cat > ~/bin/undo << 'END'
            #!/bin/sh
            cd /home/sara
            echo begin >> log
            for name; do rm -f on/$name; done
            echo end >> log
            END
            chmod +x ~/bin/undo
            """
        )
    }

    @discardableResult
    private func shell(_ line: String) throws -> String { try session.machine.shell(session.user, line) }

    /// The output and the exit code of a line that fails.
    private func failure(_ line: String) throws -> String { try shell("(\(line)) 2>&1 && echo 0 || echo $?") }

    /// The names of the changes that are in force.
    private func changed() throws -> [Substring] { try shell("ls ~/on").split(separator: "\n") }

    private func files() throws -> Int { try shell("ls \(Self.directory)").matches(of: /[0-9]{20}-/).count }

    private func service(_ property: String) throws -> String {
        try session.systemctl("show", "--value", "--property=\(property)", "countdown-undo.service")
    }

    private func log() throws -> [Substring] { try shell("cat ~/log 2> /dev/null || :").split(separator: "\n") }

    @Test("a relative undo, and one in a relative entry of PATH, are found again by the service")
    func relative() throws {
        try shell("cd; countdownctl temporarily a 1us --undo './bin/undo a' -- touch on/a")
        try shell("cd; PATH=bin:$PATH countdownctl temporarily b 1us --undo 'undo b' -- touch on/b")
        try shell("cd ~/bin; PATH=:$PATH countdownctl temporarily c 1us --undo 'undo c' -- touch ../on/c")
        try waitUntil("all to be undone") { try changed().isEmpty && files() == 0 }
    }

    @Test("many short changes, and many commands that do not exist, reach no limit of systemd")
    func manyStarts() throws {
        for number in 1...8 {
            let name = "s\(number)"
            try shell("countdownctl temporarily \(name) 1us --undo '/home/sara/bin/undo \(name)' -- touch ~/on/\(name)")
            #expect(try failure("countdownctl temporarily m 1h --undo true -- no-such-command").hasSuffix("127"))
            // As if the service ended after each change.
            try session.systemctl("kill", "countdown-undo.service")
        }
        try waitUntil("all to be undone") { try changed().isEmpty && files() == 0 }
        #expect(try session.systemctl("is-active", "countdown-undo.path") == "active")
    }

    @Test("a service that cannot start is tried every five seconds, and undoes the change when it can")
    func cannotStart() throws {
        let folder = "~/.config/systemd/user/countdown-undo.service.d"
        let fails = "[Service]\nExecStartPre=/bin/sh -c 'date +%%s >> /home/sara/starts; exit 1'"
        try shell("mkdir -p \(folder); cat > \(folder)/fails.conf << 'END'\n\(fails)\nEND")
        try session.systemctl("daemon-reload")
        try shell("rm -f ~/starts; countdownctl temporarily a 1us --undo '/home/sara/bin/undo a' -- touch ~/on/a")
        try waitUntil("three starts") { try shell("cat ~/starts || :").split(separator: "\n").count >= 3 }
        let starts = try shell("cat ~/starts").split(separator: "\n").compactMap { Int($0) }
        #expect(starts[2] - starts[0] >= 8)
        try shell("rm -r \(folder)")
        try session.systemctl("daemon-reload")
        try waitUntil("it to be undone") { try changed().isEmpty && files() == 0 }
    }

    @Test("a program that the undo leaves in the background lives on when the service has ended")
    func background() throws {
        let undo = "(while sleep 0.1; do echo tick; echo >> ~/ticks; done) &"
        try shell("countdownctl temporarily a 1h --shell --undo '\(undo)' -- true")
        try shell("countdownctl undo a")
        try waitUntil("the service to end") { try service("ActiveState") == "inactive" }
        let ticks = try shell("wc -l < ~/ticks")
        try waitUntil("it to go on") { try shell("wc -l < ~/ticks") != ticks }
    }

    /// An undo that takes long and notes its beginning and its end, and ignores SIGTERM.
    private func beginLongUndo(_ seconds: Int) throws {
        let wait = "for i in $(seq \(seconds)0); do sleep 0.1; done"
        let undo = "trap : TERM; echo begin >> ~/log; \(wait); rm -f ~/on/a; echo end >> ~/log"
        try shell("countdownctl temporarily a 1us --shell --undo '\(undo)' -- touch ~/on/a")
        try waitUntil("the undo to begin") { try log() == ["begin"] }
    }

    @Test("after a kill of the service in the middle of an undo, the next one waits for its end, and then undoes again")
    func killed() throws {
        try beginLongUndo(8)
        try session.systemctl("kill", "--signal=KILL", "--kill-who=main", "countdown-undo.service")
        #expect(try failure("countdownctl keep a").contains("a: its undo runs"))
        try waitUntil("the second undo to end", by: Deadline(after: .seconds(60))) { try log().count == 4 }
        #expect(try log() == ["begin", "end", "begin", "end"])
        try waitUntil("the file to go") { try files() == 0 }
    }

    @Test("at a stop, an undo that ignores SIGTERM is ended, and runs again at the next start")
    func stopped() throws {
        try beginLongUndo(8)
        try session.systemctl("stop", "countdown-undo.path", "countdown-undo.service")
        #expect(try !shell("ps -o args= -u sara").contains("on/a"))
        #expect(try log() == ["begin"])
        try session.systemctl("start", "countdown-undo.path")
        try waitUntil("it to be undone", by: Deadline(after: .seconds(60))) { try log() == ["begin", "begin", "end"] }
        #expect(try changed().isEmpty)
    }

    @Test("on a full disk each change is undone, the older one too, and none twice")
    func fullDisk() throws {
        defer { try? empty() }
        try fill(older: "older", newer: "newer")
        try shell("countdownctl finish undo/newer; countdownctl finish undo/older")
        try waitUntil("both to be undone") { try changed().isEmpty && files() == 0 }
        #expect(try log().count == 4)
    }

    @Test("on a full disk a change can be kept, and undone at once")
    func fullDiskByHand() throws {
        defer { try? empty() }
        try fill(older: "kept", newer: "undone")
        try shell("countdownctl keep kept; countdownctl undo undone")
        #expect(try changed() == ["kept"])
        #expect(try files() == 0)
    }

    /// Makes two changes, and then the disk of their files full.
    private func fill(older: String, newer: String) throws {
        let options = "size=64k,mode=700,uid=\(session.user.id),gid=\(session.user.id)"
        try session.systemctl("stop", "countdown-undo.path", "countdown-undo.service")
        let path = Self.directory
        try session.machine.shell(.root, "mkdir -p \(path); mount -t tmpfs -o \(options) tmpfs \(path)")
        try session.systemctl("start", "countdown-undo.path")
        for name in [older, newer] {
            try shell("countdownctl temporarily \(name) 1h --undo '/home/sara/bin/undo \(name)' -- touch ~/on/\(name)")
        }
        // Another directory entry, in the same file system.
        try session.machine.shell(.root, "cat /dev/zero > \(path)/full 2> /dev/null || :")
        try waitUntil("the service to look") { try service("ActiveState") == "active" }
    }

    private func empty() throws {
        try session.systemctl("stop", "countdown-undo.path", "countdown-undo.service")
        try session.machine.shell(.root, "umount \(Self.directory)")
        try session.systemctl("start", "countdown-undo.path")
    }

    @Test("in a directory that became read-only the change is undone once, and its file goes when it can")
    func readOnly() throws {
        try shell("countdownctl temporarily a 1h --undo '/home/sara/bin/undo a' -- touch ~/on/a")
        try waitUntil("the service to run") { try service("ActiveState") == "active" }
        try shell("chmod 500 \(Self.directory); countdownctl finish undo/a")
        try waitUntil("it to be undone") { try changed().isEmpty }
        // Its file is tried again each second.
        letPass(.seconds(3))
        #expect(try log() == ["begin", "end"])
        #expect(try files() == 1)
        try shell("chmod 700 \(Self.directory)")
        try waitUntil("its file to go") { try files() == 0 }
        #expect(try log() == ["begin", "end"])
    }

    @Test("a file system that became read-only does not keep a change from being undone, nor the service from starting")
    func readOnlyFileSystem() throws {
        try shell("countdownctl temporarily a 1h --undo '/home/sara/bin/undo a' -- touch ~/on/a")
        let state = "/home/sara/.local/state"
        try session.systemctl("kill", "--signal=KILL", "countdown-undo.service")
        try session.machine.shell(.root, "mount --bind \(state) \(state); mount -o remount,bind,ro \(state)")
        defer { _ = try? session.machine.shell(.root, "umount --lazy \(state)") }
        try shell("countdownctl finish undo/a")
        try waitUntil("it to be undone") { try changed().isEmpty }
    }

    @Test("without instances of inotify the service looks at its files")
    func withoutInotify() throws {
        try session.systemctl("stop", "countdown-undo.service")
        let limit = "/proc/sys/fs/inotify/max_user_instances"
        let before = try session.machine.shell(.root, "cat \(limit)")
        // The service manager has its own already.
        try session.machine.shell(.root, "echo 0 > \(limit)")
        defer { _ = try? session.machine.shell(.root, "echo \(before) > \(limit)") }
        try shell("countdownctl temporarily a 1s --undo '/home/sara/bin/undo a' -- touch ~/on/a")
        try waitUntil("it to be undone") { try changed().isEmpty && files() == 0 }
    }

    @Test("with another HOME than the user's services, and with a masked service, a change is refused")
    func elsewhere() throws {
        try shell("mkdir -p ~/other")
        let refusal = try failure("HOME=~/other countdownctl temporarily a 1h --undo true -- touch ~/on/a")
        #expect(refusal.contains("`env HOME=/home/sara countdownctl …`") && refusal.hasSuffix("69"))
        #expect(try shell("find ~/other -mindepth 1").isEmpty)
        // A link to the same directory is accepted.
        try shell("ln -sfn ~ ~/link; HOME=~/link countdownctl temporarily a 1us --undo '/home/sara/bin/undo a' -- true")
        try waitUntil("it to be undone") { try files() == 0 }
        try session.systemctl("mask", "--quiet", "countdown-undo.service")
        let masked = try failure("countdownctl temporarily b 1h --undo true -- touch ~/on/b")
        #expect(masked.contains("`systemctl --user unmask countdown-undo.service`") && masked.hasSuffix("69"))
        try session.systemctl("unmask", "--quiet", "countdown-undo.service")
        #expect(try changed().isEmpty)
        // The services may have another HOME than their manager.
        defer { _ = try? session.systemctl("unset-environment", "HOME", "COUNTDOWND_SOCKET") }
        try session.systemctl("set-environment", "HOME=/home/sara/other", "COUNTDOWND_SOCKET=/nowhere")
        try session.systemctl("kill", "countdown-undo.service")
        try shell("countdownctl temporarily c 1us --undo '/home/sara/bin/undo c' -- touch ~/on/c")
        try waitUntil("it to be undone") { try changed().isEmpty && files() == 0 }
    }

    @Test("while the daemon cannot start, changes are kept and undone, and after 30 s at the instants in their files")
    func withoutDaemon() throws {
        for (name, time) in [("kept", "1h"), ("undone", "1h"), ("due", "15s"), ("paused", "15s")] {
            let undo = "/home/sara/bin/undo \(name)"
            try shell("countdownctl temporarily \(name) \(time) --undo '\(undo)' -- touch ~/on/\(name)")
        }
        try shell("countdownctl pause undo/paused")
        try waitUntil("the file to note the pause") { try shell("cat \(Self.directory)/*").contains("pausedUSec") }
        try session.systemctl("mask", "--quiet", "--now", "countdownd.socket", "countdownd.service")
        defer { _ = try? session.systemctl("unmask", "--quiet", "countdownd.socket", "countdownd.service") }
        #expect(try shell("countdownctl keep kept 2>&1") == "kept: kept")
        #expect(try shell("countdownctl undo undone 2>&1") == "undone: undone")
        try waitUntil("it to be undone", by: Deadline(after: .seconds(90))) { try changed() == ["kept", "paused"] }
        try session.systemctl("unmask", "--quiet", "countdownd.socket", "countdownd.service")
        try session.systemctl("start", "countdownd.socket")
        try waitUntil("the service to find its daemon again") { try files() == 1 }
        try shell("countdownctl resume undo/paused")
        try waitUntil("the paused change to be undone", by: Deadline(after: .seconds(60))) { try changed() == ["kept"] }
    }

    @Test("if /etc/machine-id has changed, status says that the change is left alone")
    func anotherMachine() throws {
        try shell("countdownctl temporarily a 1h --undo '/home/sara/bin/undo a' -- touch ~/on/a")
        try session.machine.shell(.root, "cp /etc/machine-id /tmp/id; tr 0-9a-f 1-9a-f0 < /tmp/id > /etc/machine-id")
        defer { _ = try? session.machine.shell(.root, "cp /tmp/id /etc/machine-id") }
        let status = try shell("countdownctl status")
        #expect(status.contains("Undo: a is left alone: another /etc/machine-id was here"))
        #expect(!status.contains("Undo: a at"))
        try session.machine.shell(.root, "cp /tmp/id /etc/machine-id")
        try shell("countdownctl undo a")
    }
}
