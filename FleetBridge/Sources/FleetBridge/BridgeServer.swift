import FleetWire
import Glibc
import NIOCore
import NIOPosix
public import System
import Varlink

/// A client's connection: its session of Varlink, and the call that it follows with. It is confined to its event loop.
final class DaemonConnection: ChannelInboundHandler, @unchecked Sendable {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

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

    func channelActive(context: ChannelHandlerContext) {
        channel = context.channel
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        bytes.withUnsafeReadableBytes { session.receive($0.bindMemory(to: UInt8.self).span) }
        answerCalls()
    }

    func channelReadComplete(context: ChannelHandlerContext) { readMore() }

    func channelInactive(context: ChannelHandlerContext) {
        channel = nil
        if let follower { bridge.remove(follower) }
        follower = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

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
            self.session.reply(Propose.Reply(answers: answers, clock: self.bridge.clockOffset))
            if !isWithinCall {
                self.answerCalls()
                self.readMore()
            }
            self.bridge.noteAnswers(answers, to: request.proposals)
        }
        isWithinCall = false
    }

    private func follow(_ call: Call) throws(InvalidParameter) {
        guard call.more else { return session.fail(ServiceError.expectedMore) }
        let request: Follow = try session.parameters()
        try check(shard: request.shard)
        let follower = Follower(
            of: bridge,
            request,
            isWritable: { self.unsent < Self.unread.greatest },
            deliver: { reply in
                guard self.channel != nil else { return }
                self.session.reply(reply, continues: true)
                self.send()
            }
        )
        self.follower = follower
        bridge.add(follower)
    }

    private func check(shard: Int64) throws(InvalidParameter) {
        guard (0..<bridge.settings.shards).contains(shard) else { throw InvalidParameter("shard") }
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
        channel.writeAndFlush(bytes).whenComplete { result in
            self.unsent -= count
            if isLast { self.channel?.close(promise: nil) }
            if case .success = result { self.release() }
        }
    }
}

/// The program: a bridge, and the socket on which it listens.
public final class BridgeServer {
    private let group: MultiThreadedEventLoopGroup
    private let bridge: Bridge
    private let readURL: @Sendable () throws -> EngineURL
    private let log: Log
    /// The socket, and SwiftNIO's channel for a copy of its descriptor: SwiftNIO would remove the file of a socket that it has bound
    /// itself, also if the file is another program's by then.
    private var listener: Listener
    private var channel: any Channel

    /// Becomes readable when `listenAgainIfLost` is to be called; nil if nothing can be noticed.
    public var watchDescriptor: Int32? { listener.watchDescriptor }

    /// Reads the URL, listens, and begins to connect to the engine.
    ///
    /// - Throws: a sentence about the URL or the socket.
    public init(_ options: Options, log: Log) throws {
        readURL = { try options.readURL() }
        self.log = log
        let url = try readURL()
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let bridge = Bridge(url: url, log: log, on: loop)
        self.bridge = bridge
        listener = try Listener(at: options.socket, access: Listener.Access(mode: 0o660))
        channel = try Self.accept(from: listener, bridge)
        loop.execute { bridge.start() }
    }

    /// Listens again if the socket's file was removed or renamed, because no daemon could connect. Daemons that are
    /// connected stay so.
    public func listenAgainIfLost() {
        guard let path = listener.lostPath() else { return }
        do {
            guard let made = try listener.again() else { return }
            let channel = try Self.accept(from: made, bridge)
            self.channel.close(promise: nil)
            listener = made
            self.channel = channel
            log.write(.warning, "\(path) was removed; listening there again")
        } catch {
            log.write(.error, "\(path) was removed: \(error); no daemon can connect until the bridge is started again")
        }
    }

    /// Removes the socket's file if it was made here. Call it when the program ends.
    public func removeFile() { listener.removeFile() }

    /// Reads the URL again, and connects with it if it has changed.
    public func reload() {
        do {
            let url = try readURL()
            let bridge = bridge
            bridge.loop.execute { bridge.replaceURL(url) }
        } catch {
            log.write(.error, "\(error)")
        }
    }

    /// Moves the engine's clock as this bridge sees it, by microseconds, for tests.
    public func setClockShift(_ shift: Int64) {
        let bridge = bridge
        bridge.loop.execute { bridge.setClockShift(shift) }
    }

    private static func accept(from listener: borrowing Listener, _ bridge: Bridge) throws -> any Channel {
        let socket = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { throw SystemFailure("fcntl") }
        return try ServerBootstrap(group: bridge.loop)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(DaemonConnection(of: bridge))
                }
            }
            .withBoundSocket(socket).wait()
    }
}
