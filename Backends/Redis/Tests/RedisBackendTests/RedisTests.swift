import Backend
import BackendContract
import Foundation
import Glibc
import Testing
import Varlink

@testable import RedisBackend

/// What only Redis can do to a bridge.
@Suite("Redis", .serialized)
struct RedisTests {
    @Test("the script is loaded again after SCRIPT FLUSH")
    func scriptFlush() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        try server.command("SCRIPT", "FLUSH")
        #expect(try client.propose(Propose.Proposal("a", "x.2", after: "x.1")).outcome == .won)
        let acknowledging = try BridgeProcess(server, parameters: "?acks=1")
        try server.command("SCRIPT", "FLUSH")
        let answer = try acknowledging.client().propose(Propose.Proposal("a", "x.3", after: "x.2"))
        #expect(answer.outcome == .unacknowledged)
        withExtendedLifetime((bridge, acknowledging)) {}
    }

    @Test(
        "the loss of any one key is survived: changes go on, and followers end up with what the engine has",
        arguments: [
            "cd:{fleet}:about", "cd:{fleet/0}:now", "cd:{fleet/0}:due", "cd:{fleet/0}:version", "cd:{fleet/0}:log",
        ]
    )
    func lostKey(_ key: String) throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        let first = try #require(try client.propose(Propose.Proposal("a", "x.1", due: 1 << 52)).version)
        #expect(try client.propose(Propose.Proposal("b", "x.2", due: 1 << 52)).outcome == .won)
        let follower = try bridge.client()
        try follower.follow()
        _ = try follower.updates(until: .live)
        try server.command("DEL", key)
        let change = try client.propose(Propose.Proposal("c", "x.3", due: 1 << 52))
        #expect(change.outcome == .won)
        var last: Follow.Reply
        repeat { last = try follower.update() } while last.last?.version != change.version
        #expect(last.last?.id == "x.3")
        // A new follower sees what the engine holds.
        let other = try bridge.client()
        try other.follow()
        let ids = try other.updates(until: .live).filter { $0.state == .page }.flatMap(\.entries).map(\.id)
        #expect(Set(ids) == (key.hasSuffix("now") ? ["x.3"] : ["x.1", "x.2", "x.3"]))
        // One that was away learns that versions are missing.
        let late = try bridge.client()
        try late.follow(after: first, id: "x.1")
        let states = try late.updates(until: .live).map(\.state)
        let expected: [Follow.State] =
            switch key.split(separator: ":").last {
            case "version": [.resumed, .changes, .diverged, .page, .live]
            case "log": [.diverged, .page, .live]
            default: [.resumed, .changes, .live]
            }
        #expect(states == expected)
        withExtendedLifetime(bridge) {}
    }

    @Test("a message that was lost is read from the log")
    func lostMessage() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        let first = try #require(try client.propose(Propose.Proposal("a", "x.1")).version)
        let follower = try bridge.client()
        try follower.follow()
        _ = try follower.updates(until: .live)
        let record = "\(first + 1) y.1 {}"
        try server.command("XADD", "cd:{fleet/0}:log", "\(first + 1)-0", "key", "b", "record", record)
        try server.command("SET", "cd:{fleet/0}:version", "\(first + 1)")
        try server.command("HSET", "cd:{fleet/0}:now", "b", record)
        #expect(try client.propose(Propose.Proposal("c", "x.2")).version == first + 2)
        #expect(try follower.updates(until: .live).flatMap(\.entries).map(\.id) == ["y.1", "x.2"])
    }

    @Test("messages and records that are none are skipped")
    func foreignData() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        let follower = try bridge.client()
        try follower.follow()
        _ = try follower.updates(until: .live)
        try server.command("SPUBLISH", "cd:{fleet/0}:log", "nonsense")
        try server.command("SPUBLISH", "cd:{fleet/0}:log", "key\n99 no-json")
        try server.command("HSET", "cd:{fleet/0}:now", "strange", "\u{FF} no record")
        let answer = try client.propose(Propose.Proposal("strange", "x.2"))
        #expect(answer.outcome == .conflict)
        #expect(answer.version == 0)
        let change = try client.propose(Propose.Proposal("a", "x.3", after: "x.1"))
        var last: Follow.Reply
        repeat { last = try follower.update() } while last.last?.version != change.version
        #expect(last.last?.id == "x.3")
        #expect(bridge.program.isRunning)
    }

    @Test("records are removed when they are due, and only then")
    func retention() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1", due: 1)).outcome == .won)
        #expect(try client.propose(Propose.Proposal("b", "x.2", due: 1 << 52)).outcome == .won)
        #expect(try client.propose(Propose.Proposal("c", "x.3")).outcome == .won)
        #expect(try server.command("HKEYS", "cd:{fleet/0}:now").split(separator: "\n").sorted() == ["b", "c"])
        #expect(try server.command("ZRANGE", "cd:{fleet/0}:due", "0", "-1") == "b")
        // A countdown that is paused later is not removed.
        #expect(try client.propose(Propose.Proposal("b", "x.4", after: "x.2")).outcome == .won)
        #expect(try server.command("ZCARD", "cd:{fleet/0}:due") == "0")
    }

    @Test("acknowledgements that do not come are told, and confirmations do not wait for them")
    func acknowledgements() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        try bridge.program.line(containing: "has 0 replicas, and acks=1 demands more")
        let (client, other) = (try bridge.client(), try bridge.client())
        try client.sendProposals([Propose.Proposal("a", "x.1"), Propose.Proposal("b", "x.2", record: nil)])
        try other.sendProposals([Propose.Proposal("b", "x.3", record: nil)])
        #expect(try other.answers().map(\.outcome) == [.won])
        #expect(try client.answers().map(\.outcome) == [.unacknowledged, .won])
    }

    @Test("a replica acknowledges")
    func replica() throws {
        let server = try RedisServer(["--repl-diskless-sync-delay", "0"])
        let replica = try RedisServer(["--replicaof", "127.0.0.1", "\(server.port)"])
        let deadline = ContinuousClock.now + .seconds(60)
        while try !server.command("INFO", "replication").contains("state=online"), ContinuousClock.now < deadline {}
        let bridge = try BridgeProcess(server, parameters: "?acks=1")
        #expect(try bridge.client().propose(Propose.Proposal("a", "x.1")).outcome == .won)
        try withExtendedLifetime((bridge, replica)) {
            let other = try BridgeProcess("redis://127.0.0.1:{port}", port: replica.port)
            try other.program.line(containing: "is a replica: use the address of its primary")
        }
    }

    @Test("the clock can be stepped by a flag for tests, and followers are told")
    func clockStep() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(
            "redis://127.0.0.1:{port}",
            port: server.port,
            options: ["--test-clock-file", "{folder}/clock"]
        )
        try bridge.program.line(containing: "connected to")
        let follower = try bridge.client()
        try follower.follow()
        let before = try #require(try follower.updates(until: .live).last?.clock)
        try bridge.write("-5000000", to: "clock")
        bridge.program.send(signal: SIGUSR1)
        let after = try #require(try follower.updates(until: .clock).last?.clock)
        let step = before.engineLessBootUSec - after.engineLessBootUSec
        #expect(abs(step - 5_000_000) <= before.errorUSec + after.errorUSec)
        try bridge.program.line(containing: "has jumped by")
        // Windows are in the stepped time.
        let client = try bridge.client()
        let window = (after.now + 4_000_000)...(after.now + 60_000_000)
        #expect(try client.propose(Propose.Proposal("a", "x.1", window: window)).outcome == .early)
    }

    @Test("the permissions in the documentation suffice, and one that is missing is named")
    func permissions() throws {
        let server = try RedisServer()
        let page = try String(contentsOfFile: Self.page, encoding: .utf8)
        let line = try #require(page.split(separator: "\n").first { $0.hasPrefix("user countdownd ") })
        try server.command(words: ["ACL", "SETUSER"] + line.split(separator: " ").dropFirst().map(String.init))
        let bridge = try BridgeProcess("redis://countdownd:SECRET@127.0.0.1:{port}", port: server.port)
        try bridge.program.line(containing: "connected to")
        let client = try bridge.client()
        #expect(try client.propose(Propose.Proposal("a", "x.1", due: 1)).outcome == .won)
        let follower = try bridge.client()
        try follower.follow()
        #expect(try follower.updates(until: .live).last?.last?.id == "x.1")
        // A change is refused from now on.
        try server.command("ACL", "SETUSER", "countdownd", "-xadd")
        let answer = try client.propose(Propose.Proposal("b", "x.2"))
        #expect(answer.outcome == .unreachable)
        #expect(answer.reason?.contains("lacks a permission") == true)
        try bridge.program.line(containing: "error: changes are refused: the user of 127.0.0.1:")
        try server.command("ACL", "SETUSER", "countdownd", "+xadd")
        #expect(try client.propose(Propose.Proposal("b", "x.3")).outcome == .won)
        try bridge.program.line(containing: "accepts changes again")
        // A namespace whose name begins alike is not included.
        let other = try BridgeProcess("redis://countdownd:SECRET@127.0.0.1:{port}/?namespace=fleet2", port: server.port)
        try other.program.line(containing: "lacks a permission for HSETNX")
        try server.command("ACL", "SETUSER", "countdownd", "-info")
        let third = try BridgeProcess("redis://countdownd:SECRET@127.0.0.1:{port}", port: server.port)
        try third.program.line(containing: "lacks a permission for INFO")
        #expect(!(bridge.program.lines + other.program.lines + third.program.lines).joined().contains("SECRET"))
    }

    private static let page = URL(fileURLWithPath: #filePath)
        .appendingPathComponent("../../../../../docs/fleet.md").standardizedFileURL.path

    @Test("a password is demanded, rejected or not needed: one sentence each, and a new one is taken at SIGHUP")
    func passwords() throws {
        let server = try RedisServer()
        let none = try BridgeProcess("redis://:SECRET@127.0.0.1:{port}", port: server.port)
        try none.program.line(containing: "has no password for the default user: remove it from the URL")
        try server.command("CONFIG", "SET", "requirepass", "SECRET2")
        let missing = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        try missing.program.line(containing: "demands a password: use a URL with USER:PASSWORD@")
        let wrong = try BridgeProcess("redis://:SECRET@127.0.0.1:{port}", port: server.port)
        try wrong.program.line(containing: "rejects the user name or the password of the URL")
        let client = try wrong.client()
        try client.send(Describe())
        #expect(try client.reply().error == Unreachable.name)
        try wrong.replaceURL("redis://:SECRET2@127.0.0.1:\(server.port)")
        try wrong.program.line(containing: "connected to")
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
        // A failure that goes on is logged once.
        #expect(wrong.program.lines.count { $0.contains("rejects") } == 1)
        #expect(!(none.program.lines + missing.program.lines + wrong.program.lines).joined().contains("SECRET"))
    }

    @Test("an engine that may evict keys is refused, until it is mended")
    func evictionPolicy() throws {
        let server = try RedisServer(["--maxmemory-policy", "allkeys-lru"])
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        let sentence = "has maxmemory-policy allkeys-lru: use noeviction, so that no countdown is lost"
        try bridge.program.line(containing: sentence)
        let client = try bridge.client()
        let answer = try client.propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        #expect(answer.reason?.contains(sentence) == true)
        try server.command("CONFIG", "SET", "maxmemory-policy", "noeviction")
        try bridge.program.line(containing: "connected to")
        #expect(try client.propose(Propose.Proposal("a", "x.1")).outcome == .won)
    }

    @Test("a namespace that was made with other settings is refused, and both values are named")
    func settings() throws {
        let server = try RedisServer()
        try server.command("HSET", "cd:{fleet}:about", "shards", "4")
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: server.port)
        try bridge.program.line(containing: "the namespace fleet has shards 4, and this bridge has 1")
    }

    @Test("an engine that becomes a replica is left")
    func deposed() throws {
        let server = try RedisServer()
        let bridge = try BridgeProcess(server)
        let client = try bridge.client()
        try server.command("REPLICAOF", "127.0.0.1", "1")
        let answer = try client.propose(Propose.Proposal("a", "x.1"))
        #expect(answer.outcome == .unreachable)
        try bridge.program.line(containing: "is a replica: use the address of its primary")
        try server.command("REPLICAOF", "NO", "ONE")
        try bridge.program.line(containing: "connected to")
    }

    @Test("an engine without an append-only file is warned about")
    func warning() throws {
        let server = try RedisServer(["--appendonly", "no"])
        let bridge = try BridgeProcess(server)
        try bridge.program.line(containing: "warning: 127.0.0.1:\(server.port) has no append-only file")
    }
}

