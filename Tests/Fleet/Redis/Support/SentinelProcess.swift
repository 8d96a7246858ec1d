import TestSupport

/// A redis-sentinel, which watches a primary under the name `cooldowns`.
final class SentinelProcess: RedisProcess {
    /// Starts a sentinel, and waits until it watches.
    ///
    /// - Parameters:
    ///   - primary: the port of the primary on loopback.
    ///   - quorum: the number of sentinels that have to find it down.
    ///   - settings: further lines of its file.
    /// - Throws: if it does not start.
    convenience init(of primary: Int, quorum: Int, settings: [String] = []) throws {
        let lines = [
            "port {port}", "sentinel monitor cooldowns 127.0.0.1 \(primary) \(quorum)",
            "sentinel down-after-milliseconds cooldowns 1000", "sentinel failover-timeout cooldowns 5000",
        ]
        try self.init(settings: lines + settings)
    }

    /// Starts a sentinel, and waits until it watches.
    ///
    /// - Parameters:
    ///   - settings: the lines of its file, in which `{port}` stands for its port.
    ///   - client: further arguments with which redis-cli connects to it.
    /// - Throws: if it does not start.
    init(settings: [String], client: [String] = []) throws {
        let directory = try TemporaryDirectory()
        let port = Int(try LoopbackPort.free())
        let lines = ["bind 127.0.0.1", "dir \(directory.path)"] + settings
        let text = lines.joined(separator: "\n").replacing("{port}", with: "\(port)") + "\n"
        // The sentinel writes its state into this file.
        let file = try directory.write(text, to: "sentinel.conf")
        super.init([file, "--sentinel"], address: ["-p", "\(port)"] + client, in: directory, port: port)
        try start()
        try awaitLog("+monitor master")
    }

    /// The state of the primary, as the sentinel knows it.
    func knowledge(of name: String = "cooldowns") throws -> [String: String] {
        let words = try command("SENTINEL", "MASTER", name).split(separator: "\n", omittingEmptySubsequences: false)
        let pairs = stride(from: 0, to: words.count - 1, by: 2).map { (String(words[$0]), String(words[$0 + 1])) }
        return Dictionary(pairs) { _, last in last }
    }
}

extension RedisServer {
    /// Whether it says that it is a replica. While it becomes one, it closes connections.
    var isReplica: Bool { (try? command("ROLE"))?.hasPrefix("slave") ?? false }
}

/// A primary, its replicas and sentinels.
final class ReplicatedEngine {
    /// All servers; the first one is the primary at first.
    let servers: [RedisServer]
    /// The sentinels, which know each other and the servers.
    let sentinels: [SentinelProcess]

    /// Starts everything, and waits until the sentinels can replace the primary.
    ///
    /// - Parameters:
    ///   - replicas: the number of replicas.
    ///   - options: further options of each server.
    /// - Throws: if a process does not start.
    init(replicas: Int = 1, options: [String] = []) throws {
        let options = options + ["--repl-diskless-sync-delay", "0", "--appendfsync", "always"]
        let primary = try RedisServer(options, settings: [])
        servers =
            try [primary]
            + (0..<replicas).map { _ in
                try RedisServer(options, settings: ["replicaof 127.0.0.1 \(primary.port)"])
            }
        try Self.awaitReplicas(replicas) { primary }
        sentinels = try (0..<3).map { _ in try SentinelProcess(of: primary.port, quorum: 2) }
        try awaitWatch()
    }

    /// The URL of some of its sentinels.
    func url(sentinels places: [Int] = [0, 1, 2], credentials: String = "", parameters: String = "") -> String {
        let hosts = places.map { "127.0.0.1:\(sentinels[$0].port)" }.joined(separator: ",")
        return "redis://\(credentials)\(hosts)/?sentinel=cooldowns\(parameters)"
    }

    /// The server that most sentinels name as the primary.
    func primary() throws -> RedisServer {
        let ports = try sentinels.filter(\.isAnswering).compactMap { try $0.knowledge()["port"].flatMap(Int.init) }
        guard
            let server = servers.max(by: { left, right in
                ports.count { $0 == left.port } < ports.count { $0 == right.port }
            })
        else { throw ProgramFailure("there is no server") }
        return server
    }

    /// Waits until each sentinel knows the others and the replicas, and finds none of them down.
    func awaitWatch() throws {
        for sentinel in sentinels {
            try waitUntil("the sentinels to know each other and the replicas") {
                let known = try sentinel.knowledge()
                let replicas = try sentinel.command("SENTINEL", "REPLICAS", "cooldowns")
                return known["flags"] == "master" && known["num-other-sentinels"] == "\(sentinels.count - 1)"
                    && replicas.matches(of: /flags\nslave\n/).count == servers.count - 1
            }
        }
    }

    /// Waits until the sentinels have replaced a primary.
    ///
    /// - Returns: the new primary.
    @discardableResult
    func awaitFailover(from former: RedisServer) throws -> RedisServer {
        var primary = former
        try waitUntil("a failover") {
            primary = try self.primary()
            return try primary.port != former.port && primary.command("ROLE").hasPrefix("master")
        }
        return primary
    }

    /// Starts a server again as a replica, and waits until it has all changes of the primary. On a busy machine, the sentinels may
    /// replace the primary meanwhile.
    func restart(_ server: RedisServer) throws {
        try server.start(["--replicaof", "127.0.0.1", "\(primary().port)"])
        try server.awaitReadiness()
        try Self.awaitReplicas(servers.count - 1, of: primary)
    }

    /// Waits until the primary has as many replicas that are online.
    static func awaitReplicas(_ count: Int, of primary: () throws -> RedisServer) throws {
        try waitUntil("\(count) replicas to be online") {
            try primary().command("INFO", "replication").matches(of: /state=online/).count == count
        }
    }

    /// Cuts the primary off from its replicas, or from some of them, and, if so, from the sentinels: it permits nothing to the
    /// user that has no name.
    /// There is the user `admin` with the password `SECRET` for everything else.
    func isolate(_ primary: RedisServer, fromSentinels: Bool, replicas: Int? = nil) throws {
        try primary.command("ACL", "SETUSER", "admin", "on", ">SECRET", "~*", "&*", "+@all")
        // A replica whose PSYNC is refused tries SYNC.
        let withdrawn = fromSentinels ? ["-@all"] : ["-psync", "-sync"]
        try administer(primary, ["ACL", "SETUSER", "default"] + withdrawn)
        let clients = try administer(primary, ["CLIENT", "LIST", "TYPE", "replica"]).matches(of: /(?m)^id=(\d+)/)
        for client in clients.prefix(replicas ?? .max) {
            try administer(primary, ["CLIENT", "KILL", "ID", String(client.1)])
        }
    }

    /// Ends `isolate`. SYNC stays forbidden, because a replica that comes back by it never acknowledges changes.
    func reunite(_ primary: RedisServer) throws {
        try administer(primary, ["ACL", "SETUSER", "default", "+@all", "-sync"])
    }

    /// Carries out a command as the user that `isolate` leaves.
    @discardableResult
    func administer(_ server: RedisProcess, _ words: [String]) throws -> String {
        try server.command(["--user", "admin", "--pass", "SECRET", "--no-auth-warning"] + words)
    }
}
