import Foundation
import IPC
import TestSupport
import Testing

@Suite("A fleet through faults of Redis", .serialized)
struct EngineFaultTrials {
    /// A fault during which changes are refused.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case refusedConnections = "refused connections"
        case blackHole = "no answers"
        case loading
        case failedSave = "a failed save"
        case outOfMemory = "no memory"
        case busyScript = "a busy script"
        case newPassword = "a new password"
        case missingPermission = "a missing permission"

        var testDescription: String { rawValue }

        /// A part that the reason of `StorageFailed` must contain.
        var words: String {
            switch self {
            case .refusedConnections: "Connection refused"
            case .blackHole: "cannot be reached"
            case .loading: "is loading its data"
            case .failedSave: "cannot save and refuses changes: MISCONF"
            case .outOfMemory: "is out of memory"
            case .busyScript: "is busy with a script: BUSY"
            case .newPassword: "demands a password"
            case .missingPermission: "lacks a permission"
            }
        }

        /// Whether changes of other hosts would still be heard of, so that the countdowns known here are current.
        var isFollowed: Bool { [.failedSave, .outOfMemory, .missingPermission].contains(self) }
    }

    private static let user = [
        "on", ">SECRET", "resetkeys", "~cd:{fleet}:*", "~cd:{fleet/*", "resetchannels", "&cd:{fleet/*", "+@all",
    ]

    @Test(
        "changes are refused with the reason, the rest goes on, and all is well afterwards",
        arguments: Fault.allCases
    )
    func fault(_ fault: Fault) throws {
        let fleet = try Fleet(credentials: fault == .missingPermission ? "countdownd:SECRET@" : "") { engine in
            try engine.command(["ACL", "SETUSER", "countdownd"] + Self.user)
        }
        let host = fleet.hosts[0]
        try host.start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        let watches = try fleet.watches()
        if fault == .loading { try prepareLoading(of: fleet.engine) }
        try host.start("short", .seconds(4))
        for watch in watches { try watch.events(through: .started, of: "short") }
        let script = try begin(fault, of: fleet.engine)
        try awaitRefusal(of: host, with: fault.words)
        for host in fleet.hosts {
            #expect(try host.start("kept", .seconds(60)).outcome == .attached)
            #expect(try host.get("kept").state == .running)
            #expect(try host.countdowns()["kept"] != nil)
        }
        for watch in watches { try watch.events(through: .finished, of: "short") }
        if fault.isFollowed { #expect(throws: CountdownError.self) { try fleet.hosts[1].call(Cancel(key: "kept")) } }
        try end(fault, of: fleet)
        _ = try script?.finish()
        try fleet.awaitChanges()
        #expect(try fleet.hosts[1].start("new", .seconds(3_600)).outcome == .started)
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["kept"]?.duration == .hour)
        #expect(countdowns["new"] != nil)
        for host in fleet.hosts { #expect(!host.daemon.standardError.contains("another history")) }
    }

    /// Waits until the host gives this reason for not making a change. Until it knows, changes in flight are unknown.
    private func awaitRefusal(of host: Host, with words: String) throws {
        var reasons: [String] = []
        do {
            try waitUntil("a refusal") {
                do {
                    try host.start("refused", .seconds(3_600), .restart)
                } catch CountdownError.storageFailed(let reason) {
                    reasons.append(reason)
                } catch CountdownError.unreachable {
                }
                return reasons.last?.contains(words) ?? false
            }
        } catch {
            Issue.record("\(error) with '\(words)'; the reasons were \(Set(reasons))")
        }
    }

    /// Gives the server enough data that loading takes a while, and lets it answer calls meanwhile.
    private func prepareLoading(of engine: RedisServer) throws {
        try engine.command("DEBUG", "POPULATE", "20000")
        try engine.command("BGREWRITEAOF")
        try waitUntil("the data to be saved") {
            try engine.command("INFO", "persistence").contains("aof_rewrite_in_progress:0")
        }
    }

    private func begin(_ fault: Fault, of engine: RedisServer) throws -> RunningCommand? {
        switch fault {
        case .refusedConnections: try engine.kill()
        case .blackHole: try engine.freeze()
        case .loading:
            try engine.kill()
            try engine.start(["--key-load-delay", "400", "--loading-process-events-interval-bytes", "1024"])
        case .failedSave: try engine.failToSave()
        case .outOfMemory: try engine.command("CONFIG", "SET", "maxmemory", "1")
        case .busyScript: return try engine.begin(["EVAL", "while true do end", "0"])
        case .newPassword:
            try engine.command("CONFIG", "SET", "requirepass", "NEW")
            try engine.command("-a", "NEW", "CLIENT", "KILL", "TYPE", "normal")
        case .missingPermission: try engine.command("ACL", "SETUSER", "countdownd", "-evalsha", "-eval")
        }
        return nil
    }

    private func end(_ fault: Fault, of fleet: Fleet) throws {
        let engine = fleet.engine
        switch fault {
        case .refusedConnections: try engine.start()
        case .blackHole: engine.thaw()
        case .loading: try engine.awaitReadiness()
        case .failedSave: try engine.saveAgain()
        case .outOfMemory: try engine.command("CONFIG", "SET", "maxmemory", "0")
        case .busyScript: try engine.command("SCRIPT", "KILL")
        case .newPassword:
            for host in fleet.hosts { try host.bridge.replaceURL("redis://:NEW@127.0.0.1:\(engine.port)/") }
            try fleet.awaitChanges()
            try engine.command("-a", "NEW", "CONFIG", "SET", "requirepass", "")
        case .missingPermission: try engine.command("ACL", "SETUSER", "countdownd", "+evalsha", "+eval")
        }
    }

    @Test("an engine that comes back empty cancels everything on all hosts, loudly, and goes on")
    func flushed() throws {
        let fleet = try Fleet()
        for number in 0..<10 { try fleet.hosts[number % 3].start("key/\(number)", .seconds(3_600)) }
        try fleet.awaitEqual()
        let watches = try fleet.watches()
        try fleet.engine.command("FLUSHALL")
        // The first change shows it.
        try fleet.awaitChanges()
        for (host, watch) in zip(fleet.hosts, watches) {
            try watch.awaitTrimming()
            try waitUntil("the countdowns to be cancelled") {
                try (0..<10).allSatisfy { try host.get("key/\($0)").state == .cancelled }
            }
            #expect(host.daemon.standardError.contains("another history"))
        }
        #expect(try fleet.hosts[1].start("key/0", .seconds(3_600)).outcome == .started)
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["key/0"] != nil)
        #expect(countdowns["key/1"] == nil)
    }

    @Test(
        "records under keys that no countdown can have are left out, and do not block the others",
        arguments: [#"a\tb"#, #"a\nb"#, #"a\27[2Jb"#, #"a\255b"#, "", String(repeating: "x", count: 256)]
    )
    func foreignKeys(key: String) throws {
        let fleet = try Fleet()
        try fleet.hosts[0].start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        // In the log and for the followers as the script writes it, and in the hash, which new hosts read.
        let script = """
            local record = redis.call('HGET', KEYS[1], 'kept')
            local version = string.format('%.0f', redis.call('INCR', KEYS[2]))
            record = version .. string.match(record, ' .*')
            redis.call('XADD', KEYS[3], version .. '-0', 'key', '\(key)', 'record', record)
            redis.call('HSET', KEYS[1], '\(key)', record)
            redis.call('SPUBLISH', KEYS[3], '\(key)' .. '\\n' .. record)
            """
        let keys = ["now", "version", "log"].map { "cd:{fleet/0}:\($0)" }
        try fleet.engine.command(["EVAL", script, "3"] + keys)
        try fleet.awaitChanges()
        try fleet.hosts[1].daemon.kill()
        try fleet.hosts[1].restartDaemon()
        try fleet.awaitChanges()
        // What a text that is not UTF-8 would be if its bytes were replaced.
        #expect(try fleet.hosts[2].start("a\u{FFFD}b", .seconds(3_600)).outcome == .started)
        for host in fleet.hosts {
            try waitUntil("the countdowns on every host") {
                Set(try host.countdowns().keys.filter { !$0.contains("/") }) == ["kept", "a\u{FFFD}b"]
            }
        }
    }

    @Test("an engine whose machine loses power lacks its last changes: they are cancelled everywhere, loudly")
    func lostPower() throws {
        let fleet = try Fleet(hosts: 2)
        try fleet.hosts[0].start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        let data = fleet.engine.directory.path(of: "appendonlydir")
        let written = fleet.engine.directory.path(of: "written")
        try FileManager.default.copyItem(atPath: data, toPath: written)
        try fleet.hosts[0].start("lost", .seconds(3_600))
        try fleet.awaitEqual()
        try fleet.engine.kill()
        try FileManager.default.removeItem(atPath: data)
        try FileManager.default.moveItem(atPath: written, toPath: data)
        try fleet.engine.start()
        try fleet.awaitChanges()
        let countdowns = try fleet.awaitEqual()
        #expect(countdowns["kept"] != nil)
        #expect(countdowns["lost"] == nil)
        for host in fleet.hosts {
            #expect(try host.get("lost").state == .cancelled)
            #expect(host.daemon.standardError.contains("another history"))
        }
    }

    private static let hasTimeNamespaces =
        (try? RunningCommand(["-T", "--boottime", "1", "true"], executable: "/usr/bin/unshare").finish().exitCode) == 0

    @Test(
        "a host that reboots without the engine ends countdowns by its own clock, and refuses changes",
        .enabled(if: hasTimeNamespaces)
    )
    func reboot() throws {
        let fleet = try Fleet(hosts: 2)
        let host = fleet.hosts[0]
        try host.start("kept", .seconds(3_600))
        try host.start("short", .seconds(5))
        let deadline = try #require(host.get("kept").deadlineUSec)
        try fleet.awaitEqual()
        try fleet.engine.kill()
        try host.daemon.kill()
        try host.bridge.program.kill()
        // In a time namespace the daemon has another boot clock, and takes it for another boot.
        try host.restartDaemon(by: ["/usr/bin/unshare", "-T", "--boottime", "1000000", "--"])
        #expect(try host.get("kept").deadlineUSec == deadline)
        #expect(try host.start("kept", .seconds(60)).outcome == .attached)
        try waitUntil("the end") { try host.get("short").state == .finished }
        #expect(throws: CountdownError.self) { try host.start("refused", .seconds(60)) }
        try host.daemon.kill()
        try host.restartDaemon()
        try host.bridge.start()
        try fleet.engine.start()
        try fleet.awaitChanges()
        #expect(try fleet.awaitEqual()["kept"]?.deadline == deadline)
    }

    @Test("a daemon that is killed ends its countdowns late and once, and hears what the others changed")
    func killedDaemon() throws {
        let fleet = try Fleet()
        let host = fleet.hosts[0]
        try fleet.hosts[1].start("kept", .seconds(3_600))
        try fleet.hosts[1].start("short", .seconds(2))
        try fleet.awaitEqual()
        let since = try host.revision()
        try host.daemon.kill()
        _ = try fleet.hosts[1].call(Cancel(key: "kept"))
        try waitUntil("the end on the others") { try fleet.hosts[2].get("short").state == .finished }
        try host.restartDaemon()
        try host.awaitChanges()
        try fleet.awaitEqual()
        for _ in 0..<2 {
            let follower = try Follower(of: host.daemon, Watch(match: ["kept", "short"], since: since))
            let events = try follower.events(through: .synced)
            #expect(events.filter { $0.key == "short" }.map(\.type) == [.finished])
            #expect(events.filter { $0.key == "kept" }.map(\.type) == [.cancelled])
        }
    }

    @Test("a bridge that is killed is used again as soon as it is back")
    func killedBridge() throws {
        let fleet = try Fleet()
        let host = fleet.hosts[0]
        try host.start("kept", .seconds(3_600))
        try fleet.awaitEqual()
        let callers = try (0..<20).map { _ in try Caller(of: host.daemon) }
        for caller in callers { try caller.send(Start(key: "kept", durationUSec: 1_000_000, ifRunning: .extend)) }
        try host.bridge.program.kill()
        try awaitRefusal(of: host, with: "cannot be reached")
        #expect(try host.start("kept", .seconds(60)).outcome == .attached)
        try host.bridge.start()
        var (made, unknown) = (0, 0)
        for caller in callers {
            do {
                made += try caller.answer(to: Start.self).value.outcome == .extended ? 1 : 0
            } catch CountdownError.unreachable {
                unknown += 1
            } catch CountdownError.storageFailed {
            }
        }
        try fleet.awaitChanges()
        let extended = (try #require(fleet.awaitEqual()["kept"]).duration - .hour) / 1_000_000
        #expect((made...made + unknown).contains(Int(extended)))
    }
}