@Suite("Connections to the engine", .serialized)
struct ConnectionTests {
    private static let info = "redis_version:%\r\nrole:master\r\nmaxmemory_policy:noeviction\r\n"

    private func info(_ version: String) -> String {
        let text = Self.info.replacing("%", with: version)
        return "$\(text.utf8.count)\r\n\(text)\r\n"
    }

    private func expect(_ sentence: String, _ answer: @escaping @Sendable ([String]) -> String?) throws {
        let engine = try FakeEngine(answer)
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: engine.port)
        let line = try #require(try bridge.program.line())
        #expect(line == "countdownd-redis: error: \(sentence.replacing("%", with: "127.0.0.1:\(engine.port)"))")
    }

    @Test("each fault of an engine is one sentence")
    func faults() throws {
        let (old, valkey) = (info("6.2.7"), info("7.2.4\r\nvalkey_version:7.1.0"))
        try expect("% is Redis 6.2.7: Redis 7.0 or newer, or Valkey 7.2 or newer, is needed") { _ in old }
        try expect("% is Valkey 7.1.0: Redis 7.0 or newer, or Valkey 7.2 or newer, is needed") { _ in valkey }
        let words = "Redis is loading the dataset in memory"
        try expect("% is loading its data: LOADING \(words)") { _ in "-LOADING \(words)\r\n" }
        try expect("% has closed the connection: if it speaks TLS, use rediss:") { _ in nil }
        try expect("% is no Redis or Valkey: it sent the byte 72") { _ in "HTTP/1.1 400 Bad Request\r\n\r\n" }
        try expect("no answer from % within 2 s") { _ in "" }
        try expect("% denies the connection: it is in protected mode and demands a password") { _ in "-DENIED Redis\r\n"
        }
    }

    @Test("changes that an engine refuses have its words")
    func refusals() throws {
        let url = try BackendURL(parsing: "redis://h")
        for (words, sentence) in [
            (
                "MISCONF Redis is configured to save",
                "h:6379 cannot save and refuses changes: MISCONF Redis is configured to save"
            ),
            ("READONLY You can't write", "h:6379 is a replica: use the address of its primary"),
            ("OOM command not allowed", "h:6379 is out of memory and refuses changes: raise its maxmemory"),
            ("NOREPLICAS Not enough", "h:6379 has too few replicas and refuses changes: NOREPLICAS Not enough"),
            ("BUSY Redis is busy", "h:6379 is busy with a script: BUSY Redis is busy"),
        ] {
            #expect(EngineFailure(reply: words, to: "the script", of: url).description == sentence)
            #expect(EngineFailure.isEarly(words))
        }
        #expect(!EngineFailure.isEarly("ERR Error running script"))
    }

    @Test("nobody listens, and no host has the name")
    func unreachable() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        try bridge.program.line(containing: "error: cannot connect to 127.0.0.1:1: Connection refused")
        let other = try BridgeProcess("redis://no-such-host.invalid")
        try other.program.line(containing: "error: cannot resolve the host 'no-such-host.invalid'")
    }

    @Test("an engine that sends nonsense does not end the bridge", arguments: 0..<20 as Range<UInt64>)
    func hostileEngine(seed: UInt64) throws {
        let healthy = info("7.0.15")
        let engine = try FakeEngine { command in
            var generator = SeededGenerator(seed: command.joined().utf8.reduce(seed) { $0 &* 31 &+ UInt64($1) })
            let nonsense = [
                "*2\r\n$1\r\n0\r\n*0\r\n", "*3\r\n*-1\r\n$-1\r\n:5\r\n", "$-1\r\n", ":9223372036854775807\r\n",
                "*0\r\n",
                "*2\r\n:9223372036854775807\r\n:1\r\n",
                "*2\r\n:-9223372036854775808\r\n*2\r\n$3\r\nwon\r\n$1\r\n5\r\n", "*2\r\n$3\r\n-99\r\n*1\r\n$1\r\nx\r\n",
                "-ERR no\r\n",
                "+OK\r\n",
                "*2\r\n$19\r\n9223372036854775807\r\n*2\r\n$3\r\nwon\r\n$20\r\n99999999999999999999\r\n",
                "*3\r\n$8\r\nsmessage\r\n$1\r\nc\r\n$5\r\na\n1 b \r\n",
                "*3\r\n:1\r\n*1\r\n*2\r\n$21\r\n-9223372036854775808-0\r\n*0\r\n*0\r\n",
            ]
            switch command.first {
            case "INFO": return healthy
            case "HSETNX", "SSUBSCRIBE": return "+OK\r\n"
            case "SCRIPT": return "$1\r\ns\r\n"
            case "HGET":
                let value = NamespaceSettings(namespace: "fleet").fields.first { $0.name == command.last }?.value ?? 0
                return "+\(value)\r\n"
            case "TIME": return "*2\r\n:1700000000\r\n:5\r\n"
            default: return nonsense.randomElement(using: &generator)
            }
        }
        let bridge = try BridgeProcess("redis://127.0.0.1:{port}", port: engine.port)
        _ = try bridge.program.line()
        let follower = try bridge.client()
        for after in [nil, 5, Int64.max] as [Int64?] {
            let follower = try bridge.client()
            try follower.follow(after: after, id: after.map { "x.\($0)" })
            _ = try follower.update()
        }
        for number in 0..<20 {
            let answer = try follower.propose(Propose.Proposal("a", "x.\(number)"))
            #expect([.won, .unknown, .unreachable, .conflict].contains(answer.outcome))
        }
        #expect(bridge.program.isRunning)
    }
}

