import Glibc

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
