import Glibc

/// The address of a Unix socket as system calls take it.
struct SocketAddress: Sendable {
    private let address: sockaddr_un

    /// Nil for a path that is empty, longer than `Address.pathLimit` or holds a NUL: unix(7) would take the first and the
    /// last for names of another kind, which are in no directory.
    init?(path: String) {
        guard (1...Address.pathLimit).contains(path.utf8.count), !path.utf8.contains(0) else { return nil }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        self.address = address
    }

    /// Hands the address to a system call; the pointer is good inside the body alone.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
