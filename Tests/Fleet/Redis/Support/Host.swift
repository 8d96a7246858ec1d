import Glibc
import IPC
import TestSupport
import Varlink

/// A host of a fleet: a daemon and its bridge.
final class Host {
    let bridge: BridgeProcess
    private let directory: TemporaryDirectory
    private(set) var daemon: DaemonProcess

    init(url: String) throws {
        bridge = try BridgeProcess(url)
        directory = try TemporaryDirectory()
        daemon = try DaemonProcess(in: directory, arguments: ["--backend", bridge.socket])
    }

    /// Starts the daemon again after its end, by a command that becomes the daemon if there is one.
    func restartDaemon(by launcher: [String] = []) throws {
        daemon = try DaemonProcess(starting: launcher, in: directory, arguments: ["--backend", bridge.socket])
        try daemon.awaitReadiness()
    }

    func call<M: Method>(_ method: M) throws -> M.Reply { try Caller(of: daemon).call(method) }

    @discardableResult
    func start(
        _ key: String,
        _ duration: Duration,
        _ ifRunning: IfRunning? = nil,
        label: String? = nil
    ) throws -> Start.Reply {
        try call(Start(key: key, durationUSec: duration.microseconds, ifRunning: ifRunning, label: label))
    }

    /// Watches all countdowns; the events up to `synced` are read.
    func watch() throws -> Follower {
        try daemon.watch()
    }

    func get(_ key: String) throws -> Countdown { try call(Get(key: key)).countdown }

    /// The revision of its last change.
    func revision() throws -> Int64 { try call(GetStatus()).revision }

    /// Waits until changes are made.
    func awaitChanges() throws {
        let key = "host/\(daemon.socketPath)"
        var reason = ""
        do {
            try waitUntil("a change to be made by \(daemon.standardError)") {
                do {
                    try start(key, .seconds(3_600), .restart)
                    return true
                } catch CountdownError.storageFailed(let words) {
                    reason = words
                } catch CountdownError.unreachable(let words) {
                    reason = words
                }
                return false
            }
        } catch {
            print("no change is made: \(reason)")
            throw error
        }
    }

    /// The running and paused countdowns as the fleet has them.
    func countdowns() throws -> [String: SharedCountdown] {
        let pages = try Caller(of: daemon).call(all: List())
        let countdowns = pages.flatMap(\.countdowns).map { ($0.key, SharedCountdown($0)) }
        return Dictionary(countdowns) { _, last in last }
    }
}

/// The fields of a running or paused countdown that are the same on all hosts.
struct SharedCountdown: Hashable {
    let duration: Int64
    let start: Int64
    let deadline: Int64?
    let label: String?

    init(_ countdown: Countdown) {
        (duration, start) = (countdown.durationUSec, countdown.startedUSec)
        (deadline, label) = (countdown.deadlineUSec, countdown.label)
    }

    init(_ record: EngineRecord) {
        (duration, start, deadline, label) = (record.duration, record.start, record.deadline, record.label)
    }
}

/// An engine, and hosts that share their countdowns through it.
struct Fleet {
    /// The server that is the primary.
    var engine: RedisServer
    let hosts: [Host]

    private static let engineOptions = [
        "--appendfsync", "always", "--enable-debug-command", "local", "--busy-reply-threshold", "100",
    ]

    /// Starts everything and waits until every host makes changes.
    init(hosts count: Int = 3, credentials: String = "", preparing: (RedisServer) throws -> Void = { _ in }) throws {
        let engine = try RedisServer(Self.engineOptions)
        try preparing(engine)
        self.engine = engine
        hosts = try (0..<count).map { _ in try Host(url: "redis://\(credentials)127.0.0.1:\(engine.port)/") }
        try awaitChanges()
    }

    /// Starts hosts with these URLs, and waits until every host makes changes.
    init(_ engine: ReplicatedEngine, urls: [String]) throws {
        self.engine = engine.servers[0]
        hosts = try urls.map { try Host(url: $0) }
        try awaitChanges()
    }

    func awaitChanges() throws { for host in hosts { try host.awaitChanges() } }

    /// Watches all countdowns on every host.
    func watches() throws -> [Follower] { try hosts.map { try $0.watch() } }

    /// Waits until all hosts have the countdowns that the engine holds.
    ///
    /// - Returns: the countdowns.
    @discardableResult
    func awaitEqual() throws -> [String: SharedCountdown] {
        var held: [String: SharedCountdown] = [:]
        var known: [[String: SharedCountdown]] = []
        do {
            try waitUntil("the same countdowns everywhere") {
                let now = try wallClock()
                held = try engine.records().filter { $0.value.isLive(at: now) }.mapValues(SharedCountdown.init)
                known = try hosts.map { try $0.countdowns() }
                return known.allSatisfy { $0 == held }
            }
        } catch {
            throw Different(reason: "\(error)", held: held, known: known)
        }
        return held
    }

    /// Hosts and the engine have different countdowns.
    struct Different: Error, CustomStringConvertible {
        let reason: String
        let held: [String: SharedCountdown]
        let known: [[String: SharedCountdown]]

        var description: String {
            let differences = known.map { host in
                Set(host.keys).union(held.keys).filter { host[$0] != held[$0] }.sorted().map { key in
                    "\(key): engine \(held[key].map { "\($0)" } ?? "none"), host \(host[key].map { "\($0)" } ?? "none")"
                }
            }
            return "\(reason): \(differences)"
        }
    }
}

extension EngineRecord {
    /// Whether the countdown is running or paused.
    func isLive(at now: Int64) -> Bool { state == "paused" || state == "running" && deadline ?? 0 > now }
}

/// The time since 1970 in microseconds.
func wallClock() throws -> Int64 {
    var time = timespec()
    guard clock_gettime(CLOCK_REALTIME, &time) == 0 else { throw SystemCallFailure("clock_gettime") }
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}

extension Int64 {
    static let hour: Int64 = 3_600_000_000
}

extension Duration {
    var microseconds: Int64 { Int64(self / .microseconds(1)) }
}

extension Follower {
    /// Reads until the watch ends because the history was trimmed.
    func awaitTrimming() throws {
        do {
            while true { _ = try next() }
        } catch CountdownError.historyTrimmed {
        }
    }
}