@Suite("TLS", .serialized)
struct TLSTests {
    private let folder: Folder
    private let certificates: Certificates

    init() throws {
        folder = try Folder()
        certificates = try Certificates(in: folder)
    }

    private func server(_ certificate: String, clients: String = "no") throws -> RedisServer {
        try RedisServer([
            "--port", "0", "--tls-port", "{port}", "--tls-cert-file", certificates.path(of: "\(certificate).pem"),
            "--tls-key-file", certificates.path(of: "\(certificate).key"), "--tls-ca-cert-file",
            certificates.path(of: "ca.pem"), "--tls-auth-clients", clients,
        ])
    }

    private func expect(_ sentence: String, host: String = "localhost", _ server: RedisServer, _ query: String) throws {
        let bridge = try BridgeProcess("rediss://\(host):{port}/?\(query)", port: server.port)
        let line = try #require(try bridge.program.line())
        #expect(line.contains(sentence.replacing("%", with: "\(host):\(server.port)")))
    }

    @Test("the name and the authority of the server's certificate are verified")
    func verification() throws {
        try certificates.make("server", alternative: "DNS:localhost,IP:127.0.0.1")
        let server = try server("server")
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        try expect("info: connected to Redis 7", server, ca)
        try expect("info: connected to Redis 7", host: "127.0.0.1", server, ca)
        let other = "ca=\(certificates.path(of: "other-ca.pem"))"
        try expect(
            "error: the certificate of % is not signed by an authority that is trusted: use ca=FILE",
            server,
            other
        )
        try expect("error: the certificate of % is not signed by an authority that is trusted: use ca=FILE", server, "")
        try expect("error: cannot read ca=/none: No such file or directory", server, "ca=/none")
        let key = "ca=\(certificates.path(of: "server.key"))"
        try expect(
            "error: invalid ca=\(certificates.path(of: "server.key")): the file has to hold certificates",
            server,
            key
        )
    }

