import Glibc

/// The environment variables of the process.
public enum Environment {
    /// The value of a variable; nil if it is not set or empty. The XDG Base Directory Specification treats both alike.
    public static func value(of variable: String) -> String? {
        guard let value = unsafe getenv(variable), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }
}

/// The owner and the permissions of a file.
public struct FileStatus: Sendable, Hashable {
    /// Whether the file is a directory.
    public var isDirectory: Bool
    /// The user ID of the owner.
    public var owner: UInt32
    /// The permission bits, such as 0o700.
    public var mode: UInt32

    /// A status, for tests and fakes.
    public init(isDirectory: Bool, owner: UInt32, mode: UInt32) {
        self.isDirectory = isDirectory
        self.owner = owner
        self.mode = mode
    }

    /// Reads the status of the file at a path; symbolic links are followed.
    public static func read(_ path: String) throws(SystemFailure) -> FileStatus {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { throw SystemFailure("stat") }
        return FileStatus(
            isDirectory: status.st_mode & S_IFMT == S_IFDIR,
            owner: status.st_uid,
            mode: status.st_mode & 0o7777
        )
    }
}
