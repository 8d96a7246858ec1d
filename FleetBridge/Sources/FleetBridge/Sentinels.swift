import NIOCore
import NIOSSL
import RESP
import System

/// The primary, as sentinels know it.
struct KnownPrimary: Hashable, Sendable {
    var address: ServerAddress
    /// Grows with each failover. Of two sentinels, the one with the lower epoch has not heard of the last failover.
    var epoch: Int64
}

/// A replica, as a sentinel knows it.
struct KnownReplica: Sendable {
    let address: ServerAddress
    /// Names the server, which can have several addresses.
    let server: String
    /// Whether the sentinel cannot make it the primary, because it does not answer or has lost the primary for long.
    let isDown: Bool
    /// Whether it was the primary, and does not know that another server is. The sentinel chooses it last.
    let isFormerPrimary: Bool
    /// Whether the sentinel has had no report of the replica since a failover, a reset or its own start: then it cannot make it
    /// the primary. The former primary stays in this state if it is dead.
    let isUnheard: Bool

    /// Reads an element of the reply of SENTINEL REPLICAS; nil if it is something else.
    init?(_ element: RESPValue) {
        let fields = element.fields
        guard let host = fields["ip"]?.text, let port = fields["port"]?.number, (1...65_535).contains(port) else {
            return nil
        }
        address = ServerAddress(host: host, port: Int(port))
        let name = fields["runid"]?.text ?? ""
        server = name.isEmpty ? "\(address)" : name
        // A connection that was lost does not count, because a server closes all connections when it becomes the primary.
        let flags = (fields["flags"]?.text ?? "").split(separator: ",")
        let longest = 10 * (fields["down-after-milliseconds"]?.number ?? 0)
        isDown =
            flags.contains("s_down") || flags.contains("o_down") || fields["slave-priority"]?.number == 0
            || fields["master-link-down-time"]?.number ?? 0 > longest
        isFormerPrimary =
            !flags.contains("promoted") && fields["role-reported"]?.text == "master"
            && fields["slave-repl-offset"]?.number == 0
        isUnheard = name.isEmpty && fields["info-refresh"]?.number == 0
    }

    /// Whether the sentinel may make it the primary, although it reports the replica as down. One that it has not heard of may be alive:
    /// it soon will be heard of, if it is connected to the primary, or was to the one before.
    ///
    /// - Parameters:
    ///   - seen: when it has acknowledged changes of the present primary; nil if it was never connected to it.
    ///   - wasReplica: whether it was connected to the primary before this one.
    ///   - asked: when the sentinel was asked.
    /// - Returns: false if it cannot become the primary.
    func isCandidate(seen: Int64?, wasReplica: Bool, asked: Int64) -> Bool {
        guard !isFormerPrimary, !isUnheard || wasReplica else { return seen != nil }
        return !isDown || seen ?? .min >= asked
    }
}

extension RESPValue {
    /// The names and values in the reply of a sentinel.
    fileprivate var fields: [String: RESPValue] {
        let elements = elements ?? []
        var fields: [String: RESPValue] = [:]
        for index in stride(from: 0, to: elements.count - 1, by: 2) {
            if let name = elements[index].text { fields[name] = elements[index + 1] }
        }
        return fields
    }
}

/// The report of a sentinel.
struct SentinelReport: Sendable {
    let primary: KnownPrimary
    let replicas: [KnownReplica]
}

/// The reports of the sentinels that have answered.
struct SentinelReports: Sendable {
    let primary: KnownPrimary
    /// When they were asked, on the boot clock.
    let asked: Int64
    /// Whether more than half of them have answered: the others cannot replace the primary.
    let isMajority: Bool
    /// By server.
    private let replicas: [[KnownReplica]]

    init(_ reports: [SentinelReport], primary: KnownPrimary, sentinels: Int, asked: Int64) {
        self.primary = primary
        self.asked = asked
        isMajority = reports.count * 2 > sentinels
        // A sentinel that has missed a failover has the primary among its replicas.
        let others = reports.flatMap(\.replicas).filter { $0.address != primary.address }
        replicas = Dictionary(grouping: others, by: \.server).values.map { $0 }
    }

    /// Finds a replica that is not among the given ones. If the sentinels do not know as many of the given ones, these are the
    /// same replicas under other addresses.
    ///
    /// - Parameters:
    ///   - given: the addresses that the primary has for its replicas.
    ///   - condition: which replicas are looked for; a server with several addresses needs one that meets it.
    /// - Returns: its address; nil if there is none.
    func replica(besides given: Set<ServerAddress>, where condition: (KnownReplica) -> Bool) -> ServerAddress? {
        let unknown = given.subtracting(replicas.joined().map(\.address))
        let missing = replicas.filter { server in
            !server.contains { given.contains($0.address) } && server.contains(where: condition)
        }
        return missing.count > unknown.count ? missing.first?.first?.address : nil
    }
}

/// Asks all sentinels for the primary and its replicas at once, and takes the primary with the greatest epoch, so that a sentinel that is gone
/// or that has missed a failover does no harm.
@BridgeLoop
enum PrimaryLookup {
    /// How long the other sentinels may take after the first answer.
    private static let patience = TimeAmount.milliseconds(300)