    @Test("a certificate for another name, and one that has expired, are refused")
    func invalidCertificates() throws {
        try certificates.make("named", alternative: "DNS:engine.example")
        try certificates.make("expired", alternative: "DNS:localhost", days: -1)
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        let named = try server("named")
        try expect(
            "error: the certificate of % is not made out to 'localhost': use the name that it contains",
            named,
            ca
        )
        try expect("error: the certificate of % has expired: renew it on the server", try server("expired"), ca)
    }

    @Test("a client certificate is sent if the server demands it")
    func clientCertificate() throws {
        try certificates.make("server", alternative: "DNS:localhost")
        try certificates.make("client", alternative: "DNS:client")
        let server = try server("server", clients: "yes")
        let ca = "ca=\(certificates.path(of: "ca.pem"))"
        try expect("error: % demands a client certificate: use cert=FILE and key=FILE", server, ca)
        let (certificate, key) = (certificates.path(of: "client.pem"), certificates.path(of: "client.key"))
        try expect("info: connected to Redis 7", server, "\(ca)&cert=\(certificate)&key=\(key)")
        let mixed = "\(ca)&cert=\(certificate)&key=\(certificates.path(of: "server.key"))"
        try expect("error: cert and key of the URL do not belong together", server, mixed)
    }

    @Test("TLS against plain text, and plain text against TLS")
    func mismatch() throws {
        try certificates.make("server", alternative: "DNS:localhost")
        let plain = try RedisServer()
        let bridge = try BridgeProcess("rediss://127.0.0.1:{port}", port: plain.port)
        let line = try #require(try bridge.program.line())
        #expect(line.contains("does not speak TLS"))
        #expect(line.contains("redis:"))
        let secure = try server("server")
        let other = try BridgeProcess("redis://127.0.0.1:{port}", port: secure.port)
        try other.program.line(containing: "use rediss:")
    }
}

