import Foundation
import TestSupport
import Testing

@Suite("The system service that a group shares", .onMachine)
struct SharedServiceTests {
    private let machine: Machine

    init() throws {
        machine = try Machine.shared.get()
    }

    @Test("members share countdowns, over restarts and with root; others are kept out by the socket's mode")
    func group() throws {
        try machine.tell(.root, "systemctl", "enable", "--quiet", "--now", "countdownd@workers.socket")
        let registered = try machine.tell(.root, "readlink", "/run/varlink/registry/io.countdownd.workers")
        #expect(registered == "/run/countdownd/workers/io.countdownd")
        let started = try machine.countdownctl("start send/1 1h --json", as: .alice, of: "workers")
        #expect(started.standardOutput.contains(#""outcome":"started""#))
        let attached = try machine.countdownctl("start send/1 1h --json", as: .bob, of: "workers")
        #expect(attached.standardOutput.contains(#""outcome":"attached""#))
        let denied = try machine.countdownctl("list", as: .carol, of: "workers")
        #expect(denied.exitCode == 77)
        #expect(denied.standardError.contains("Permission denied"))

        try machine.tell(.root, "systemctl", "kill", "--signal=KILL", "countdownd@workers.service")
        try machine.tell(.root, "systemctl", "restart", "countdownd@workers.service")
        let cancelled = try machine.countdownctl("cancel send/1", as: .root, of: "workers")
        #expect(cancelled.exitCode == 0)

        let lines = try machine.journal("_SYSTEMD_UNIT=countdownd@workers.service", "_COMM=countdownd")
        #expect(Set(lines.compactMap { $0["MESSAGE"] }).isSubset(of: ["ready", "stopping"]))
    }

    @Test("the example for a node exporter writes the figures whole, and removes them if the daemon does not answer")
    func textfile() throws {
        for name in ["countdownd-textfile@.service", "countdownd-textfile@.timer"] {
            let unit = try BuiltProduct.text(of: "examples/prometheus/\(name)")
            try machine.tell(.root, "tee", "/etc/systemd/system/\(name)", input: unit)
        }
        try machine.shell(.root, "mkdir -p /var/lib/prometheus/node-exporter && systemctl daemon-reload")
        let units = "countdownd-textfile@judy.service countdownd-textfile@judy.timer"
        #expect(try machine.shell(.root, "systemd-analyze verify --man=no \(units) 2>&1") == "")

        try machine.tell(.root, "systemctl", "start", "countdownd@judy.socket")
        try machine.tell(.root, "systemctl", "start", "countdownd-textfile@judy.service")
        let files = "cd /var/lib/prometheus/node-exporter && ls && cat *"
        let figures = try machine.shell(.root, files)
        #expect(figures.hasPrefix("countdownd-judy.prom\n# TYPE countdownd_info gauge\n"))
        #expect(figures.contains(#"countdownd_watchers{socket="/run/countdownd/judy/io.countdownd"} 0"#))
        try machine.tell(.root, "systemctl", "start", "countdownd-textfile@judy.timer")

        try machine.tell(.root, "systemctl", "stop", "countdownd@judy.socket", "countdownd@judy.service")
        let failed = try machine.run(as: .root, ["systemctl", "start", "countdownd-textfile@judy.service"])
        #expect(failed.exitCode == 1)
        #expect(try machine.tell(.root, "ls", "/var/lib/prometheus/node-exporter") == "")
        try machine.tell(.root, "systemctl", "stop", "countdownd-textfile@judy.timer")
    }

    @Test("it runs as a dynamic user without capabilities, without a network and without a way to gain privileges")
    func confined() throws {
        try machine.tell(.root, "systemctl", "start", "countdownd@carol.service")
        #expect(try machine.countdownctl("start tea 1h", as: .carol, of: "carol").exitCode == 0)
        #expect(try machine.countdownctl("list", as: .alice, of: "carol").exitCode == 77)
        let process = try machine.tell(.root, "systemctl", "show", "--value", "--property=MainPID", "countdownd@carol")
        let status = try machine.tell(.root, "cat", "/proc/\(process)/status")
        for line in ["CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] { #expect(status.contains(line)) }
        #expect(!status.contains("\nUid:\t0\t"))
        let networks = try machine.tell(.root, "readlink", "/proc/1/ns/net", "/proc/\(process)/ns/net")
        #expect(Set(networks.split(separator: "\n")).count == 2)
        #expect(try machine.tell(.root, "stat", "--format=%A", "/var/lib/private/countdownd/carol") == "drwx------")
    }
}
