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
    /// Binds a Unix stream socket, and listens. Accepting never blocks. Until its file has the mode and the group, no program
    /// can connect.
    ///
    /// - Parameters:
    ///   - path: where its file is made. There must be no file.
    ///   - mode: the mode of the file, whatever the umask.
    ///   - group: the group of the file; nil for the one that the system gives it.
    /// - Returns: the socket.
    /// - Throws: the failure of a call. Then the file is removed.
    public static func listening(
        on path: String,
        mode: UInt32,
        group: UInt32? = nil
    ) throws(SystemFailure) -> Descriptor {
        let socket = try Descriptor(owning: linux_unix_socket(), of: "socket")
        guard fchmod(socket.number, 0o600) == 0 else { throw SystemFailure("fchmod") }
        guard unsafe linux_unix_bind(socket.number, path) == 0 else { throw SystemFailure("bind") }
        do throws(SystemFailure) {
            try setAccess(to: path, mode: mode, group: group)
            guard Glibc.listen(socket.number, SOMAXCONN) == 0 else { throw SystemFailure("listen") }
        } catch {
            unsafe unlink(path)
            throw error
        }
        return socket
    }

    /// Sets the mode of a file, and its group unless it is nil.
    ///
    /// - Throws: the failure of a call.
    public static func setAccess(to path: String, mode: UInt32, group: UInt32?) throws(SystemFailure) {
        if let group, unsafe lchown(path, .max, group) != 0 { throw SystemFailure("chown") }
        guard unsafe chmod(path, mode) == 0 else { throw SystemFailure("chmod") }
    }
}
