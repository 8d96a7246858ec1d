import NIOCore
import NIOPosix
import NIOTLS

/// The event loop of the program as an actor, so that the compiler checks that everything of the bridge stays on its thread.
@globalActor
actor BridgeLoop {
    static let shared = BridgeLoop()

    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    nonisolated let loop: any EventLoop

    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }

    private init() { loop = group.next() }

    /// Runs a body at the end of this iteration of the loop.
    @BridgeLoop
    static func runSoon(_ body: @escaping () -> Void) { shared.loop.assumeIsolated().execute(body) }

    /// Runs a body after a time.
    @BridgeLoop
    static func run(after time: TimeAmount, _ body: @escaping () -> Void) {
        shared.loop.assumeIsolated().scheduleTask(in: time, body)
    }

    /// Runs a body on the loop and waits for it. It must not be called on the loop.
    static func wait<Value: Sendable>(
        for body: @escaping @BridgeLoop @Sendable () async throws -> Value
    ) throws -> Value {
        try shared.loop.makeFutureWithTask(body).wait()
    }
}

/// The events of a channel, in the form in which ``BridgeLoop`` takes them.
enum ChannelEvent {
    case active(any Channel)
    case bytes(ByteBuffer)
    case readComplete
    case handshakeComplete
    case failed(any Error)
    case inactive
}

/// Hands the events of a channel to a closure. SwiftNIO calls it on the loop, which the compiler does not see.
final class ChannelEvents: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let receive: (ChannelEvent) -> Void

    init(_ receive: @escaping (ChannelEvent) -> Void) { self.receive = receive }

    func channelActive(context: ChannelHandlerContext) { receive(.active(context.channel)) }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { receive(.bytes(unwrapInboundIn(data))) }
    func channelReadComplete(context: ChannelHandlerContext) { receive(.readComplete) }
    func channelInactive(context: ChannelHandlerContext) { receive(.inactive) }
    func errorCaught(context: ChannelHandlerContext, error: any Error) { receive(.failed(error)) }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { receive(.handshakeComplete) }
    }
}
