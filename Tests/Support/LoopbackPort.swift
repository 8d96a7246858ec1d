import Glibc

/// Ports of 127.0.0.1.
public enum LoopbackPort {
    /// A port that was free a moment ago. Another program may take it before the caller does.
    public static func free() throws -> UInt16 {
        let (descriptor, port) = try bound()
        close(descriptor)
        return port
    }

    /// A socket that listens on a free port.
    public static func listen() throws -> (descriptor: Int32, port: UInt16) {
        let (descriptor, port) = try bound()
        guard Glibc.listen(descriptor, 64) == 0 else { throw SystemCallFailure("listen") }
        return (descriptor, port)
    }

    /// A socket that is connected to a port.
    public static func connect(to port: UInt16) throws -> Int32 {
        let descriptor = try makeSocket()
        do {
            try withAddress(port, "connect") { Glibc.connect(descriptor, $0, $1) }
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func makeSocket() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SystemCallFailure("socket") }
        return descriptor
    }

    private static func bound() throws -> (descriptor: Int32, port: UInt16) {
        let descriptor = try makeSocket()
        let address = try withAddress(0, "bind") { address, length in
            var length = length
            return bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
        }
        return (descriptor, UInt16(bigEndian: address.sin_port))
    }

    /// Calls a function with an address of a port, and returns the address as the function has left it.
    @discardableResult
    private static func withAddress(
        _ port: UInt16,
        _ name: String,
        _ call: (UnsafeMutablePointer<sockaddr>, socklen_t) -> Int32
    ) throws -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, length) }
        }
        guard result == 0 else { throw SystemCallFailure(name) }
        return address
    }
}
