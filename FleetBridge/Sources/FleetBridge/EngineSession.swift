import NIOCore
import RESP
import System

/// The names of the keys of a namespace in the engine. The braces put them into one slot of a cluster.
struct NamespaceKeys: Sendable {
    let about: String
    let now: String
    let due: String
    let version: String
    /// The version before the first change, which differs after everything was lost.
    let origin: String
    /// The log, and the channel of the same name.
    let log: String

    init(_ namespace: String) {
        let prefix = "cd:{\(namespace)/0}"
        about = "cd:{\(namespace)}:about"
        now = "\(prefix):now"
        due = "\(prefix):due"
        version = "\(prefix):version"
        origin = "\(prefix):origin"
        log = "\(prefix):log"
    }
}

/// The settings that all bridges of a namespace must share. The first bridge writes them into the engine.
struct NamespaceSettings: Equatable, Sendable {
    let namespace: String
    /// Of the keys and records.
    let format: Int64 = 2
    let shards: Int64 = 1
    /// Microseconds for which a record stays after its end.
    let retention: Int64 = 600_000_000
    /// Microseconds before a deadline in which a countdown is not changed.
    let margin: Int64
    /// The number of changes in the log.
    let log: Int64 = 65_536
    /// The greatest number of countdowns.
    let countdowns: Int64 = 4_000_000

    init(_ url: EngineURL) { (namespace, margin) = (url.namespace, url.margin) }

    var fields: [(name: String, value: Int64)] {
        [
            ("format", format), ("shards", shards), ("retention", retention), ("margin", margin), ("log", log),
            ("countdowns", countdowns),
        ]
    }
}

/// The engine while it is connected, after it was checked.
@BridgeLoop
struct EngineSession {
    /// A reading of the engine's clock.
    struct TimeSample: Sendable {
        var engine: Int64
        var sent: Int64
        var received: Int64
    }

    /// The script that makes proposals.
    static let proposalScript = String(decoding: PackageResources.propose_lua, as: UTF8.self)

    /// The URL with the address of this engine.
    let url: EngineURL
    /// The epoch of the sentinels in which this engine is the primary; nil without sentinels.
    let epoch: Int64?
    /// For proposals. If acknowledgements are demanded, WAIT holds back every command that is pipelined after it.
    let changes: EngineConnection
    /// For confirmations, snapshots, the log and the clock.
    let queries: EngineConnection
    /// For the channel.
    let subscription: EngineConnection
    /// The name and version of the engine.
    let engine: String
    /// The replicas that were connected to it.
    let replicas: Set<ServerAddress>
    /// The name of the script in the engine.
    let script: String
    /// Settings of the engine that can lose changes, a sentence each.
    let warnings: [String]
    let samples: [TimeSample]

    var connections: [EngineConnection] { [changes, queries, subscription] }

    /// Ends the connections.
    func close(_ failure: EngineFailure) { for connection in connections { connection.close(failure) } }

    /// Connects three times, and checks the engine.
    ///
    /// - Parameters:
    ///   - url: has the engine's address.
    ///   - epoch: of the sentinels that have named it.
    /// - Returns: the session.
    /// - Throws: `EngineFailure`.
    static func open(_ url: EngineURL, epoch: Int64?) async throws -> EngineSession {
        let tls = try TLS.context(url)
        let connections = (0..<3).map { _ in EngineConnection(to: url) }
        let (changes, queries, subscription) = (connections[0], connections[1], connections[2])
        do {
            try await changes.logIn(tls)
            let reply = try await changes.reply(to: ["INFO"])
            let info = EngineInfo(reply.text ?? "")
            let engine = try info.check(url)
            try await checkPermissions(url, changes)
            try await agree(NamespaceSettings(url), changes)
            guard let script = try await changes.reply(to: ["SCRIPT", "LOAD", proposalScript]).text,
                script.utf8.count <= 40
            else { throw EngineFailure("\(url.address) does not load the script") }
            try await queries.logIn(tls)
            try await subscription.logIn(tls)
            _ = try await subscription.reply(to: ["SSUBSCRIBE", NamespaceKeys(url.namespace).log])
            return EngineSession(
                url: url,
                epoch: epoch,
                changes: changes,
                queries: queries,
                subscription: subscription,
                engine: engine,
                replicas: ReplicationInfo(.success(reply))?.replicas(at: 0) ?? [],
                script: script,
                warnings: info.warnings(url),
                samples: try await readClock(queries)
            )
        } catch {
            let failure = EngineFailure(error, of: url)
            for connection in connections { connection.close(failure) }
            throw try await TLS.diagnose(failure, url)
        }
    }

