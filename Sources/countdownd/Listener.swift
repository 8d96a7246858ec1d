import CLinux
import Glibc
import IPC
import System

/// The listening socket, passed by systemd or made here.
struct Listener: ~Copyable {
    /// Who can connect to a socket that is made here.
    struct Rights: Equatable {
        /// The mode of its file.
        var mode: UInt32 = 0o600
        /// The group of its file; nil for the one that the system gives it.
        var group: UInt32?

        /// The mode of a directory that lets the same users reach the socket.
        var directoryMode: UInt32 { 0o700 | (mode & 0o020 != 0 ? 0o010 : 0) | (mode & 0o002 != 0 ? 0o001 : 0) }
    }

    /// Why a socket cannot listen.
    enum ListenError: Error, CustomStringConvertible {
        case system(SystemFailure, path: String)
        /// Another daemon answers there.
        case inUse(path: String)
        /// The file there is not a socket, so it is not removed.
        case notASocket(path: String)
        /// Another user could put a socket there.
        case unsafe(UnsafeDirectory)
        /// The socket cannot be given to the group.
        case group(UInt32, SystemFailure, path: String)

        var description: String {
            switch self {
            case .system(let failure, let path): "cannot listen on \(path): \(failure)"
            case .inUse(let path): "another daemon answers on \(path); end it first, or give another --socket"
            case .notASocket(let path): "\(path) is no socket; it is left alone: remove it, or give another --socket"
            case .group(let group, let failure, let path):
                "cannot give \(path) to the group \(group): \(failure); "
                    + "--socket-group must be a group of the user who runs countdownd"
            case .unsafe(let directory):
                "\(directory.path) \(directory.fault), so that another user could take the socket's place: "
                    + "correct that, or choose another --socket"
            }
        }
    }

    private let socket: Descriptor
    /// The path of a socket that was made here, and the identity of its file, so that the file of another program is
    /// never removed.
    private let own: (path: String, file: FileIdentity)?
    /// Tells when something happens to the file of a socket of our own; nil if the system has no inotify to give.
    private let watch: FileWatch?

    var descriptor: Int32 { socket.number }

    /// Becomes readable when something happens to the socket's file; nil if the socket is systemd's.
    var watchDescriptor: Int32? {
        switch watch {
        case .some(let watch): watch.descriptor
        case .none: nil
        }
    }

    /// Takes over a socket that systemd listens on.
    init(activated descriptor: Int32) throws(SystemFailure) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        socket = try Descriptor(owning: descriptor, of: "sd_listen_fds")
        own = nil
        watch = nil
    }

    /// Listens on a path. A socket that no process listens on any more is replaced.
    init(path: String, rights: Rights = Rights()) throws(ListenError) {
        try Self.prepareDirectory(of: path, rights)
        try Self.removeStaleSocket(at: path)
        socket = try Self.listen(on: path, rights)
        watch = try? Self.watch(path)
        own = FileIdentity(of: path).map { (path, $0) }
    }

    /// The path of a socket that was made here if its file is gone, so that no client can connect.
    ///
    /// Call it when `watchDescriptor` is readable.
    func lostPath() -> String? {
        switch watch {
        case .some(let watch): while watch.takeReports() {}
        case .none: break
        }
        guard let own, FileIdentity(of: own.path) != own.file else { return nil }
        return own.path
    }

    /// Accepts a waiting connection; nil if none waits.
    func accept() throws(SystemFailure) -> Int32? {
        let connection = linux_accept(socket.number)
        if connection >= 0 { return connection }
        switch errno {
        case EAGAIN, EINTR, ECONNABORTED: return nil
        default: throw SystemFailure("accept4")
        }
    }

    /// Removes the socket's file if it was made here.
    func removeFile() {
        guard let own, FileIdentity(of: own.path) == own.file else { return }
        unsafe unlink(own.path)
    }

    deinit {
        removeFile()
    }

    private static func watch(_ path: String) throws(SystemFailure) -> FileWatch {
        let watch = try FileWatch()
        try watch.add(file: path)
        return watch
    }

    /// Makes the last directory of the path, for the users who can connect, if it does not exist.
    private static func prepareDirectory(of path: String, _ rights: Rights) throws(ListenError) {
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard !directory.isEmpty else { return try check("/") }
        if unsafe mkdir(directory, 0o700) == 0 {
            do throws(SystemFailure) {
                try Descriptor.setAccess(to: directory, mode: rights.directoryMode, group: rights.group)
            } catch {
                unsafe rmdir(directory)
                throw failure(error, of: directory, rights)
            }
        } else if errno != EEXIST {
            throw .system(SystemFailure("mkdir"), path: directory)
        }
        try check(directory)
    }

    private static func check(_ directory: String) throws(ListenError) {
        do throws(UnsafeDirectory) {
            try UnsafeDirectory.check(wayTo: directory)
        } catch {
            throw .unsafe(error)
        }
    }

    private static func listen(on path: String, _ rights: Rights) throws(ListenError) -> Descriptor {
        do throws(SystemFailure) {
            return try Descriptor.listening(on: path, mode: rights.mode, group: rights.group)
        } catch {
            throw failure(error, of: path, rights)
        }
    }

    private static func failure(_ failure: SystemFailure, of path: String, _ rights: Rights) -> ListenError {
        if let group = rights.group, failure.call == "chown" { return .group(group, failure, path: path) }
        return .system(failure, path: path)
    }

    private static func removeStaleSocket(at path: String) throws(ListenError) {
        guard let status = FileIdentity.status(of: path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
        let isAnswered: Bool
        do throws(SystemFailure) {
            let probe = try Descriptor(owning: linux_unix_socket(), of: "socket")
            isAnswered = unsafe linux_unix_connect(probe.number, path) == 0 || errno != ECONNREFUSED
        } catch {
            throw .system(error, path: path)
        }
        guard !isAnswered else { throw .inUse(path: path) }
        unsafe unlink(path)
    }
}
