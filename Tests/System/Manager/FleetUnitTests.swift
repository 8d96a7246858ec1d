import Foundation
import IPC
import TestSupport
import Testing

private let obstacle: String? =
    if !Installation.hasBridge {
        "make test-fleet builds the bridge"
    } else if !FileManager.default.isExecutableFile(atPath: "/usr/bin/redis-server") {
        "there is no redis-server"
    } else {
        Machine.obstacle
    }

/// A group's daemon, its bridge, and an engine in the same machine.
@Suite(
    "The units of a member of a fleet",
    .serialized,
    .enabled(if: obstacle == nil, Comment(rawValue: obstacle ?? ""))
)
struct FleetUnitTests {
    private static let engine = Result { try start() }
    private static let password = "horse-battery"
    private let machine: Machine

    init() throws {
        machine = try Machine.shared.get()
        try Self.engine.get()
    }

    private static func start() throws {
        let machine = try Machine.shared.get()
        let settings = """
            port 6379
            bind 127.0.0.1
            dir /tmp/engine
            appendonly yes
            maxmemory-policy noeviction
            requirepass administrator
            user countdownd on >\(password) ~cd:* &cd:* +@all

            """
        try machine.tell(.root, "sh", "-c", "mkdir /tmp/engine; cat > /tmp/engine/conf", input: settings)
        try machine.tell(.root, "systemd-run", "--quiet", "--unit=engine", "redis-server", "/tmp/engine/conf")
    }

    /// Writes the credentials of a group's bridge.
    private func setPassword(_ password: String, of group: String) throws {
        try machine.tell(
            .root,
            "sh",
            "-euc",
            "mkdir -p /etc/countdownd; install -m 600 /dev/stdin /etc/countdownd/\(group).url",
            input: "redis://countdownd:\(password)@127.0.0.1/?namespace=\(group)\n"
        )
    }

    /// Gives the engine a command as its administrator.
    private func command(_ words: String...) throws {
        _ = try machine.run(as: .root, ["env", "REDISCLI_AUTH=administrator", "redis-cli"] + words)
    }

    private func awaitStatus(_ user: User, _ condition: (GetStatus.Shard) -> Bool) throws {
        try waitUntil("the status of \(user)", by: Deadline(after: .seconds(60))) {
            let run = try machine.countdownctl("status --json", as: user, of: user.rawValue)
            let fleet = (try? GetStatus.Reply(json: Array(run.standardOutput.utf8)))?.fleet
            return fleet?.shards.first.map(condition) ?? false
        }
    }

    private func show(_ property: String, of unit: String) throws -> String {
        try machine.tell(.root, "systemctl", "show", "--value", "--property=\(property)", unit)
    }

    /// Starts the units of the group that a user has alone.
    private func join(_ user: User) throws {
        try setPassword(Self.password, of: user.rawValue)
        try machine.tell(.root, "systemctl", "enable", "--quiet", "--now", "countdownd-shared@\(user).socket")
        try awaitStatus(user) { $0.state == .live }
    }

    @Test("the first client starts daemon and bridge, and its countdowns are the fleet's, over the death of either")
    func shares() throws {
        try join(.mike)
        #expect(try machine.countdownctl("start tea 1h", as: .mike, of: "mike").exitCode == 0)
        for unit in ["countdownd-redis@mike", "countdownd-shared@mike"] {
            try machine.tell(.root, "systemctl", "kill", "--signal=KILL", "\(unit).service")
            try awaitStatus(.mike) { $0.state == .live }
            #expect(try machine.countdownctl("start tea 1h --fail", as: .mike, of: "mike").exitCode == 75)
        }
        // Without its store, the daemon has the countdown from the engine.
        try machine.tell(.root, "systemctl", "stop", "countdownd-shared@mike.service")
        try machine.tell(.root, "sh", "-c", "rm -r /var/lib/private/countdownd-shared/mike/*")
        try awaitStatus(.mike) { $0.state == .live }
        #expect(try machine.countdownctl("is-running tea", as: .mike, of: "mike").exitCode == 0)
    }

    @Test("the daemon has no network, the bridge's socket is open to the daemon's group alone, and they are two users")
    func confined() throws {
        try join(.nina)
        var users: Set<String> = []
        for unit in ["countdownd-shared@nina", "countdownd-redis@nina"] {
            let status = try machine.tell(.root, "cat", "/proc/\(try show("MainPID", of: unit))/status")
            #expect(status.contains("CapBnd:\t0000000000000000"))
            users.insert(status.firstMatch(of: /\nUid:\t([0-9]+)/).map { String($0.1) } ?? "0")
        }
        #expect(users.count == 2 && !users.contains("0"))
        let daemon = try show("MainPID", of: "countdownd-shared@nina")
        let networks = try machine.tell(.root, "readlink", "/proc/1/ns/net", "/proc/\(daemon)/ns/net")
        #expect(Set(networks.split(separator: "\n")).count == 2)
        let families = try show("RestrictAddressFamilies", of: "countdownd-shared@nina")
        #expect(families == "AF_UNIX")
        let group = try machine.tell(.root, "sh", "-c", "awk '/^Gid:/ {print $2}' /proc/\(daemon)/status")
        let folder = "/run/countdownd-redis/nina"
        let modes = try machine.tell(.root, "stat", "--format=%A %g", folder, "\(folder)/io.countdownd.Backend")
        #expect(modes == "drwxr-x--- \(group)\nsrw-rw---- \(group)")
        #expect(try machine.run(as: .nina, ["test", "-e", "\(folder)/io.countdownd.Backend"]).exitCode != 0)
    }