    private static func readClock(_ connection: EngineConnection) async throws -> [TimeSample] {
        var samples: [TimeSample] = []
        for _ in 0..<8 {
            let sent = BootClock.now
            let reply = try await connection.reply(to: ["TIME"])
            let received = BootClock.now
            guard let time = Self.time(reply) else {
                throw EngineFailure("\(connection.url.address) does not tell the time")
            }
            samples.append(TimeSample(engine: time, sent: sent, received: received))
        }
        return samples
    }

    /// Instants of the engine stay below it.
    nonisolated static let latestTime: Int64 = 1 << 53

    /// The microseconds in a reply of TIME.
    nonisolated static func time(_ reply: RESPValue) -> Int64? {
        guard let parts = reply.elements, parts.count == 2, let seconds = parts[0].number, let rest = parts[1].number,
            (0..<latestTime / 1_000_000).contains(seconds), (0..<1_000_000).contains(rest)
        else { return nil }
        return seconds * 1_000_000 + rest
    }

    /// Finds out whether the user may do what the bridge and the script do, before a change is half made: commands are
    /// checked when they are queued, and dropped then.
    private static func checkPermissions(_ url: EngineURL, _ connection: EngineConnection) async throws {
        let keys = NamespaceKeys(url.namespace)
        let commands: [RESPCommand] = [
            ["HSETNX", keys.about, "", ""], ["HGET", keys.now, ""], ["HSCAN", keys.now, "0"],
            ["HSET", keys.now, "", ""],
            ["HDEL", keys.now, ""], ["ZADD", keys.due, "0", ""], ["ZREM", keys.due, ""],
            ["ZRANGE", keys.due, "0", "0"], ["GET", keys.version], ["SET", keys.version, ""],
            ["XADD", keys.log, "*", "", ""], ["XRANGE", keys.log, "-", "+"], ["XREVRANGE", keys.log, "+", "-"],
            ["SPUBLISH", keys.log, ""], ["EVAL", "", "1", keys.now],
            ["EVALSHA", "", "1", keys.now], ["SCRIPT", "LOAD", ""], ["TIME"], ["PING"], ["WAIT", "0", "1"], ["DISCARD"],
        ]
        _ = try await connection.reply(to: ["MULTI"])
        // EXEC is refused too if it is permitted: DISCARD has ended the transaction.
        let checked = commands + [["EXEC"]]
        for (command, reply) in zip(checked, try await connection.replies(to: checked)) {
            if case .error(let words) = reply, words.contains("NOPERM") {
                throw EngineFailure(permission: words, to: command.name, of: url)
            }
        }
    }

    /// Writes the settings that the namespace does not have, and compares the others. A full engine refuses any HSETNX.
    private static func agree(_ settings: NamespaceSettings, _ connection: EngineConnection) async throws {
        let about = NamespaceKeys(settings.namespace).about
        for field in settings.fields {
            let question: RESPCommand = ["HGET", about, field.name]
            if case .null = try await connection.reply(to: question) {
                _ = try await connection.reply(to: ["HSETNX", about, field.name, "\(field.value)"])
            }
            let held = try await connection.reply(to: question).text?.beginning(100) ?? "nothing"
            guard held == "\(field.value)" else {
                var sentence =
                    "the namespace \(settings.namespace) has \(field.name) \(held), and this bridge has \(field.value): "
                if field.name == "margin", let margin = Int64(held) {
                    sentence += "use margin=\(margin / 1_000) in the URL"
                } else {
                    sentence += "all bridges of a namespace need the same version"
                }
                throw EngineFailure(sentence)
            }
        }
    }
}

/// The reply of INFO replication.
struct ReplicationInfo {
    /// The end of the changes in the primary's stream to its replicas.
    private(set) var end: Int64 = 0
    /// How much of the stream each replica that is online has acknowledged.
    private(set) var acknowledged: [ServerAddress: Int64] = [:]