    /// Asks the sentinels of a URL.
    ///
    /// - Throws: `EngineFailure` if none of them knows the primary.
    static func reports(of url: EngineURL) async throws -> SentinelReports {
        let tls = try TLS.context(url)
        let asked = BootClock.now
        let (answers, arrivals) = AsyncStream.makeStream(of: (Int, Result<SentinelReport, EngineFailure>).self)
        for (index, sentinel) in url.sentinels.enumerated() {
            Task { arrivals.yield((index, await ask(url.sentinel(at: sentinel), tls))) }
        }
        var reports: [SentinelReport] = []
        // In the order of the URL.
        var failures: [EngineFailure?] = url.sentinels.map { _ in nil }
        var missing = url.sentinels.count
        for await (index, answer) in answers {
            missing -= 1
            switch answer {
            case .failure(let failure): failures[index] = failure
            case .success(let report):
                reports.append(report)
                if reports.count == 1 { BridgeLoop.run(after: patience) { arrivals.finish() } }
            }
            if missing == 0 { arrivals.finish() }
        }
        let epoch = reports.map(\.primary.epoch).max()
        // With the same epoch, the answer of most of them.
        let newest = Dictionary(grouping: reports.map(\.primary).filter { $0.epoch == epoch }) { $0 }
        guard let primary = newest.max(by: { $0.value.count < $1.value.count })?.key else {
            let isUnknown = failures.contains(unknownName(url))
            throw isUnknown ? unknownName(url) : EngineFailure(failures.compactMap(\.self))
        }
        return SentinelReports(reports, primary: primary, sentinels: url.sentinels.count, asked: asked)
    }

    private static func unknownName(_ url: EngineURL) -> EngineFailure {
        EngineFailure("no sentinel has a primary '\(url.primary ?? "")': use the name of their 'sentinel monitor'")
    }

    private static func ask(_ url: EngineURL, _ tls: NIOSSLContext?) async -> Result<SentinelReport, EngineFailure> {
        let connection = EngineConnection(to: url)
        defer { connection.close(EngineFailure("the sentinel has answered")) }
        do {
            try await connection.logIn(tls)
            let name = url.primary ?? ""
            // During a failover, only this has the new address at once.
            let place = try await connection.reply(to: ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name])
            guard let parts = place.elements else { return .failure(unknownName(url)) }
            let epoch = try await connection.reply(to: ["SENTINEL", "MASTER", name]).fields["config-epoch"]?.number
            let replicas = try await connection.reply(to: ["SENTINEL", "REPLICAS", name]).elements
            guard parts.count == 2, let host = parts[0].text, (1...255).contains(host.utf8.count),
                let port = parts[1].number,
                (1...65_535).contains(port), let epoch, let replicas
            else { return .failure(EngineFailure("\(url.address) answers SENTINEL with something else than a server")) }
            let primary = KnownPrimary(address: ServerAddress(host: host, port: Int(port)), epoch: epoch)
            return .success(SentinelReport(primary: primary, replicas: replicas.compactMap(KnownReplica.init)))
        } catch {
            return .failure(EngineFailure(error, of: url))
        }
    }
}

/// Subscribes to the failovers and to new replicas at a sentinel, again and again.
@BridgeLoop
final class SentinelWatch {
    private static let pause = TimeAmount.seconds(2)
    private static let check = TimeAmount.seconds(5)

    private let url: EngineURL
    private let log: EngineLog
    private let isConnected: () -> Bool
    private let onNews: () -> Void
    private var connection: EngineConnection?
    private var isLossLogged = false
    private var isOver = false

    /// - Parameters:
    ///   - url: leads to the sentinel.
    ///   - log: gets a line if the sentinel is lost or found again.
    ///   - isConnected: whether the engine is connected. If it is not, the reasons of the sentinels are logged elsewhere.
    ///   - onNews: is called if the primary may be another one, or has a new replica.
    init(
        _ url: EngineURL,
        _ log: EngineLog,
        isConnected: @escaping () -> Bool,
        onNews: @escaping () -> Void
    ) {
        self.url = url
        self.log = log
        self.isConnected = isConnected
        self.onNews = onNews
    }

    /// Subscribes.
    func start() {
        guard !isOver else { return }
        let connection = EngineConnection(to: url)
        self.connection = connection
        connection.onMessage = { self.receive($0) }
        connection.onEnd = { self.lose($0) }
        Task {
            do {
                try await connection.logIn(TLS.context(url))
                for channel in ["+switch-master", "+slave"] {
                    _ = try await connection.reply(to: ["SUBSCRIBE", channel])
                }
                begin()
            } catch {
                connection.close(EngineFailure(error, of: url))
            }
        }
    }

    /// Ends the subscription for good.
    func stop() {
        isOver = true
        connection?.close(EngineFailure("the URL has changed"))
    }

    private func begin() {
        if isLossLogged { log.write(.info, "the sentinel \(url.address) answers again") }
        isLossLogged = false
        // A failover may have been announced before the subscription.
        onNews()
        ping()
    }

    private func ping() {
        guard let connection, connection.end == nil else { return }
        connection.send(["PING"]) { _ in }
        BridgeLoop.run(after: Self.check) { if connection === self.connection { self.ping() } }
    }

    private func receive(_ message: RESPValue) {
        // A new replica is followed by its primary.
        let words = message.elements?.last?.text?.split(separator: " ") ?? []
        if [words.first, words.dropFirst(5).first].contains(Substring(url.primary ?? "")) { onNews() }
    }

    private func lose(_ failure: EngineFailure) {
        connection = nil
        guard !isOver else { return }
        if !isLossLogged, isConnected() {
            isLossLogged = true
            log.write(.warning, "a sentinel is lost: \(failure)")
        }
        BridgeLoop.run(after: Self.pause) { self.start() }
    }
}
