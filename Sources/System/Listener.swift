import CLinux
import Glibc

/// A Unix socket that listens, passed by systemd or made here. If its file is removed or replaced, it can listen again.
public struct Listener: ~Copyable {
    /// Who can connect to a socket that is made here.
    public struct Access: Equatable, Sendable {
        /// The mode of its file.
        public var mode: UInt32
        /// The group of its file; nil for the one that the system gives it.
        public var group: UInt32?

        /// A mode and a group; by default only the user and root can connect.
        public init(mode: UInt32 = 0o600, group: UInt32? = nil) { (self.mode, self.group) = (mode, group) }

        /// The mode of a directory that lets the same users reach the socket.
        var directoryMode: UInt32 { 0o700 | (mode & 0o020 != 0 ? 0o010 : 0) | (mode & 0o002 != 0 ? 0o001 : 0) }
    }

    /// Why a socket cannot listen.
    public enum Failure: Error, CustomStringConvertible {
        /// A call failed for the file or directory at the path.
        case system(SystemFailure, path: String)
        /// Another process answers there.
        case inUse(path: String)
        /// The file there is not a socket, so it is not removed.
        case notASocket(path: String)
        /// Another user could put a socket there.
        case unsafe(UnsafeDirectory)
        /// The socket cannot be given to the group.
        case group(UInt32, SystemFailure, path: String)

        /// Names the path and what to do.
        public var description: String {
            switch self {
            case .system(let failure, let path): "cannot listen on \(path): \(failure)"
            case .inUse(let path): "another process answers on \(path); end it first, or choose another path"
            case .notASocket(let path): "\(path) is not a socket; remove it, or choose another path"
            case .group(let group, let failure, let path):
                "cannot give \(path) to the group \(group): \(failure); the user must be a member of the group"
            case .unsafe(let directory):
                "\(directory.path) \(directory.fault), so that another user could take the socket's place: "
                    + "correct that, or choose another path"
            }
        }
    }

    private let socket: Descriptor
    /// A socket that was made here: its path, who can connect, and the identity of its file, so that the file of another
    /// program is never removed.
    private let own: (path: String, access: Access, file: FileIdentity)?
    /// Reports when something happens to the file of a socket that was made here; nil before `watchFile`.
    private var watch: FileWatch?

    /// For system calls.
    public var descriptor: Int32 { socket.number }

    /// Becomes readable when something happens to the socket's file; nil if the socket is systemd's, and before `watchFile`.
    public var watchDescriptor: Int32? {
        switch watch {
        case .some(let watch): watch.descriptor
        case .none: nil
        }
    }

    /// Takes over a socket that systemd listens on.
    public init(activated descriptor: Int32) throws(SystemFailure) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        socket = try Descriptor(owning: descriptor, of: "sd_listen_fds")
        own = nil
    }

    /// Listens on a path, in a directory that is made if it is missing. A socket that no process listens on any more is
    /// replaced.
    public init(at path: String, access: Access = Access()) throws(Failure) {
        try Self.prepareDirectory(of: path, access)
        try Self.removeStaleSocket(at: path)
        socket = try Self.listen(on: path, access)
        own = FileIdentity(of: path).map { (path, access, $0) }
    }

    /// Watches the file of a socket that was made here, so that its loss is noticed at once.
    ///
    /// - Throws: that the system has no inotify to give; then call `lostPath` from time to time.
    public mutating func watchFile() throws(SystemFailure) {
        guard let own else { return }
        let watch = try FileWatch()
        do throws(SystemFailure) {
            try watch.add(file: own.path)
        } catch {
            // A file that is gone is lost already.
            guard error.code == ENOENT else { throw error }
        }
        self.watch = consume watch
    }

    /// The path of a socket that was made here if its file is gone, so that no client can connect.
    ///
    /// Call it after `watchFile`, and when `watchDescriptor` is readable.
    public func lostPath() -> String? {
        while watch?.takeReports() == true {}
        guard let own, FileIdentity(of: own.path) != own.file else { return nil }
        return own.path
    }

    /// A socket at the same path for the same users, after the file of this one was lost; nil if this one is systemd's.
    public func again() throws(Failure) -> Listener? {
        guard let own else { return nil }
        return try Listener(at: own.path, access: own.access)
    }

    /// Accepts a waiting connection; nil if none waits.
    public func accept() throws(SystemFailure) -> Int32? {
        let connection = linux_accept(socket.number)
        if connection >= 0 { return connection }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw SystemFailure("accept4")
        }
    }

    /// Removes the socket's file if it was made here.
    public func removeFile() {
        guard let own, FileIdentity(of: own.path) == own.file else { return }
        unsafe unlink(own.path)
    }

    deinit {
        removeFile()
    }

    /// Makes the last directory of the path, for the users who can connect, if it does not exist.
    private static func prepareDirectory(of path: String, _ access: Access) throws(Failure) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard !directory.isEmpty else { return try check("/") }
        if unsafe mkdir(directory, 0o700) == 0 {
            do throws(SystemFailure) {
                try set(access, of: directory, mode: access.directoryMode)
            } catch {
                unsafe rmdir(directory)
                throw failure(error, of: directory, access)
            }
        } else if errno != EEXIST {
            throw .system(SystemFailure("mkdir"), path: directory)
        }
        try check(directory)
    }

    private static func check(_ directory: String) throws(Failure) {
        do throws(UnsafeDirectory) {
            try UnsafeDirectory.check(wayTo: directory)
        } catch {
            throw .unsafe(error)
        }
    }

    /// Binds a socket, and listens. Until its file has the mode and the group, no program can connect.
    private static func listen(on path: String, _ access: Access) throws(Failure) -> Descriptor {
        do throws(SystemFailure) {
            let socket = try Descriptor(owning: linux_unix_socket(), of: "socket")
            guard fchmod(socket.number, 0o600) == 0 else { throw SystemFailure("fchmod") }
            guard unsafe linux_unix_bind(socket.number, path) == 0 else { throw SystemFailure("bind") }
            do throws(SystemFailure) {
                try set(access, of: path, mode: access.mode)
                guard Glibc.listen(socket.number, SOMAXCONN) == 0 else { throw SystemFailure("listen") }
            } catch {
                unsafe unlink(path)
                throw error
            }
            return socket
        } catch {
            throw failure(error, of: path, access)
        }
    }

    private static func set(_ access: Access, of path: String, mode: UInt32) throws(SystemFailure) {
        if let group = access.group, unsafe lchown(path, .max, group) != 0 { throw SystemFailure("chown") }
        guard unsafe chmod(path, mode) == 0 else { throw SystemFailure("chmod") }
    }

    private static func failure(_ failure: SystemFailure, of path: String, _ access: Access) -> Failure {
        if let group = access.group, failure.call == "chown" { return .group(group, failure, path: path) }
        return .system(failure, path: path)
    }

    private static func removeStaleSocket(at path: String) throws(Failure) {
        guard let status = FileIdentity.status(of: path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        do throws(SystemFailure) {
            _ = try StreamSocket(connectingTo: path, blocking: false)
        } catch {
            if error.code == ECONNREFUSED {
                unsafe unlink(path)
                return
            }
        }
        throw .inUse(path: path)
    }
}
