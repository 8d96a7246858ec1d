import FleetWire
import NIOCore
import Varlink

/// A client's connection: its session of Varlink, and the call that it follows with.
@BridgeLoop
final class DaemonConnection {
    static let service = ServiceDescription(
        vendor: "countdownd",
        product: "countdownd-redis",
        version: BridgeVersion.current,
        // No web page fits every build.
        url: "",
        interfaces: [BackendInterface.description]
    )

    /// The bytes that a client may leave unread before it gets no changes, and those at which it gets more.
    private static let unread = (greatest: 1 << 20, least: 256 << 10)

    private let bridge: Bridge
    private var session = ServerSession(service: DaemonConnection.service, messageLimit: BackendInterface.messageLimit)
    private var channel: (any Channel)?
    private var follower: Follower?
    /// The bytes that the socket has not taken yet.
    private var unsent = 0
    /// Whether calls wait until the client has read replies.
    private var isThrottled = false
    private var isClosing = false

    init(of bridge: Bridge) { self.bridge = bridge }

    /// Takes an event of its channel.
    func receive(_ event: ChannelEvent) {
        switch event {
        case .active(let channel):
            self.channel = channel
            channel.read()
        case .bytes(let bytes):
            bytes.withUnsafeReadableBytes { session.receive($0.bindMemory(to: UInt8.self).span) }
            answerCalls()
        case .readComplete: readMore()
        case .handshakeComplete: break
        case .failed: channel?.close(promise: nil)
        case .inactive:
            channel = nil
            if let follower { bridge.followers.remove(follower) }
            follower = nil
        }
    }

    /// Reads on, unless the calls that wait fill the memory for them, or the client does not read.
    private func readMore() {
        guard !isThrottled, session.pendingInput <= BackendInterface.messageLimit, !isClosing else { return }
        channel?.read()
    }

    // MARK: Calls

    private func answerCalls() {
        while channel != nil, !isClosing, !throttle(), let step = session.next() {
            switch step {
            case .call(let call): answer(call)
            case .answered: break
            case .violation: isClosing = true
            }
            send()
        }
        send()
    }

    /// - Returns: whether calls wait, because the client has left `unread.greatest` bytes unread and not read them since.
    private func throttle() -> Bool {
        if unsent >= Self.unread.greatest { isThrottled = true }
        return isThrottled
    }

    /// The socket has taken bytes.
    private func release() {
        guard unsent <= Self.unread.least else { return }
        follower?.resume()
        guard isThrottled else { return }
        isThrottled = false
        answerCalls()
        readMore()
    }

    private func answer(_ call: Call) {
        do throws(InvalidParameter) {
            switch call.name {
            case Propose.name: try propose()
            case Follow.name: try follow(call)
            default: try describe()
            }
        } catch {
            session.fail(error)
        }
    }

    private func describe() throws(InvalidParameter) {
        let _: Describe = try session.parameters()
        switch bridge.description {
        case .success(let description): session.reply(description)
        case .failure(let error): session.fail(error)
        }
    }

    private func propose() throws(InvalidParameter) {
        let request: Propose = try session.parameters()
        try check(shard: request.shard)
        var isWithinCall = true
        bridge.proposer.propose(request.proposals) { answers in
            guard self.channel != nil else { return }
            self.session.reply(Propose.Reply(answers: answers, clock: self.bridge.time.offset))
            if !isWithinCall {
                self.answerCalls()
                self.readMore()
            }
            self.bridge.followers.noteAnswers(answers, to: request.proposals)
        }
        isWithinCall = false
    }

    private func follow(_ call: Call) throws(InvalidParameter) {
        guard call.more else { return session.fail(ServiceError.expectedMore) }
        let request: Follow = try session.parameters()
        try check(shard: request.shard)
        let follower = Follower(
            of: bridge.engine,
            bridge.time,
            request,
            isWritable: { self.unsent < Self.unread.greatest },
            deliver: { reply in
                guard self.channel != nil else { return }
                self.session.reply(reply, continues: true)
                self.send()
            }
        )
        self.follower = follower
        bridge.followers.add(follower)
    }

    private func check(shard: Int64) throws(InvalidParameter) {
        guard (0..<bridge.engine.settings.shards).contains(shard) else { throw InvalidParameter("shard") }
    }

    // MARK: Output

    private func send() {
        guard let channel else { return }
        guard session.unsent > 0 else {
            if isClosing { channel.close(promise: nil) }
            return
        }
        var bytes = channel.allocator.buffer(capacity: session.unsent)
        session.withUnsent { span in
            span.withUnsafeBytes { _ = bytes.writeBytes($0) }
            return span.count
        }
        let count = bytes.readableBytes
        unsent += count
        let isLast = isClosing
        channel.writeAndFlush(bytes).assumeIsolated().whenComplete { result in
            self.unsent -= count
            if isLast { self.channel?.close(promise: nil) }
            if case .success = result { self.release() }
        }
    }
}
