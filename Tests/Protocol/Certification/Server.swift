import Glibc
import Varlink

/// Serves certifications, one connection at a time.
struct Server: ~Copyable {
    private struct Connection: ~Copyable {
        let socket: UnixSocket
        var session = ServerSession(service: CertificationInterface.service, messageLimit: 1 << 20)

        init(_ socket: consuming UnixSocket) { self.socket = socket }

        /// Answers the client's calls; false if the connection is closed.
        mutating func serve(_ service: inout CertificationService) throws -> Bool {
            let bytes = try socket.receive()
            session.receive(bytes)
            var isOver = bytes.isEmpty
            while let step = session.next() {
                switch step {
                case .call(let call): service.answer(call, in: &session)
                case .answered: break
                case .violation: isOver = true
                }
            }
            while session.unsent > 0 { try session.withUnsent { try socket.send($0) } }
            return !isOver
        }
    }

    private let listener: UnixSocket
    private var service = CertificationService()

    /// A server that listens at a path.
    init(at path: String) throws { listener = try UnixSocket.listening(at: path) }

    /// Serves clients until the process is ended.
    mutating func run() throws {
        while true {
            var connection = Connection(try listener.accept())
            while (try? connection.serve(&service)) == true {}
        }
    }
}
