import Glibc

/// Calls the body with a path as a Unix socket's address.
func withSocketAddress<Result>(
    of path: String,
    _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
) throws -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
        guard path.utf8.count < room.count else { return false }
        room.copyBytes(from: path.utf8)
        return true
    }
    guard fits else { throw SystemCallFailure("the socket path \(path)", code: ENAMETOOLONG) }
    return try withUnsafePointer(to: address) { pointer in
        try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
            try body(pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}

/// A Unix socket that no child process inherits.
func makeSocket(_ type: __socket_type) throws -> Int32 {
    // Linux defines SOCK_CLOEXEC as O_CLOEXEC. CLinux and Glibc both have that enumerator, and the compiler takes it from the
    // module that it reads first.
    let descriptor = socket(AF_UNIX, Int32(type.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { throw SystemCallFailure("socket") }
    return descriptor
}
