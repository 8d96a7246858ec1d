import FleetWire
import Glibc
import System
import TestSupport
import Varlink

/// A client's connection to a fake bridge. It never blocks.
final class FakeConnection {
    /// A decoded call.
    enum Request {
        case propose(Propose)
        case follow(Follow)
        case describe
    }

    /// Bytes, and when they may leave.
    private struct Chunk {
        var bytes: [UInt8]
        let release: MonotonicDeadline
    }

    private static let service = ServiceDescription(
        vendor: "countdownd",
        product: "a fake backend",
        version: "0",
        url: "",
        interfaces: [BackendInterface.description]
    )

    private static let unsentLimit = 1 << 20

    /// The bridge to which the client is connected.
    let bridge: Int
    private let socket: StreamSocket
    private var session = ServerSession(service: service, messageLimit: BackendInterface.messageLimit)
    private var chunks: [Chunk] = []
    private(set) var isClosed = false
    var follower: FakeFollower?

    /// The next connection; nil if no client waits.
    init?(acceptedBy listener: ListeningSocket, of bridge: Int) {
        self.bridge = bridge
        _ = fcntl(listener.descriptor, F_SETFL, O_NONBLOCK)
        let descriptor = accept(listener.descriptor, nil, nil)
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        socket = StreamSocket(adopting: descriptor)
    }

    /// Adds the events of the connection.
    func add(to awaited: inout Awaited) {
        let isBlocked = chunks.first?.release.hasPassed ?? false
        awaited.descriptors.append((socket.descriptor, Int16(isBlocked ? POLLIN | POLLOUT : POLLIN)))
        if !isBlocked, let first = chunks.first { awaited.add(first.release) }
    }

    /// Ends the connection at once.
    func shutDown() {
        shutdown(socket.descriptor, Int32(SHUT_RDWR))
        isClosed = true
    }

    // MARK: Calls

    /// Reads everything that has come.
    func receive() {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while !isClosed {
            do throws(SystemFailure) {
                let count = try socket.receive(into: &buffer)
                guard count > 0 else {
                    isClosed = true
                    return
                }
                session.receive(buffer.span.extracting(0..<count))
            } catch {
                if error.code != EAGAIN { isClosed = true }
                return
            }
        }
    }

    /// The next call that is valid; nil if more bytes are needed, or if a call has no reply yet.
    func nextCall() -> Request? {
        while !isClosed, let step = session.next() {
            switch step {
            case .call(let call):
                do throws(InvalidParameter) {
                    if let request = try decode(call) { return request }
                } catch {
                    session.fail(error)
                }
            case .answered: break
            case .violation: isClosed = true
            }
            moveOutput()
        }
        return nil
    }

    private func decode(_ call: Call) throws(InvalidParameter) -> Request? {
        switch call.name {
        case Propose.name:
            let propose: Propose = try session.parameters()
            guard propose.shard == 0 else { throw InvalidParameter("shard") }
            return .propose(propose)
        case Follow.name:
            guard call.more else {
                session.fail(ServiceError.expectedMore)
                return nil
            }
            let follow: Follow = try session.parameters()
            guard follow.shard == 0 else { throw InvalidParameter("shard") }
            return .follow(follow)
        default:
            let _: Describe = try session.parameters()
            return .describe
        }
    }

    // MARK: Replies

    /// Whether the client has to read before it gets more changes.
    var isFull: Bool { !isClosed && chunks.reduce(0) { $0 + $1.bytes.count } >= Self.unsentLimit }

    /// Answers the call in progress, with a delay in microseconds.
    func reply(_ parameters: some JSONEncodable, after delay: Int64 = 0) {
        guard !isClosed else { return }
        session.reply(parameters)
        moveOutput(after: delay)
    }

    /// Answers the call in progress with bytes.
    func reply(raw: String) {
        guard !isClosed else { return }
        session.reply()
        session.dropUnsent()
        append(Array(raw.utf8), after: 0)
    }

    /// Sends the follower a reply.
    func deliver(_ reply: Follow.Reply, _ faults: FakeBackend.Faults) {
        guard !isClosed else { return }
        if let raw = faults.rawUpdate { return append(Array(raw.utf8), after: faults.updateDelay) }
        session.reply(faults.update?(reply) ?? reply, continues: true)
        moveOutput(after: faults.updateDelay)
    }

    /// Moves the session's output into the chunks.
    private func moveOutput(after delay: Int64 = 0) {
        var bytes: [UInt8] = []
        session.withUnsent { span in
            unsafe span.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
            return span.count
        }
        append(bytes, after: delay)
    }

    private func append(_ bytes: [UInt8], after delay: Int64) {
        guard !bytes.isEmpty else { return }
        chunks.append(Chunk(bytes: bytes, release: delay == 0 ? .passed : .after(microseconds: delay)))
    }

    /// Sends the output that may leave, as much as the socket takes.
    func send() {
        while !isClosed, let first = chunks.first, first.release.hasPassed {
            do throws(SystemFailure) {
                let count = try socket.send(first.bytes.span)
                if count < first.bytes.count {
                    chunks[0].bytes.removeFirst(count)
                } else {
                    chunks.removeFirst()
                }
            } catch {
                if error.code != EAGAIN { isClosed = true }
                return
            }
        }
    }
}
