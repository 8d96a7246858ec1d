import Glibc
public import System
import Text

/// The path of the daemon's socket. The daemon and its clients find it by the same rule.
package struct Address: Sendable, Hashable {
    /// The path of the Unix socket.
    package let path: String

    /// The environment variable that names another socket for clients.
    package static let variable = "COUNTDOWND_SOCKET"

    /// The longest path of a Unix socket, in bytes.
    package static let pathLimit = SocketAddress.pathLimit

    /// The inputs of the rule.
    package struct Surroundings {
        /// The value of an environment variable; nil if it is not set or empty.
        var environment: (String) -> String? = Environment.value
        /// The user of the daemon.
        var uid: UInt32 = geteuid()
        /// The status of a path, see stat(2).
        var status: (String) throws(SystemFailure) -> FileStatus = FileStatus.read
    }

    /// The daemon's address: the path of the option, else `countdownd/io.countdownd` in the runtime directory.
    ///
    /// - Parameters:
    ///   - option: the value of `--socket`; nil if it was not given.
    ///   - surroundings: the environment and the files.
    /// - Returns: the address, whether or not the socket exists.
    /// - Throws: why the socket cannot be at the option's path or in the runtime directory.
    package static func forServer(
        option: String?,
        in surroundings: Surroundings = Surroundings()
    ) throws(AddressError) -> Address {
        guard let option else { return try inRuntimeDirectory(surroundings) }
        return try Address(path: option)
    }

    /// A client's address: `$COUNTDOWND_SOCKET`, else the address of a daemon without `--socket`.
    ///
    /// - Parameter surroundings: the environment and the files.
    /// - Returns: the address, whether or not the socket exists.
    /// - Throws: why the socket cannot be at the variable's path or in the runtime directory.
    package static func forClient(in surroundings: Surroundings = Surroundings()) throws(AddressError) -> Address {
        if let named = surroundings.environment(variable), !named.isEmpty {
            return try Address(path: named)
        }
        return try inRuntimeDirectory(surroundings)
    }

    /// The address with a path, or as varlinkctl writes it: `unix:PATH`, perhaps with parameters.
    private init(path text: String) throws(AddressError) {
        let isURI = text.hasPrefix("unix:")
        let path = isURI ? String(text.dropFirst(5).prefix { $0 != ";" }) : text
        guard !path.isEmpty else { throw .emptyPath }
        guard path.utf8.count <= Address.pathLimit else {
            throw .pathTooLong(path: path, bytes: path.utf8.count, limit: Address.pathLimit)
        }
        self.path = path
    }

    private static func inRuntimeDirectory(_ surroundings: Surroundings) throws(AddressError) -> Address {
        try Address(path: "\(runtimeDirectory(in: surroundings))/countdownd/io.countdownd")
    }

    /// The directory of the user's session: `$XDG_RUNTIME_DIR`, else `/run/user/UID`.
    ///
    /// - Throws: why it cannot be used.
    package static func runtimeDirectory(in surroundings: Surroundings = Surroundings()) throws(AddressError) -> String
    {
        let directory = RuntimeDirectory(surroundings)
        if let fault = directory.fault(surroundings) {
            throw .directory(directory.path, origin: directory.origin, uid: surroundings.uid, fault: fault)
        }
        return directory.path
    }
}

/// Why there is no place for the daemon's socket.
public enum AddressError: Error, Hashable {
    /// The path of the option or of the variable is empty.
    case emptyPath
    /// The path is longer than a Unix socket's can be; both numbers are bytes.
    case pathTooLong(path: String, bytes: Int, limit: Int)
    /// The runtime directory of user `uid` cannot hold the socket.
    case directory(String, origin: DirectoryOrigin, uid: UInt32, fault: DirectoryFault)

    /// The source of the runtime directory's path.
    public enum DirectoryOrigin: Sendable, Hashable {
        /// `$XDG_RUNTIME_DIR`.
        case environment
        /// Nothing did: it is `/run/user/UID`, which systemd-logind makes for a user with a session.
        case user
    }

    /// Why a runtime directory cannot be used.
    public typealias DirectoryFault = System.DirectoryFault
}

extension AddressError: CustomStringConvertible {
    /// The fault and its remedy, if there is one, in one sentence.
    public var description: String {
        switch self {
        case .emptyPath: "the path of the socket is empty"
        case .pathTooLong(let path, let bytes, let limit):
            "\(PrintableText.escape(path)) has \(bytes) bytes, and the path of a socket has at most \(limit)"
        case .directory(_, .user, let uid, .missing): "no session of UID \(uid): `loginctl enable-linger`"
        case .directory(let path, .user, _, let fault): "\(path) \(fault); correct it"
        case .directory(let path, .environment, _, let fault):
            "XDG_RUNTIME_DIR is \(PrintableText.escape(path)), which \(fault); correct it"
        }
    }
}

/// The directory of a user's session. It holds the socket if nothing names another place.
private struct RuntimeDirectory {
    let path: String
    let origin: AddressError.DirectoryOrigin

    /// `$XDG_RUNTIME_DIR`, or `/run/user/UID` if it is not set or relative. The XDG Base Directory Specification says that
    /// relative paths are ignored.
    init(_ surroundings: Address.Surroundings) {
        if let named = surroundings.environment("XDG_RUNTIME_DIR"), named.utf8.first == UInt8(ascii: "/") {
            path = named
            origin = .environment
        } else {
            path = "/run/user/\(surroundings.uid)"
            origin = .user
        }
    }

    /// Why the directory cannot hold the socket: in a directory that other users can write, they could replace our
    /// socket.
    func fault(_ surroundings: Address.Surroundings) -> AddressError.DirectoryFault? {
        let found: FileStatus
        do {
            found = try surroundings.status(path)
        } catch {
            return error.code == ENOENT ? .missing : .unreadable(errno: error.code)
        }
        // Root can write everywhere, so a directory of root that the variable names is as safe as one of the user.
        if origin == .user, found.isDirectory, found.owner != surroundings.uid {
            return .foreignOwner(uid: found.owner)
        }
        return DirectoryFault(found, for: surroundings.uid)
    }
}
