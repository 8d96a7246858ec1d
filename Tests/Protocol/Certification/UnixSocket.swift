import Glibc

/// A blocking stream socket that closes itself.
struct UnixSocket: ~Copyable {
    /// A system call failed.
    struct Failure: Error {
        let call: String
        let code = errno
    }

    let descriptor: Int32

    private init(descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// A socket that is connected to a service.
    static func connected(to path: String) throws -> UnixSocket {
        let socket = try UnixSocket()
        try unsafe withAddress(of: path) { address, length in
            guard unsafe connect(socket.descriptor, address, length) == 0 else { throw Failure(call: "connect") }
        }
        return socket
    }

    /// A listening socket at a path where no file exists.
    static func listening(at path: String) throws -> UnixSocket {
        let socket = try UnixSocket()
        try unsafe withAddress(of: path) { address, length in
            guard unsafe bind(socket.descriptor, address, length) == 0 else { throw Failure(call: "bind") }
        }
        guard listen(socket.descriptor, 16) == 0 else { throw Failure(call: "listen") }
        return socket
    }

    private init() throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(call: "socket") }
    }

    /// Waits for the next client.
    func accept() throws -> UnixSocket {
        let accepted = Glibc.accept(descriptor, nil, nil)
        guard accepted >= 0 else { throw Failure(call: "accept") }
        return UnixSocket(descriptor: accepted)
    }

    /// Waits for bytes; none if the other end has closed the connection.
    func receive() throws -> [UInt8] {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            unsafe count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
        }
        return bytes
    }

    /// Sends some of the bytes, and returns how many.
    func send(_ bytes: Span<UInt8>) throws -> Int {
        guard !bytes.isEmpty else { return 0 }
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { throw Failure(call: "send") }
        return sent
    }
}

/// Calls the body with the address of a path.
@unsafe
private func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = unsafe withUnsafeMutableBytes(of: &address.sun_path) { room in
        guard path.utf8.count < room.count else { return false }
        unsafe room.copyBytes(from: path.utf8)
        return true
    }
    guard fits else { throw UnixSocket.Failure(call: "socket address") }
    try unsafe withUnsafeBytes(of: &address) { bytes in
        try unsafe bytes.withMemoryRebound(to: sockaddr.self) { pointer in
            guard let base = pointer.baseAddress else { return }
            try unsafe body(base, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