    @Test("the credentials are in no log, command line, environment, status or store")
    func secrecy() throws {
        try join(.olga)
        try command("CLIENT", "KILL", "USER", "countdownd")
        try setPassword("wrong-\(Self.password)", of: "olga")
        try machine.tell(.root, "systemctl", "reload", "countdownd-redis@olga.service")
        try awaitStatus(.olga) { $0.reason?.contains("rejects the user name or the password") == true }
        let units = "countdownd-redis@olga.service countdownd-shared@olga.service"
        let places = """
            journalctl --sync; journalctl --output=export
            for unit in \(units); do
              process=$(systemctl show --value --property=MainPID $unit)
              cat /proc/$process/cmdline /proc/$process/environ
            done
            systemctl show \(units); systemctl status --full \(units)
            export COUNTDOWND_SOCKET=/run/countdownd/olga/io.countdownd
            countdownctl status --all; countdownctl status --json; countdownctl status --format openmetrics
            cat /var/lib/private/countdownd-shared/olga/*
            """
        let found = try machine.run(as: .root, ["sh", "-c", "{ \(places)\n} 2>&1 | grep -ac \(Self.password)"])
        #expect(found.standardOutput == "0\n")
        // If the password is there, the search finds it.
        let credential = "/run/credentials/countdownd-redis@olga.service/url"
        #expect(try machine.tell(.root, "grep", "-c", Self.password, credential) == "1")
        #expect(try machine.run(as: .olga, ["cat", credential]).exitCode != 0)
    }

    @Test("a reload takes new credentials, and after a wrong URL the bridge waits for a right one")
    func reload() throws {
        try join(.paul)
        let first = try show("MainPID", of: "countdownd-redis@paul")
        try machine.tell(.root, "sh", "-c", "echo nonsense > /etc/countdownd/paul.url")
        try machine.tell(.root, "systemctl", "reload", "countdownd-redis@paul.service")
        try waitUntil("the end of the bridge") { try show("ActiveState", of: "countdownd-redis@paul") == "failed" }
        #expect(try machine.countdownctl("start tea 1h", as: .paul, of: "paul").exitCode == 74)
        try setPassword(Self.password, of: "paul")
        try machine.tell(.root, "systemctl", "start", "countdownd-redis@paul.service")
        try awaitStatus(.paul) { $0.state == .live }
        #expect(try machine.countdownctl("start tea 1h", as: .paul, of: "paul").exitCode == 0)
        #expect(try show("MainPID", of: "countdownd-redis@paul") != first)
    }

    /// Does what docs/fleet.md says about moving a group.
    private func move(_ group: String, from old: String, to new: String) throws {
        let text = try BuiltProduct.text(of: "docs/fleet.md")
        let lines = try #require(text.firstMatch(of: /(?s)```sh\ngroup=senders [^\n]*\n(.*?)```/)).1
        try machine.shell(.root, "cd /tmp\ngroup=\(group) old=\(old) new=\(new)\n\(lines)")
    }

    @Test("a group moves from a daemon of its own to a fleet and back with its running countdowns")
    func moves() throws {
        try setPassword(Self.password, of: "quinn")
        try machine.tell(.root, "systemctl", "enable", "--quiet", "--now", "countdownd@quinn.socket")
        for key in ["a key", "tea"] {
            let socket = "COUNTDOWND_SOCKET=/run/countdownd/quinn/io.countdownd"
            try machine.tell(.quinn, "env", socket, "countdownctl", "start", key, "1h")
        }
        for (old, new) in [("countdownd", "countdownd-shared"), ("countdownd-shared", "countdownd")] {
            try move("quinn", from: old, to: new)
            #expect(try show("ActiveState", of: "\(new)@quinn.service") == "active")
            #expect(try show("ActiveState", of: "\(old)@quinn.socket") == "inactive")
            let list = try machine.countdownctl("list --json", as: .quinn, of: "quinn").standardOutput
            let countdowns = try List.Reply(json: Array(#"{"countdowns":\#(list)}"#.utf8)).countdowns
            #expect(countdowns.map(\.key).sorted() == ["a key", "tea"])
            #expect(countdowns.allSatisfy { $0.remainingUSec > 3_000_000_000 })
        }
    }
}
