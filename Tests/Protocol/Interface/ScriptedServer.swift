import Foundation
import Glibc
import IPC
import TestSupport
import Varlink

/// The daemon's end of a connection: a thread that answers calls by a script, with the daemon's session.
final class ScriptedServer: Sendable {
    /// The thread's action after it has answered a call.
    enum Reaction {
        /// Sends everything that the session has buffered.
        case send
        /// Sends these bytes, whatever the session holds.
        case bytes([UInt8])
        /// Sends these bytes and closes the connection.
        case hangUp(saying: [UInt8])
    }

    typealias Script = @Sendable (Call, inout ServerSession) -> Reaction

    /// The client's end, which the client closes.
    let clientDescriptor: Int32
    private let descriptor: Int32
    private let piece: Int
    private let script: Script
    private let calls = Guarded<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - piece: how many bytes it sends at once.
    ///   - script: answers a call.
    init(piece: Int = .max, _ script: @escaping Script) {
        var pair: [Int32] = [-1, -1]
        precondition(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &pair) == 0)
        clientDescriptor = pair[0]
        descriptor = pair[1]
        self.piece = piece
        self.script = script
        Thread.detachNewThread { [self] in serve() }
    }

    /// The methods that were called so far.
    var called: [String] { calls.withLock { $0 } }

    /// Waits until the client has closed its end, or the script hung up.
    func waitForEnd() { ended.wait() }

    private func serve() {
        var session = ServerSession(
            service: ServiceDescription(
                vendor: "",
                product: "",
                version: "",
                url: "",
                interfaces: [Interface.description]
            ),
            messageLimit: 1 << 20
        )
        var buffer = [UInt8](repeating: 0, count: 4096)
        receiving: while true {
            let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { break }
            session.receive(Array(buffer[..<count]))
            while case .call(let call) = session.next() {
                calls.withLock { $0.append(call.name) }
                switch script(call, &session) {
                case .send: send(session.takeUnsent())
                case .bytes(let bytes): send(bytes)
                case .hangUp(let bytes):
                    send(bytes)
                    break receiving
                }
            }
        }
        close(descriptor)
        ended.signal()
    }

    /// Sends bytes and closes the connection. Only allowed while no call is being answered.
    func hangUp(saying bytes: [UInt8]) {
        send(bytes)
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// Sends bytes, whatever the session holds.
    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let next = Array(rest.prefix(piece))
            guard unsafe Glibc.send(descriptor, next, next.count, Int32(MSG_NOSIGNAL)) == next.count else { return }
            rest = rest.dropFirst(piece)
        }
    }
}
