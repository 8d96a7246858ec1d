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
    ) throws(Failure) -> Address {
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
    ) throws(Failure) -> Address {
        if let named = environment(variable), !named.isEmpty {
            return try Address(path: named, origin: .variable)
        }
        return try inRuntimeDirectory(environment, uid, status)
    }

    private init(path: String, origin: Origin) throws(Failure) {
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
    ) throws(Failure) -> Address {
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
