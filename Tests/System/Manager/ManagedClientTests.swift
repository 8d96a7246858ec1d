import TestSupport
import Testing

@Suite("Clients in unusual environments", .onMachine)
struct ManagedClientTests {
    private let machine: Machine

    init() throws {
        machine = try Machine.shared.get()
    }

    @Test(
        "in cron's empty environment, a user with a session is served; without one the error names the remedy"
    )
    func cron() throws {
        _ = try Session(of: .grace)
        let line = ["env", "-i", "/usr/local/bin/countdownctl", "start", "backup", "1d", "--json"]
        #expect(try machine.run(as: .grace, line).standardOutput.contains(#""outcome":"started""#))
        let other = try machine.run(as: .judy, line)
        #expect(other.exitCode == 69)
        #expect(other.standardError.contains("no session of UID \(User.judy.id): `loginctl enable-linger`"))
    }

    @Test("su with a login finds the user's own daemon; without a login, the error names the foreign XDG_RUNTIME_DIR")
    func su() throws {
        _ = try Session(of: .nina)
        try machine.tell(.root, "su", "--login", "nina", "--command", "countdownctl start tea 1h")
        let runtime = "/run/user/\(User.nina.id)"
        let line = ["env", "XDG_RUNTIME_DIR=\(runtime)", "su", "judy", "--command", "countdownctl list"]
        let kept = try machine.run(as: .root, line)
        #expect(kept.exitCode == 69)
        #expect(kept.standardError.contains("XDG_RUNTIME_DIR is \(runtime), which belongs to UID \(User.nina.id)"))
        let none = try machine.run(as: .root, ["su", "--login", "judy", "--command", "countdownctl list"])
        #expect(none.exitCode == 69)
        #expect(none.standardError.contains("no session of UID \(User.judy.id)"))
    }

    @Test("in a container --socket and --state-directory are all it needs, and as process 1 it stops on SIGTERM")
    func container() throws {
        try machine.shell(.root, "install --directory --owner=65534 /var/lib/container")
        for outcome in ["started", "attached"] {
            let daemon = try machine.begin(as: .root, ["sh", "-euc", Self.container])
            let number = try #require(try daemon.line())
            #expect(try daemon.line() == "countdownd: info: ready")
            let start = "COUNTDOWND_SOCKET=/var/lib/container/socket countdownctl start tea 1h --json"
            #expect(try machine.shell(.root, start).contains("\"outcome\":\"\(outcome)\""))
            try machine.tell(.root, "kill", number)
            let run = try daemon.finish()
            #expect(run.exitCode == 0)
            #expect(run.standardOutput.hasSuffix("countdownd: info: stopping\n"))
        }
    }

    /// Prints the number of the daemon's process in the machine, and then the daemon's output. There is no user with
    /// that name, no home, no /run, and no variable.
    private static let container = """
        exec unshare --mount --net --ipc --pid --fork -- sh -euc '
            read -r number rest < /proc/self/stat
            echo "$number"
            mount -t tmpfs tmpfs /run
            mount -t tmpfs tmpfs /home
            exec setpriv --reuid=65534 --regid=65534 --clear-groups env -i \
                /usr/local/bin/countdownd --socket /var/lib/container/socket --state-directory /var/lib/container/state 2>&1'
        """
}
