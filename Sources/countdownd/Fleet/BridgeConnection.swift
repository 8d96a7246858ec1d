import FleetWire
import Glibc
import System
import Varlink

/// A connection to the bridge, which never blocks.
final class BridgeConnection {
    /// The token under which the poller reports it.
    let token: UInt64
    /// More bytes than a page of a snapshot usually has, so that the next page is there when one was taken in.
    private static let readAhead = 512 * 1_024
    private let socket: StreamSocket
    private var session = ClientSession(messageLimit: BackendInterface.messageLimit)
    private var isReading = true
    private var isWriting = false
    /// Why it is of no use any more, in words; nil if it is.
    private(set) var failure: String?

    /// Connects.
    init(to path: String, token: UInt64, _ poller: inout Poller) throws(SystemFailure) {
        socket = try StreamSocket(connectingTo: path, blocking: false)
        self.token = token
        try poller.add(socket.descriptor, token: token)
    }

    /// Calls a method, and sends as much of the call as the socket takes.
    func call<M: Method>(_ method: M, more: Bool = false) {
        session.call(M.fullName, more: more, method)
        send()
    }

    /// The next reply that was received; nil if there is none.
    func next() -> Reply? {
        guard failure == nil else { return nil }
        do throws(ProtocolViolation) {
            return try session.next()
        } catch {
            fail("the bridge broke the protocol: \(error)")
            return nil
        }
    }

    /// Whether it has received 512 KiB that were not read. More bytes wait in the socket until then.
    var isFull: Bool { session.pendingInput >= Self.readAhead }

    /// Sends and receives, as far as the socket is ready.
    func exchange(_ readiness: Readiness, into buffer: inout [UInt8]) {
        if readiness.isWritable { send() }
        if readiness.isReadable || readiness.isHungUp { receive(into: &buffer) }
    }

    /// Receives the bytes that have arrived.
    func receive(into buffer: inout [UInt8]) {
        attempt { () throws(SystemFailure) in
            let count = try socket.receive(into: &buffer)
            if count == 0 { fail("the bridge has closed the connection") }
            session.receive(buffer.span.extracting(0..<count))
        }
    }

    private func send() {
        attempt { () throws(SystemFailure) in
            while session.unsent > 0 {
                try session.withUnsent { bytes throws(SystemFailure) in try socket.send(bytes) }
            }
        }
    }

    private func attempt(_ body: () throws(SystemFailure) -> Void) {
        do throws(SystemFailure) {
            try body()
        } catch {
            if error.code != EAGAIN { fail("\(error)") }
        }
    }

    /// Gives the connection up. It is closed when it is released.
    func fail(_ reason: String) {
        if failure == nil { failure = reason }
    }

    /// Registers the events of the connection with the poller.
    ///
    /// - Parameters:
    ///   - reading: whether more replies are wanted.
    ///   - poller: has the connection.
    func update(reading: Bool, _ poller: inout Poller) {
        let writing = session.unsent > 0
        guard failure == nil, (reading, writing) != (isReading, isWriting) else { return }
        do throws(SystemFailure) {
            try poller.set(socket.descriptor, token: token, reading: reading, writing: writing)
            (isReading, isWriting) = (reading, writing)
        } catch {
            fail("\(error)")
        }
    }
}