    /// Reads the reply; nil if it is something else.
    init?(_ reply: Result<RESPValue, EngineFailure>) {
        guard let text = (try? reply.get())?.text else { return nil }
        for line in text.utf8.split(whereSeparator: { [10, 13].contains($0) }).map(Substring.init) {
            if line.hasPrefix("master_repl_offset:") { end = Int64(line.drop { $0 != ":" }.dropFirst()) ?? 0 }
            guard line.hasPrefix("slave"), line.contains(",state=online,") else { continue }
            let words = line.drop { $0 != ":" }.dropFirst().split(separator: ",").map { $0.split(separator: "=") }
            let fields = Dictionary(words.compactMap { $0.count == 2 ? ($0[0], $0[1]) : nil }) { first, _ in first }
            guard let host = fields["ip"], let port = fields["port"].flatMap({ Int($0) }) else { continue }
            acknowledged[ServerAddress(host: String(host), port: port)] = fields["offset"].flatMap { Int64($0) } ?? 0
        }
    }

    /// The replicas that have acknowledged the stream as far as this.
    func replicas(at offset: Int64) -> Set<ServerAddress> { Set(acknowledged.filter { $0.value >= offset }.keys) }
}

/// The reply of INFO.
struct EngineInfo {
    private var fields: [Substring: Substring] = [:]

    init(_ text: String) {
        // Sentences repeat these values. Every line that matters is short.
        for line in text.split(whereSeparator: \.isNewline) where line.utf8.count <= 200 {
            guard let colon = line.firstIndex(of: ":") else { continue }
            fields[line[..<colon]] = line[line.index(after: colon)...]
        }
    }

    /// Checks the settings that the bridge needs.
    ///
    /// - Returns: the name and version of the engine.
    func check(_ url: EngineURL) throws(EngineFailure) -> String {
        let isValkey = fields["valkey_version"] != nil
        guard let version = fields["valkey_version"] ?? fields["redis_version"] else {
            throw EngineFailure("\(url.address) does not tell its version: it is no Redis or Valkey")
        }
        let engine = "\(isValkey ? "Valkey" : "Redis") \(version)"
        let numbers = version.split(separator: ".").map { Int($0) ?? 0 } + [0, 0]
        let least = isValkey ? [7, 2] : [7, 0]
        guard !numbers.lexicographicallyPrecedes(least) else {
            throw EngineFailure("\(url.address) is \(engine): Redis 7.0 or newer, or Valkey 7.2 or newer, is needed")
        }
        guard fields["cluster_enabled"] != "1" else {
            throw EngineFailure("\(url.address) is a node of a cluster, which is not supported: use a single server")
        }
        guard fields["redis_mode"] != "sentinel" else {
            throw EngineFailure("\(url.address) is a sentinel: use sentinel=NAME, with the name of its primary")
        }
        guard fields["role"] == "master" else { throw EngineFailure(replica: url) }
        try checkPolicy(url)
        // It would come back empty and still be the primary, and its replicas would follow it.
        guard url.primary == nil || fields["aof_enabled"] == "1" else {
            throw EngineFailure(
                "\(url.address) has no append-only file: with sentinels use appendonly yes on every server, so that "
                    + "none comes back empty as the primary"
            )
        }
        return engine
    }

    /// Checks that the engine does not remove keys when its memory is full. INFO memory has the field, too.
    func checkPolicy(_ url: EngineURL) throws(EngineFailure) {
        let policy = fields["maxmemory_policy"] ?? "unknown"
        guard policy == "noeviction" else {
            throw EngineFailure(
                "\(url.address) has maxmemory-policy \(policy): use noeviction, so that no countdown is lost"
            )
        }
    }

    /// The settings that can lose changes although the engine can be used.
    func warnings(_ url: EngineURL) -> [String] {
        var warnings: [String] = []
        if fields["aof_enabled"] != "1" {
            warnings.append("\(url.address) has no append-only file and loses changes if it ends: use appendonly yes")
        }
        // INFO has this field only if min-replicas-to-write and min-replicas-max-lag are set.
        if url.acknowledgements > 0, fields["min_slaves_good_slaves"] == nil {
            warnings.append("\(url.address) takes changes without a replica: use min-replicas-to-write 1")
        }
        let replicas = fields["connected_slaves"].flatMap { Int($0) } ?? 0
        if replicas < url.acknowledgements {
            warnings.append("\(url.address) has \(replicas) replicas, and acks=\(url.acknowledgements) demands more")
        }
        return warnings
    }
}
