import Glibc
import NIOCore
import NIOPosix
import NIOSSL
import RESP

extension RESPCommand {
    /// The name that permissions have for the command: its first word, with the second one if that is a subcommand.
    var name: String { words.prefix(["SCRIPT", "SENTINEL"].contains(words.first) ? 2 : 1).joined(separator: "|") }
}

/// One connection to the engine: commands go in, their replies come out in the same order, and so do the messages of the
/// channels that it subscribes to.
@BridgeLoop
final class EngineConnection {
    typealias Completion = (Result<RESPValue, EngineFailure>) -> Void

    private struct Pending {
        let sent: NIODeadline
        let completion: Completion
    }

    let url: EngineURL
    /// Gets the messages of channels.
    var onMessage: (RESPValue) -> Void = { _ in }
    /// Is called once, when the connection ends.
    var onEnd: (EngineFailure) -> Void = { _ in }

    private var channel: (any Channel)?
    private var reader = RESPReader()
    private var outgoing: [UInt8] = []
    private var isFlushScheduled = false
    private var pending = CircularBuffer<Pending>()
    private var isTimerScheduled = false
    private var hasReplied = false
    /// When the last message of a channel came: a connection that still brings messages is not lost.
    private var lastMessage = NIODeadline.uptimeNanoseconds(0)
    private var isEncrypted = false
    /// Why the connection has ended; nil while it has not.
    private(set) var end: EngineFailure?

    init(to url: EngineURL) { self.url = url }

    /// Connects, begins TLS if there is a context, and logs in if the URL has a password. The handshake continues while the first
    /// commands wait.
    func logIn(_ tls: NIOSSLContext?) async throws {
        guard let server = url.server else { throw EngineFailure("the address of \(url.address) is not known") }
        let isName = (try? SocketAddress(ipAddress: server.host, port: 0)) == nil
        let name = isName ? server.host : nil
        let loop = BridgeLoop.shared.loop
        let events = NIOLoopBound(ChannelEvents { self.receive($0) }, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .connectTimeout(EngineFailure.answerTime)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.socketOption(.so_keepalive), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: name)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(events.value)
                }
            }
        do {
            _ = try await bootstrap.connect(host: server.host, port: server.port).get()
        } catch {
            throw EngineFailure(error, of: url)
        }
        if let command = url.login.command { _ = try await reply(to: command) }
    }

    // MARK: Commands

    /// Sends a command together with the other commands of the same iteration of the loop. The completion is called on the loop.
    func send(_ command: RESPCommand, _ completion: @escaping Completion) {
        if let end { return completion(.failure(end)) }
        command.append(to: &outgoing)
        pending.append(Pending(sent: .now(), completion: completion))
        scheduleTimer(in: EngineFailure.answerTime)
        guard !isFlushScheduled else { return }
        isFlushScheduled = true
        BridgeLoop.runSoon { self.flush() }
    }

    /// Finds out whether the connection still works, unless an answer is awaited anyway.
    func check() { if pending.isEmpty { send(["PING"]) { _ in } } }

    /// Sends a command and returns its reply.
    ///
    /// - Throws: why the connection broke, or the engine's error.
    func reply(to command: RESPCommand) async throws -> RESPValue {
        let reply = try await replies(to: [command])[0]
        if case .error(let words) = reply { throw EngineFailure(reply: words, to: command.name, of: url) }
        return reply
    }

    /// Sends commands together and returns their replies, the engine's errors among them.
    ///
    /// - Throws: why the connection broke.
    func replies(to commands: [RESPCommand]) async throws -> [RESPValue] {
        let loop = BridgeLoop.shared.loop
        let replies = commands.map { command in
            let promise = loop.makePromise(of: RESPValue.self)
            send(command) { promise.completeWith($0.mapError { $0 as any Error }) }
            return promise.futureResult
        }
        return try await EventLoopFuture<RESPValue>.whenAllSucceed(replies, on: loop).get()
    }

    /// Sends the queued commands now. They are sent at the end of the iteration of the loop otherwise.
    func flush() {
        isFlushScheduled = false
        guard let channel, !outgoing.isEmpty else { return }
        let bytes = channel.allocator.buffer(bytes: outgoing)
        outgoing = []
        channel.writeAndFlush(bytes, promise: nil)
    }

    /// Ends the connection; the replies that are missing fail with the sentence.
    func close(_ failure: EngineFailure) {
        guard end == nil else { return }
        end = failure
        channel?.close(promise: nil)
        let unanswered = pending
        pending.removeAll()
        for pending in unanswered { pending.completion(.failure(failure)) }
        onEnd(failure)
    }

    private func scheduleTimer(in time: TimeAmount) {
        guard !isTimerScheduled else { return }
        isTimerScheduled = true
        BridgeLoop.run(after: time) {
            self.isTimerScheduled = false
            self.checkAnswerTime()
        }
    }

    private func checkAnswerTime() {
        guard let oldest = pending.first else { return }
        let rest = max(oldest.sent, lastMessage) + EngineFailure.answerTime - .now()
        guard rest <= .zero else { return scheduleTimer(in: rest) }
        guard url.usesTLS, !isEncrypted else { return close(EngineFailure("no answer from \(url.address) within 2 s")) }
        let sentence = "no TLS handshake with \(url.address) within 2 s"
        close(EngineFailure(sentence, hint: ": if it does not speak TLS, use redis:"))
    }

    // MARK: The channel

    private func receive(_ event: ChannelEvent) {
        switch event {
        case .active(let channel):
            guard end == nil else { return channel.close(promise: nil) }
            self.channel = channel
            flush()
        case .bytes(let bytes): receive(bytes)
        case .readComplete: break
        case .handshakeComplete: isEncrypted = true
        // A peer that closes without close_notify has sent everything that it will send.
        case .failed(NIOSSLError.uncleanShutdown): break
        case .failed(let error as IOError) where !hasReplied && error.errnoCode == ECONNRESET: closeUnasked()
        case .failed(let error): close(EngineFailure(error, of: url))
        case .inactive: closeUnasked()
        }
    }

    private func receive(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { reader.receive($0.bindMemory(to: UInt8.self).span) }
        do {
            while end == nil, let value = try reader.next() { receive(value) }
        } catch {
            close(EngineFailure(error, of: url))
        }
    }

    private func receive(_ value: RESPValue) {
        hasReplied = true
        if case .array(let elements) = value, let kind = elements.first?.text {
            switch kind {
            case "smessage", "message":
                lastMessage = .now()
                return onMessage(value)
            case "sunsubscribe": return close(EngineFailure("\(url.address) has ended the subscription"))
            default: break
            }
        }
        guard let pending = pending.popFirst() else {
            // Before it closes a connection that it does not accept, the engine sends the reason.
            if case .error(let words) = value {
                return close(EngineFailure(reply: words, to: "the connection", of: url))
            }
            return close(EngineFailure("\(url.address) sent a reply that belongs to no command"))
        }
        pending.completion(.success(value))
    }

    /// Ends after the engine has closed the connection.
    private func closeUnasked() {
        let place = url.usesTLS && !isEncrypted ? " before the TLS handshake ended" : ""
        let hint = url.usesTLS || hasReplied ? "" : ": if it speaks TLS, use rediss:"
        close(EngineFailure("\(url.address) has closed the connection\(place)", hint: hint))
    }
}
