import Foundation
import TestSupport
import Testing

@Suite("The two layers of the sandbox", .onMachine)
struct SandboxTests {
    @Test("together they leave it no capability, network, device or way to gain privileges, and the home is read-only")
    func both() throws {
        let session = try Session(of: .olga)
        try session.countdownctl("start tea 1h")
        let process = try session.property("MainPID")
        let status = try session.machine.tell(.root, "cat", "/proc/\(process)/status")
        for line in ["CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] { #expect(status.contains(line)) }
        let mapped = try session.machine.tell(.root, "cat", "/proc/\(process)/uid_map").split(separator: " ")
        #expect(mapped == ["\(User.olga.id)", "\(User.olga.id)", "1"])
        // In this namespace the kernel sees root as any other foreign user.
        let socket = "COUNTDOWND_SOCKET=/run/user/\(User.olga.id)/countdownd/io.countdownd"
        #expect(try session.machine.run(as: .root, ["env", socket, "countdownctl", "list"]).exitCode == 77)
        let networks = try session.machine.tell(.root, "readlink", "/proc/1/ns/net", "/proc/\(process)/ns/net")
        #expect(Set(networks.split(separator: "\n")).count == 2)
        let mounts = try session.machine.tell(.root, "cat", "/proc/\(process)/mounts").split(separator: "\n")
        for place in ["/", "/home"] {
            #expect(mounts.last { $0.contains(" \(place) ") }?.contains(" ro,") == true, "\(place)")
        }
    }

    @Test("with both layers one directory is writable, and a restart makes it again if it was removed")
    func directory() throws {
        let session = try Session(of: .heidi)
        let store = "/home/heidi/.local/state/countdownd/log"
        try session.countdownctl("start tea 1h")
        try session.machine.shell(.heidi, "test -e \(store)")
        try session.systemctl("stop", "countdownd.socket", "countdownd.service")
        try session.machine.shell(.heidi, "rm -r ~/.local")
        try session.systemctl("start", "countdownd.socket")
        try session.countdownctl("start egg 1h")
        try session.systemctl("restart", "countdownd.service")
        #expect(try session.keys() == ["egg"])
        #expect(try session.machine.shell(.heidi, "stat -c %a ~/.local/state/countdownd; test -e \(store)") == "700")
        let process = try session.property("MainPID")
        let mounts = try session.machine.tell(.root, "cat", "/proc/\(process)/mounts").split(separator: "\n")
        #expect(mounts.last { $0.contains(" /home/heidi/.local/state/countdownd ") }?.contains(" rw,") == true)
    }

    @Test(
        "the first layer works without user namespaces; with the second the service starts only if that is masked"
    )
    func withoutNamespaces() throws {
        let machine = try Machine.shared.get()
        let folder = "/etc/systemd/system/user@\(User.kim.id).service.d"
        try machine.shell(
            .root,
            "mkdir -p \(folder); printf '[Service]\\nRestrictNamespaces=~user\\n' > \(folder)/n.conf"
        )
        try machine.tell(.root, "systemctl", "daemon-reload")
        let session = try Session(of: .kim)

        let script = try BuiltProduct.text(of: "scripts/check-user-namespaces")
        try machine.tell(.kim, "sh", "-c", "cat > ~/check", input: script)
        let check = ["systemd-run", "--user", "--quiet", "--unit=check", "--property=Type=oneshot"]
        #expect(try machine.run(as: .kim, check + ["sh", "/home/kim/check"]).exitCode == 1)
        let reasons = try machine.journal("_UID=\(User.kim.id)")
        #expect(reasons.contains { $0["MESSAGE"]?.contains("unshare") == true })

        #expect(throws: Machine.Unexpected.self) { try session.systemctl("start", "countdownd.service") }
        try session.systemctl("stop", "countdownd.socket", "countdownd.service")
        let said = try machine.journal("_UID=\(User.kim.id)", "USER_UNIT=countdownd.service")
        #expect(said.contains { $0["MESSAGE"]?.contains(/status=(217.USER|226.NAMESPACE)/) == true })
        // The log has the command that helps.
        let log = try machine.journal("_UID=\(User.kim.id)", "SYSLOG_IDENTIFIER=sh")
        let advice = log.compactMap { $0["MESSAGE"]?.firstMatch(of: /without this layer of the sandbox: (.*)/)?.1 }
        try machine.shell(.kim, String(#require(advice.first)))
        try session.systemctl("reset-failed")
        try session.systemctl("start", "countdownd.socket")
        #expect(try session.countdownctl("start tea 1h --json").contains(#""outcome":"started""#))
        let process = try session.property("MainPID")
        let status = try machine.tell(.root, "cat", "/proc/\(process)/status")
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2"] { #expect(status.contains(line)) }
    }
}
