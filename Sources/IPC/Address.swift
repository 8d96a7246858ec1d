public import Glibc

/// Where the daemon's socket is: one rule for the server and its clients, so that they meet.
public struct Address: Sendable, Hashable {
    /// The path of the Unix socket.
    public let path: String
    /// Who said so.
    public let origin: Origin

    /// Who said where the socket is.
    public enum Origin: Sendable, Hashable {
        /// A command-line option.
        case option
        /// `$COUNTDOWND_SOCKET`.
        case variable
        /// Nobody: it is in `countdownd/` of the session's runtime directory, which is named.
        case runtimeDirectory(String)
    }

    /// The variable by which clients are told of a socket elsewhere.
    public static let variable = "COUNTDOWND_SOCKET"

    /// The longest path in bytes: `sun_path` of unix(7) without the NUL that ends it.
    public static let pathLimit = 107

    /// Where to listen: the option, else `countdownd/io.countdownd` in the runtime directory.
    ///
    /// - Parameters:
    ///   - option: the value of `--socket`, where it was given.
    ///   - environment: the value of a variable; an empty one counts as not set.
    ///   - uid: the user that the daemon serves.
    ///   - status: what stat(2) says of a path.
    /// - Returns: the address, whether or not a socket is there.
    /// - Throws: what is wrong with the option or with the directory.
    public static func forServer(
        option: String?,
        environment: (String) -> String? = Environment.value,
        uid: UInt32 = geteuid(),
        status: (String) throws(Errno) -> FileStatus = FileStatus.read
    ) throws(AddressError) -> Address {
        guard let option else { return try inRuntimeDirectory(environment, uid, status) }
        guard !option.isEmpty else { throw .emptyOption }
        return try Address(path: option, origin: .option)
    }

    /// Where to connect: `$COUNTDOWND_SOCKET`, else the place where a server listens that was told nothing.
    ///
    /// - Parameters:
    ///   - environment: the value of a variable; an empty one counts as not set.
    ///   - uid: the user whose daemon is meant.
    ///   - status: what stat(2) says of a path.
    /// - Returns: the address, whether or not a socket is there.
    /// - Throws: what is wrong with the variable's path or with the directory.
    public static func forClient(
        environment: (String) -> String? = Environment.value,
        uid: UInt32 = geteuid(),
        status: (String) throws(Errno) -> FileStatus = FileStatus.read
    ) throws(AddressError) -> Address {
        if let named = environment(variable), !named.isEmpty {
            return try Address(path: named, origin: .variable)
        }
        return try inRuntimeDirectory(environment, uid, status)
    }

    private init(path: String, origin: Origin) throws(AddressError) {
        guard path.utf8.count <= Address.pathLimit else {
            throw .pathTooLong(path: path, bytes: path.utf8.count, limit: Address.pathLimit)
        }
        self.path = path
        self.origin = origin
    }

    private static func inRuntimeDirectory(
        _ environment: (String) -> String?,
        _ uid: UInt32,
        _ status: (String) throws(Errno) -> FileStatus
    ) throws(AddressError) -> Address {
        let directory = RuntimeDirectory(environment: environment, uid: uid)
        if let fault = directory.fault(for: uid, status: status) {
            throw .directory(directory.path, origin: directory.origin, uid: uid, fault: fault)
        }
        return try Address(
            path: "\(directory.path)/countdownd/io.countdownd",
            origin: .runtimeDirectory(directory.path)
        )
    }
}

extension Address {
    /// Who said where the runtime directory is.
    public enum DirectoryOrigin: Sendable, Hashable {
        /// `$XDG_RUNTIME_DIR`.
        case environment
        /// Nobody; it is where systemd-logind makes one for a user with a session: `/run/user/UID`.
        case user
    }

    /// What is wrong with a runtime directory.
    public enum DirectoryFault: Error, Hashable {
        /// There is none; with `DirectoryOrigin.user`: the user has no session and does not linger.
        case missing
        /// What stands there is something else.
        case notADirectory
        /// Another user owns it.
        case foreignOwner(uid: UInt32)
        /// Its group or everybody can write there.
        case writableByOthers(mode: UInt32)
        /// It could not be looked at.
        case unreadable(errno: Int32)
    }
}

/// Why there is no place for the socket.
public enum AddressError: Error, Hashable {
    /// `--socket` was given without a path.
    case emptyOption
    /// A Unix socket cannot have a path of so many bytes.
    case pathTooLong(path: String, bytes: Int, limit: Int)
    /// The runtime directory of user `uid` cannot hold the socket.
    case directory(String, origin: Address.DirectoryOrigin, uid: UInt32, fault: Address.DirectoryFault)
}

/// The directory of a user's session that holds the socket where nobody names another place.
struct RuntimeDirectory {
    let path: String
    let origin: Address.DirectoryOrigin

    /// `$XDG_RUNTIME_DIR`, or `/run/user/UID` where it is not set. A relative one is passed over, as the XDG Base
    /// Directory Specification demands.
    init(environment: (String) -> String?, uid: UInt32) {
        if let named = environment("XDG_RUNTIME_DIR"), named.utf8.first == UInt8(ascii: "/") {
            path = named
            origin = .environment
        } else {
            path = "/run/user/\(uid)"
            origin = .user
        }
    }

    /// What keeps the socket out of it: whoever else can write there can put a socket of his own in place of ours.
    func fault(for uid: UInt32, status: (String) throws(Errno) -> FileStatus) -> Address.DirectoryFault? {
        let found: FileStatus
        do {
            found = try status(path)
        } catch {
            return error.code == ENOENT ? .missing : .unreadable(errno: error.code)
        }
        guard found.isDirectory else { return .notADirectory }
        // Root can write everywhere, so a directory of root's that somebody names is no worse than one's own.
        guard found.owner == uid || origin == .environment && found.owner == 0 else {
            return .foreignOwner(uid: found.owner)
        }
        return found.mode & 0o022 == 0 ? nil : .writableByOthers(mode: found.mode)
    }
}

/// What of a file decides whether it may hold the socket.
public struct FileStatus: Sendable, Hashable {
    /// Whether other files can be in it.
    public var isDirectory: Bool
    /// The uid that owns it.
    public var owner: UInt32
    /// The permission bits.
    public var mode: UInt32

    public init(isDirectory: Bool, owner: UInt32, mode: UInt32) {
        self.isDirectory = isDirectory
        self.owner = owner
        self.mode = mode
    }

    /// That of the file at `path`, links followed.
    ///
    /// - Throws: the errno of stat(2).
    public static func read(_ path: String) throws(Errno) -> FileStatus {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw Errno(code: errno) }
        return FileStatus(
            isDirectory: status.st_mode & S_IFMT == S_IFDIR,
            owner: status.st_uid,
            mode: status.st_mode & 0o7777
        )
    }
}

/// Why a system call failed.
public struct Errno: Error, Hashable {
    /// The number, as errno(3) lists it.
    public let code: Int32

    public init(code: Int32) {
        self.code = code
    }
}

/// The variables that the process was started with.
public enum Environment {
    /// The value of a variable, or nil where it is not set. An empty one counts as not set, as the XDG Base Directory
    /// Specification has it.
    public static func value(of variable: String) -> String? {
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}
