import CLinux
import Glibc

/// A file descriptor with one owner, which closes it.
public struct Descriptor: ~Copyable, Sendable {
    /// The number to use in system calls.
    public let number: Int32

    /// Takes over a descriptor that a call has just returned.
    ///
    /// - Parameters:
    ///   - number: what the call returned; -1 if it failed and set errno.
    ///   - call: the name of the call.
    /// - Throws: the failure of the call.
    public init(owning number: Int32, of call: StaticString) throws(SystemFailure) {
        guard number >= 0 else { throw SystemFailure(call) }
        self.number = number
    }

    deinit {
        close(number)
    }
}

extension Descriptor {
    /// Binds a Unix stream socket, and listens. Accepting never blocks.
    ///
    /// - Parameters:
    ///   - path: where its file is made. There must be no file.
    ///   - mode: who can connect, less the umask. The file has it from the moment it is made.
    /// - Returns: the socket.
    /// - Throws: the failure of a call.
    public static func listening(on path: String, mode: UInt32) throws(SystemFailure) -> Descriptor {
        let socket = try Descriptor(owning: linux_unix_socket(), of: "socket")
        guard fchmod(socket.number, mode) == 0 else { throw SystemFailure("fchmod") }
        guard unsafe linux_unix_bind(socket.number, path) == 0 else { throw SystemFailure("bind") }
        guard Glibc.listen(socket.number, SOMAXCONN) == 0 else { throw SystemFailure("listen") }
        return socket
    }
}