@Suite("The command line of countdownd-redis", .serialized)
struct CommandLineTests {
    private func run(_ arguments: [String]) throws -> (code: Int32, output: String) {
        let program = try Program(try BridgeProcess.executable(), arguments)
        let code = try program.wait()
        return (code, program.lines.joined(separator: "\n"))
    }

    @Test("a URL on the command line is refused, and not repeated")
    func url() throws {
        let (code, output) = try run(["redis://:SECRET@h"])
        #expect(code == 64)
        #expect(output == "countdownd-redis: unexpected argument: use --url-file FILE; see --help")
        #expect(try run(["--url-file", "x"]) == (64, "countdownd-redis: --listen is missing; see --help"))
        #expect(try run(["--listen", "x"]) == (64, "countdownd-redis: --url-file is missing; see --help"))
    }

    @Test("files that cannot be used are named")
    func files() throws {
        let folder = try Folder()
        let missing = folder.path(of: "none")
        #expect(
            try run(["--url-file", missing, "--listen", folder.path(of: "s")])
                == (78, "countdownd-redis: cannot read \(missing): No such file or directory")
        )
        let invalid = try folder.write("redis://u:SECRET@h:x", to: "url")
        #expect(
            try run(["--url-file", invalid, "--listen", folder.path(of: "s")])
                == (78, "countdownd-redis: \(invalid): invalid port: use a number from 1 to 65535")
        )
        let valid = try folder.write("redis://127.0.0.1:1", to: "url")
        let file = try folder.write("", to: "file")
        let (code, output) = try run(["--url-file", valid, "--listen", file])
        #expect(code == 78)
        #expect(output.contains("\(file) is no socket; it is left alone"))
    }

    @Test("help lines fit into 79 columns")
    func help() { #expect(Options.help.split(separator: "\n").allSatisfy { $0.count <= 79 }) }

    @Test("the socket is for its user and group, a stale one is replaced, and one that answers is left")
    func socket() throws {
        let bridge = try BridgeProcess("redis://127.0.0.1:1")
        _ = try bridge.program.line()
        var status = stat()
        #expect(lstat(bridge.socket, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o660)
        let (code, output) = try run(["--url-file", bridge.urlFile, "--listen", bridge.socket])
        #expect(code == 78)
        #expect(output.contains("another bridge answers on \(bridge.socket)"))
        bridge.program.kill()
        let second = try Program(
            try BridgeProcess.executable(),
            ["--url-file", bridge.urlFile, "--listen", bridge.socket]
        )
        try second.line(containing: "cannot connect to")
        second.send(signal: SIGTERM)
        #expect(try second.wait() == 0)
    }

    @Test("a relative name is looked for among systemd's credentials")
    func credentials() throws {
        let folder = try Folder()
        try folder.write("redis://127.0.0.1:1", to: "fleet.url")
        let program = try Program(
            try BridgeProcess.executable(),
            ["--url-file", "fleet.url", "--listen", folder.path(of: "s")],
            environment: ["CREDENTIALS_DIRECTORY": folder.path]
        )
        try program.line(containing: "cannot connect to 127.0.0.1:1")
    }
}
