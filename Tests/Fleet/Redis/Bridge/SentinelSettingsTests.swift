import BackendContract
import FleetWire
import Foundation
import TestSupport
import Testing

/// Three servers and three sentinels as docs/fleet.md sets them up, on loopback and with TLS.
@Suite("The settings for Sentinel in the documentation", .serialized)
struct SentinelSettingsTests {
    private let directory: TemporaryDirectory
    private let certificates: Certificates
    /// The lines of the page, with one password for everything.
    private let server: [String]
    private let replica: [String]
    private let sentinel: [String]
    private let url: String

    init() throws {
        directory = try TemporaryDirectory()
        certificates = try Certificates(in: directory)
        try certificates.make("engine", alternative: "IP:127.0.0.1")
        let page = BuiltProduct.packageDirectory.appendingPathComponent("docs/fleet.md")
        let text = try String(contentsOf: page, encoding: .utf8)
            .replacing("ADMINISTRATORS-SECRET", with: "secret").replacing(">SECRET", with: ">secret")
            .replacing(":SECRET@", with: ":secret@")
            // So that the failover comes sooner.
            .replacing("down-after-milliseconds cooldowns 5000", with: "down-after-milliseconds cooldowns 1000")
        let conf = try #require(text.firstMatch(of: /(?s)```conf\n(.*?)```/)).1
        let section = try #require(text.firstMatch(of: /(?s)## Sentinel\n(.*)/)).1
        let blocks = section.matches(of: /(?s)```(?:ini)?\n(.*?)```/).map(\.1)
        let halves = try #require(blocks.first).split(separator: "# On the two replicas:\n")
        try #require(blocks.count >= 3 && halves.count == 2)
        func lines(_ text: Substring) -> [String] { text.split(separator: "\n").map(String.init) }
        server = lines(conf) + lines(halves[0])
        replica = lines(halves[1])
        sentinel = lines(blocks[1])
        url = blocks[2].trimmingCharacters(in: .newlines)
    }

    private var files: [String: String] {
        [
            "tls-cert-file": certificates.path(of: "engine.pem"), "tls-key-file": certificates.path(of: "engine.key"),
            "tls-ca-cert-file": certificates.path(of: "ca.pem"), "tls-auth-clients": "no", "tls-replication": "yes",
        ]
    }

    private func start(_ settings: [String]) throws -> RedisServer {
        let secure = files.flatMap { ["--\($0.key)", $0.value] }
        return try RedisServer(["--port", "0", "--tls-port", "{port}"] + secure, settings: settings)
    }

    private func command(_ server: RedisServer, _ words: String...) throws -> String {
        try server.command(["-a", "secret", "--no-auth-warning"] + words)
    }

    @Test("let the bridge find the primary, acknowledge changes, and follow a failover")
    func work() throws {
        let primary = try start(server)
        let follow = replica.map { $0.replacing("10.0.0.1 6379", with: "127.0.0.1 \(primary.port)") }
        let replicas = try (0..<2).map { _ in try start(server + follow) }
        try waitUntil("the replicas to be online") {
            try command(primary, "INFO", "replication").matches(of: /state=online/).count == 2
        }
        let settings = sentinel.map { $0.replacing("10.0.0.1 6379", with: "127.0.0.1 \(primary.port)") }
        let secure = ["port 0", "tls-port {port}"] + files.map { "\($0.key) \($0.value)" }
        let client = ["--tls", "--cacert", certificates.path(of: "ca.pem")]
        let sentinels = try (0..<3).map { _ in try SentinelProcess(settings: secure + settings, client: client) }
        for sentinel in sentinels {
            try waitUntil("the sentinels to know each other and the replicas") {
                let known = try sentinel.knowledge()
                return known["num-other-sentinels"] == "2" && known["num-slaves"] == "2"
            }
        }
        var address = url
        for (number, sentinel) in sentinels.enumerated() {
            address = address.replacing("10.0.0.\(number + 1)", with: "127.0.0.1:\(sentinel.port)")
        }
        let bridge = try BridgeProcess("\(address)&ca=\(certificates.path(of: "ca.pem"))")
        try bridge.program.line(containing: "connected to Redis")
        #expect(bridge.program.lines.last?.contains("at 127.0.0.1:\(primary.port), the primary 'cooldowns'") == true)
        let caller = try bridge.client()
        #expect(try caller.propose(Propose.Proposal("a", "x.1")).outcome == .won)

        try primary.kill()
        let line = try bridge.program.line(containing: "connected to Redis")
        #expect(replicas.contains { line.contains("at 127.0.0.1:\($0.port), the primary 'cooldowns'") })
        let answer = try caller.propose(Propose.Proposal("a", "x.2"))
        #expect(answer.outcome == .conflict)
    }
}
