import Glibc
import NIOCore
import NIOPosix
public import System

/// The program: a bridge, and the socket on which it listens.
public final class BridgeServer {
    private let bridge: Bridge
    private let options: BridgeOptions
    private let log: Log
    /// The socket, and SwiftNIO's channel for a copy of its descriptor: SwiftNIO would remove the file of a socket that it has bound
    /// itself, also if the file is another program's by then.
    private var listener: Listener
    private var channel: any Channel

    /// Becomes readable when `listenAgainIfLost` is to be called; nil if the system has no inotify to give.
    public var watchDescriptor: Int32? { listener.watchDescriptor }
    /// When to call `listenAgainIfLost` without a report; nil if the system reports the loss of the file.
    public private(set) var nextLook: MonotonicDeadline?

    /// Reads the URL, listens, and begins to connect to the engine.
    ///
    /// - Throws: a sentence about the URL or the socket.
    public init(_ options: BridgeOptions, log: Log) throws {
        self.options = options
        self.log = log
        let url = try options.readURL()
        let bridge = try BridgeLoop.wait { Bridge(url: url, log: log) }
        self.bridge = bridge
        listener = try Listener(at: options.socket, access: Listener.Access(mode: 0o660))
        channel = try Self.accept(from: listener, bridge)
        warn()
        watchSocketFile()
        Task { @BridgeLoop in
            bridge.engine.start()
            Watchdog.start()
        }
    }

    private func warn() { if let warning = options.urlWarning { log.write(.warning, warning) } }

    /// Listens again if the socket's file was removed or renamed, because no daemon could connect. Daemons that are
    /// connected stay so.
    public func listenAgainIfLost() {
        if nextLook != nil { watchSocketFile() }
        guard let path = listener.lostPath() else { return }
        do {
            guard let made = try listener.again() else { return }
            let channel = try Self.accept(from: made, bridge)
            self.channel.close(promise: nil)
            listener = made
            self.channel = channel
            watchSocketFile()
            log.write(.warning, "\(path) was removed; listening there again")
        } catch {
            nextLook = nil
            log.write(.error, "\(path) was removed: \(error); no daemon can connect until the bridge is started again")
        }
    }

    private func watchSocketFile() {
        do throws(SystemFailure) {
            try listener.watchFile()
            nextLook = nil
        } catch {
            if nextLook == nil {
                log.write(.warning, "\(error): the bridge looks once a second whether its socket was removed")
            }
            nextLook = .after(microseconds: 1_000_000)
        }
    }

    /// Removes the socket's file if it was made here. Call it when the program ends.
    public func removeFile() { listener.removeFile() }

    /// Reads the URL again, and connects with it if it has changed.
    public func reload() {
        do {
            let url = try options.readURL()
            warn()
            let bridge = bridge
            Task { @BridgeLoop in bridge.engine.replaceURL(url) }
        } catch {
            log.write(.error, "\(error)")
        }
    }

    private static func accept(from listener: borrowing Listener, _ bridge: Bridge) throws -> any Channel {
        let socket = fcntl(listener.descriptor, F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { throw SystemFailure("fcntl") }
        return try BridgeLoop.wait {
            let loop = BridgeLoop.shared.loop
            let accept = NIOLoopBound({ ChannelEvents(DaemonConnection(of: bridge).receive) }, eventLoop: loop)
            return try await ServerBootstrap(group: loop)
                .childChannelOption(.autoRead, value: false)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(accept.value())
                    }
                }
                .withBoundSocket(socket).get()
        }
    }
}
