import Foundation
import TestSupport

/// A proxy on loopback between bridges and an engine, with the faults of a network in each direction.
final class NetworkProxy: Sendable {
    /// Where bytes go.
    enum Direction: CaseIterable, Sendable {
        case toEngine
        case toBridge
    }

    let port: Int
    private let listener: Int32
    private let network = Network()

    /// Listens, and connects each connection to a port of 127.0.0.1.
    init(to engine: Int) throws {
        let (listener, port) = try LoopbackPort.listen()
        (self.listener, self.port) = (listener, Int(port))
        Thread.detachNewThread { [network] in
            while true {
                let bridge = accept(listener, nil, nil)
                guard bridge >= 0 else { return }
                guard let engine = try? LoopbackPort.connect(to: UInt16(engine)) else {
                    close(bridge)
                    continue
                }
                let connection = ProxiedConnection(bridge: bridge, engine: engine)
                network.add(connection)
                for direction in Direction.allCases {
                    Thread.detachNewThread { connection.forward(direction, through: network) }
                }
            }
        }
    }

    deinit {
        network.release()
        network.cut()
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// Swallows bytes and ends of connections in these directions, without an error on either side.
    func hold(_ directions: [Direction]) { network.change { $0.held = Set(directions) } }

    /// Swallows the messages of one connection; they are counted from the first one.
    func hold(connection: Int) { network.change { $0.heldConnection = connection } }

    /// Ends `hold`; the bytes that were sent meanwhile arrive.
    func release() { network.release() }

    func delay(by duration: Duration) { network.change { $0.delay = duration } }

    func cut() { network.cut() }

    /// Ends every connection after this many bytes more in a direction, wherever that is in a command or in a reply.
    func cut(after bytes: Int, _ direction: Direction) {
        network.change { $0.bytesToCut = (direction, bytes) }
    }
}

/// The faults at present, and the connections.
private final class Network: @unchecked Sendable {
    struct Faults {
        var held: Set<NetworkProxy.Direction> = []
        var heldConnection: Int?
        var delay = Duration.zero
        var bytesToCut: (direction: NetworkProxy.Direction, rest: Int)?
    }

    private let condition = NSCondition()
    private var faults = Faults()
    private var connections: [ProxiedConnection] = []

    func change(_ body: (inout Faults) -> Void) {
        condition.lock()
        defer { condition.unlock() }
        body(&faults)
        condition.broadcast()
    }

    func release() { change { ($0.held, $0.heldConnection) = ([], nil) } }

    func add(_ connection: ProxiedConnection) {
        condition.lock()
        defer { condition.unlock() }
        connections.append(connection)
    }

    private func isHeld(_ connection: ProxiedConnection, _ direction: NetworkProxy.Direction) -> Bool {
        if let place = faults.heldConnection, connections.indices.contains(place), connections[place] === connection {
            return true
        }
        return faults.held.contains(direction)
    }

    func cut() {
        condition.lock()
        defer { condition.unlock() }
        for connection in connections { connection.end() }
        connections = []
    }

    /// Waits until bytes may pass.
    ///
    /// - Returns: how many of them pass before every connection is cut; nil for all.
    func pass(_ count: Int, of connection: ProxiedConnection, _ direction: NetworkProxy.Direction) -> Int? {
        condition.lock()
        defer { condition.unlock() }
        while isHeld(connection, direction) { condition.wait() }
        if faults.delay > .zero {
            let end = Date(timeIntervalSinceNow: faults.delay / .seconds(1))
            while Date() < end { _ = condition.wait(until: end) }
        }
        guard let cut = faults.bytesToCut, cut.direction == direction else { return nil }
        guard count >= cut.rest else {
            faults.bytesToCut = (direction, cut.rest - count)
            return nil
        }
        faults.bytesToCut = nil
        return cut.rest
    }
}

/// A bridge's connection and the one to the engine that belongs to it.
private final class ProxiedConnection: Sendable {
    private let bridge: Int32
    private let engine: Int32

    init(bridge: Int32, engine: Int32) { (self.bridge, self.engine) = (bridge, engine) }

    deinit { for descriptor in [bridge, engine] { close(descriptor) } }

    func end() { for descriptor in [bridge, engine] { shutdown(descriptor, Int32(SHUT_RDWR)) } }

    func forward(_ direction: NetworkProxy.Direction, through network: Network) {
        let (source, target) = direction == .toEngine ? (bridge, engine) : (engine, bridge)
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = read(source, &buffer, buffer.count)
            let limit = network.pass(max(0, count), of: self, direction)
            guard count > 0, send(buffer[..<(limit ?? count)], to: target) else { break }
            if limit != nil { network.cut() }
        }
        shutdown(target, Int32(SHUT_WR))
    }

    /// - Returns: false if the connection is closed.
    private func send(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
