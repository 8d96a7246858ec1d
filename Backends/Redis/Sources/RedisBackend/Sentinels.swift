import NIOCore
import NIOSSL
import RESP

/// The primary, as sentinels know it.
struct KnownPrimary: Hashable, Sendable {
    var address: ServerAddress
    /// Grows with each failover. Of two sentinels, the one with the lower epoch has not heard of the last failover.
    var epoch: Int64
}

/// Asks all sentinels for the primary at once, and takes the address with the greatest epoch, so that a sentinel that is gone
/// or that has missed a failover does no harm. It is confined to the loop.
final class PrimaryLookup: @unchecked Sendable {
    /// How long the other sentinels may take after the first answer.
    private static let patience = TimeAmount.milliseconds(300)

    private let url: BackendURL
    private let result: EventLoopPromise<KnownPrimary>
    private var primaries: [KnownPrimary] = []
    /// The reasons of the sentinels that have not named the primary, in the order of the URL.
    private var failures: [EngineFailure?]
    private var missing: Int
    private var isOver = false

    private init(_ url: BackendURL, _ result: EventLoopPromise<KnownPrimary>) {
        self.url = url
        self.result = result
        failures = Array(repeating: nil, count: url.sentinels.count)
        missing = url.sentinels.count
    }

    /// Asks the sentinels of a URL.
    ///
    /// - Throws: `EngineFailure` if none of them knows the primary.
    static func primary(of url: BackendURL, on loop: any EventLoop) async throws -> KnownPrimary {
        let tls = try TLS.context(url)
        let result = loop.makePromise(of: KnownPrimary.self)
        let lookup = PrimaryLookup(url, result)
        for (index, sentinel) in url.sentinels.enumerated() {
            Task {
                let answer = await ask(url.sentinel(at: sentinel), tls, on: loop)
                loop.execute { lookup.receive(answer, from: index, on: loop) }
            }
        }
        return try await result.futureResult.get()
    }

    private func receive(_ answer: Result<KnownPrimary, EngineFailure>, from index: Int, on loop: any EventLoop) {
        missing -= 1
        switch answer {
        case .failure(let failure): failures[index] = failure
        case .success(let primary):
            primaries.append(primary)
            if primaries.count == 1 { loop.scheduleTask(in: Self.patience) { self.finish() } }
        }
        if missing == 0 { finish() }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        guard let epoch = primaries.map(\.epoch).max() else {
            let reasons = failures.compactMap { $0?.description }
            let isUnknown = failures.contains { $0?.description == Self.unknownName(url).description }
            return result.fail(isUnknown ? Self.unknownName(url) : EngineFailure(reasons.joined(separator: "; ")))
        }
        // With the same epoch, what most of them say.
        let newest = Dictionary(grouping: primaries.filter { $0.epoch == epoch }) { $0 }
        guard let primary = newest.max(by: { $0.value.count < $1.value.count })?.key else { return }
        result.succeed(primary)
    }

    private static func unknownName(_ url: BackendURL) -> EngineFailure {
        EngineFailure("no sentinel has a primary '\(url.primary ?? "")': use the name of their 'sentinel monitor'")
    }

    private static func ask(
        _ url: BackendURL,
        _ tls: NIOSSLContext?,
        on loop: any EventLoop
    ) async -> Result<KnownPrimary, EngineFailure> {
        let connection = EngineConnection(to: url, on: loop)
        defer { loop.execute { connection.close(EngineFailure("the sentinel has answered")) } }
        do {
            try await connection.logIn(tls)
            let name = url.primary ?? ""
            // During a failover, only this has the new address at once.
            let place = try await connection.reply(to: ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name])
            guard let parts = place.elements else { return .failure(unknownName(url)) }
            let description = try await connection.reply(to: ["SENTINEL", "MASTER", name]).elements ?? []
            let epoch = stride(from: 0, to: description.count - 1, by: 2)
                .first { description[$0].text == "config-epoch" }.flatMap { description[$0 + 1].number }
            guard parts.count == 2, let host = parts[0].text, (1...255).contains(host.utf8.count),
                let port = parts[1].number,
                (1...65_535).contains(port), let epoch
            else { return .failure(EngineFailure("\(url.address) answers SENTINEL with something else than a server")) }
            return .success(KnownPrimary(address: ServerAddress(host: host, port: Int(port)), epoch: epoch))
        } catch {
            return .failure(EngineFailure(error, of: url))
        }
    }
}

/// Subscribes to the failovers at a sentinel, again and again. It is confined to the loop.
final class SentinelWatch: @unchecked Sendable {
    private static let pause = TimeAmount.seconds(2)
    private static let check = TimeAmount.seconds(5)

    private let url: BackendURL
    private let log: LimitedLog
    private let isConnected: () -> Bool
    private let onNews: () -> Void
    private var connection: EngineConnection?
    private var isLossLogged = false
    private var isOver = false

    /// - Parameters:
    ///   - url: leads to the sentinel.
    ///   - log: gets a line if the sentinel is lost or found again.
    ///   - isConnected: whether the engine is connected. If it is not, the reasons of the sentinels are logged elsewhere.
    ///   - onNews: is called if the primary may be another one.
    init(
        _ url: BackendURL,
        _ log: LimitedLog,
        isConnected: @escaping () -> Bool,
        onNews: @escaping () -> Void
    ) {
        self.url = url
        self.log = log
        self.isConnected = isConnected
        self.onNews = onNews
    }

    /// Subscribes.
    func start(on loop: any EventLoop) {
        guard !isOver else { return }
        let connection = EngineConnection(to: url, on: loop)
        self.connection = connection
        connection.onMessage = { self.receive($0) }
        connection.onEnd = { self.lose($0, on: loop) }
        Task {
            do {
                try await connection.logIn(TLS.context(url))
                _ = try await connection.reply(to: ["SUBSCRIBE", "+switch-master"])
                loop.execute { self.begin(on: loop) }
            } catch {
                let failure = EngineFailure(error, of: self.url)
                loop.execute { connection.close(failure) }
            }
        }
    }

    /// Ends the subscription for good.
    func stop() {
        isOver = true
        connection?.close(EngineFailure("the URL has changed"))
    }

    private func begin(on loop: any EventLoop) {
        if isLossLogged { log.write(.info, "the sentinel \(url.address) answers again") }
        isLossLogged = false
        // A failover may have been announced before the subscription.
        onNews()
        ping(on: loop)
    }

    private func ping(on loop: any EventLoop) {
        guard let connection, connection.end == nil else { return }
        connection.send(["PING"]) { _ in }
        loop.scheduleTask(in: Self.check) { if connection === self.connection { self.ping(on: loop) } }
    }

    private func receive(_ message: RESPValue) {
        guard let words = message.elements?.last?.text?.split(separator: " "), let name = words.first else { return }
        if name == url.primary ?? "" { onNews() }
    }

    private func lose(_ failure: EngineFailure, on loop: any EventLoop) {
        connection = nil
        guard !isOver else { return }
        if !isLossLogged, isConnected() {
            isLossLogged = true
            log.write(.warning, "a sentinel is lost: \(failure)")
        }
        loop.scheduleTask(in: Self.pause) { self.start(on: loop) }
    }
}
