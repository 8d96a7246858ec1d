public import Glibc

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
        guard let status = FileIdentity.status(of: path, followingLinks: true) else { throw SystemFailure("stat") }
        return FileStatus(status)
    }

    /// Reads the status of the file at a path, of a link and not of its target.
    static func read(entry path: String) throws(SystemFailure) -> FileStatus {
        guard let status = FileIdentity.status(of: path) else { throw SystemFailure("lstat") }
        return FileStatus(status)
    }

    /// The names in a directory, in no order.
    public static func names(in directory: String) throws(SystemFailure) -> [String] {
        guard let folder = unsafe opendir(directory) else { throw SystemFailure("opendir") }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: unsafe entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// The target of a symbolic link; nil if the path is not a link.
    public static func linkTarget(_ path: String) throws(SystemFailure) -> String? {
        var target = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink(path, &target, target.count)
        if count < 0, errno == EINVAL { return nil }
        guard count >= 0 else { throw SystemFailure("readlink") }
        return String(decoding: target[..<count], as: UTF8.self)
    }

    private init(_ status: stat) {
        self.init(
            isDirectory: status.st_mode & S_IFMT == S_IFDIR,
            owner: status.st_uid,
            mode: status.st_mode & 0o7777
        )
    }
}

/// The identity of a file, by which it differs from a later file at the same path.
public struct FileIdentity: Hashable, Sendable {
    /// The number of its file system's device, `st_dev` of stat(2).
    public let device: dev_t
    /// Its number on the file system, `st_ino` of stat(2).
    public let inode: ino_t

    /// The identity of the file at a path, of a link and not of its target; nil, with errno, if it is missing.
    public init?(of path: String) {
        guard let status = Self.status(of: path) else { return nil }
        self.init(status)
    }

    /// The identity of the target of a path; nil, with errno, if it is missing.
    public init?(following path: String) {
        guard let status = Self.status(of: path, followingLinks: true) else { return nil }
        self.init(status)
    }

    /// The identity of an open file; nil, with errno, if the descriptor is not open.
    public init?(of descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) { (device, inode) = (status.st_dev, status.st_ino) }

    /// The status of the file at a path, of a link and not of its target unless links are followed; nil, with errno, if it is
    /// missing or cannot be seen.
    public static func status(of path: String, followingLinks: Bool = false) -> stat? {
        var status = stat()
        return unsafe fstatat(AT_FDCWD, path, &status, followingLinks ? 0 : AT_SYMLINK_NOFOLLOW) == 0 ? status : nil
    }
}
