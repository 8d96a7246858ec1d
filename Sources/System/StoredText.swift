import CLinux
import Glibc

/// A short text that a program keeps in a file.
public enum StoredText {
    /// The most bytes that are read.
    private static let limit = 1 << 20
    /// The end of the name of a file that is being written.
    public static let newSuffix = ".new"

    /// Reads a file, its first MiB at most; nil if it does not exist.
    public static func read(_ path: String) throws(SystemFailure) -> String? {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        return String(decoding: try bytes(of: path, limit: limit), as: UTF8.self)
    }

    /// Reads a file, or a little more than its first bytes if it has more than the limit.
    public static func bytes(of path: String, limit: Int = .max) throws(SystemFailure) -> [UInt8] {
        let file = try open(path, O_RDONLY)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < limit {
            let count = try restarting("read") { unsafe Glibc.read(file.number, &buffer, buffer.count) }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// Replaces the content of a file, by way of a second file with `.new` at the end of its name. If the machine stops
    /// meanwhile, the file has either the old or the new content.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - text: the new content.
    ///   - isLocked: whether the second file is locked with flock(2) before it replaces the first.
    /// - Returns: the new file.
    /// - Throws: why it could not be written.
    @discardableResult
    public static func replace(
        _ path: String,
        with text: String,
        isLocked: Bool = false
    ) throws(SystemFailure) -> Descriptor {
        let (new, bytes) = (path + newSuffix, Array(text.utf8))
        let file = try open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW)
        guard !isLocked || flock(file.number, LOCK_EX | LOCK_NB) == 0 else { throw SystemFailure("flock") }
        let count = unsafe Glibc.write(file.number, bytes, bytes.count)
        guard count == bytes.count else { throw SystemFailure("write", code: count < 0 ? errno : ENOSPC) }
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
        guard unsafe rename(new, path) == 0 else { throw SystemFailure("rename") }
        return file
    }

    /// Waits until a file, or the names in a directory, are on the disk.
    public static func synchronize(_ path: String) throws(SystemFailure) {
        let file = try open(path, O_RDONLY)
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
    }

    /// Whether a file is in memory, and gone after a restart of the machine; nil if it cannot be seen.
    public static func isInMemory(_ path: String) -> Bool? {
        let answer = unsafe linux_is_in_memory(path)
        return answer < 0 ? nil : answer == 1
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemFailure) -> Descriptor {
        try Descriptor(owning: unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600), of: "open")
    }
}
