import Foundation
import TestSupport
import Testing

@Suite("The service under systemd", .onMachine)
struct ServiceTests {
    @Test("the first client starts it, it reports its readiness, and it stops cleanly")
    func lifeCycle() throws {
        let session = try Session(of: .alice)
        #expect(try session.property("ActiveState") == "inactive")
        #expect(try session.countdownctl("start tea 1h --json").contains(#""outcome":"started""#))
        #expect(try session.property("ActiveState") == "active")
        #expect(
            try session.machine.shell(.alice, "readlink $XDG_RUNTIME_DIR/varlink/registry/io.countdownd")
                == "/run/user/\(User.alice.id)/countdownd/io.countdownd"
        )

        try session.systemctl("restart", "countdownd.service")
        let status = try session.property("StatusText")
        #expect(status.wholeMatch(of: /1 running, next (\d{4}-\d\d-\d\d )?\d\d:\d\d/) != nil, "\(status)")

        try session.systemctl("stop", "countdownd.socket", "countdownd.service")
        #expect(try session.property("Result") == "success")
        #expect(try session.property("ExecMainStatus") == "0")
        #expect(try session.machine.shell(.alice, "ls $XDG_RUNTIME_DIR/countdownd") == "")
    }

    @Test("the journal has its lines with their fields, and no others")
    func journal() throws {
        let session = try Session(of: .lena)
        try session.countdownctl("status")
        try session.systemctl("stop", "countdownd.socket", "countdownd.service")
        let lines = try session.journal()
        #expect(lines.compactMap { $0["MESSAGE"] } == ["ready", "stopping"])
        #expect(lines.first?["_SYSTEMD_USER_UNIT"] == "countdownd.service")
        for line in lines {
            #expect(line["PRIORITY"] == "6")
            #expect(line["_TRANSPORT"] == "journal")
        }
    }

    @Test("systemd-analyze verify has no complaint about the installed units")
    func verify() throws {
        let session = try Session(of: .alice)
        let units = "countdownd.service countdownd.socket countdown-notify.service countdown-hook@x.service"
        #expect(try session.machine.shell(.alice, "systemd-analyze verify --user --man=no \(units) 2>&1") == "")
        let templates = "countdownd@workers.service countdownd@workers.socket"
        #expect(try session.machine.shell(.root, "systemd-analyze verify --man=no \(templates) 2>&1") == "")
        try session.machine.shell(.root, "test -e /usr/local/share/man/man1/countdownd.1")
    }

    @Test("when it is restarted, a client reconnects, and gets every event once")
    func restart() throws {
        let session = try Session(of: .bob)
        let watching = try Watching(in: session)
        try session.countdownctl("start tea 1h")
        try session.countdownctl("start egg 1h")
        #expect(try watching.events(through: "started egg") == ["started tea", "started egg"])
        try session.systemctl("restart", "countdownd.service")
        try session.countdownctl("cancel egg")
        try session.countdownctl("start call 1h")
        let after = try watching.events(through: "started call")
        #expect(after.filter { $0 != "synced" } == ["cancelled egg", "started call"])
        #expect(try session.keys() == ["tea", "call"])
    }

    @Test("when it is killed, it is started again, and nothing is lost")
    func killed() throws {
        let session = try Session(of: .dave)
        try session.countdownctl("start tea 1h")
        let watching = try Watching(in: session)
        try session.systemctl("kill", "--signal=KILL", "countdownd.service")
        try watching.events(through: "synced")
        #expect(try session.property("NRestarts") != "0")
        #expect(try session.keys() == ["tea"])
    }

    @Test("when it hangs, the watchdog restarts it, and nothing is lost")
    func hung() throws {
        let session = try Session(
            of: .erin,
            dropIn: "[Unit]\nStartLimitIntervalSec=0\n[Service]\nWatchdogSec=2\nTimeoutAbortSec=1"
        )
        try session.countdownctl("start tea 1h")
        let watching = try Watching(in: session)
        try session.systemctl("kill", "--signal=STOP", "countdownd.service")
        try watching.events(through: "synced")
        #expect(try session.property("NRestarts") != "0")
        #expect(try session.keys() == ["tea"])
        let said = try session.machine.journal("_UID=\(User.erin.id)", "USER_UNIT=countdownd.service")
        #expect(said.contains { $0["MESSAGE"]?.contains("Watchdog timeout") == true })
    }

    @Test(
        "it ends with its user's session, and at the next login countdowns still run, and ends come with their lateness"
    )
    func session() throws {
        let session = try Session(of: .frank)
        try session.countdownctl("start tea 1h")
        let egg = try session.countdownctl("start egg 4s --json")
        let revision = try #require(egg.firstMatch(of: /"revision":(\d+)/)).1
        try session.logOut()
        let out = try session.machine.run(as: .frank, ["countdownctl", "list"])
        #expect(out.exitCode == 69)
        #expect(out.standardError.contains("no session of UID \(User.frank.id): `loginctl enable-linger`"))

        // If a countdown of the same duration, started later, has ended, the egg's time has come too.
        let clock = try Session(of: .mike)
        try clock.countdownctl("start clock 4s --wait")
        try session.logIn()
        #expect(try session.keys() == ["tea"])
        let watch = ["countdownctl", "watch", "egg", "--json", "--tick", "0", "--since", String(revision)]
        let told = try session.machine.begin(as: .frank, watch)
        let ending = try #require(try told.line())
        #expect(ending.contains(#""type":"finished""#))
        let stopped = try session.journal().first { $0["MESSAGE"] == "stopping" }
        let ended = try #require(ending.firstMatch(of: /"endedUSec":(\d+)/).flatMap { Int($0.1) })
        let late = try #require(ending.firstMatch(of: /"lateUSec":(\d+)/).flatMap { Int($0.1) })
        // Unless the machine paused for so long that it ended before.
        let isLate = try #require(stopped?["_SOURCE_REALTIME_TIMESTAMP"].flatMap { Int($0) }) < ended
        #expect(late > 0 || !isLate)
    }
}
