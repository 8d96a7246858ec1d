import Glibc

/// A short text that a program keeps in a file.
public enum StoredText {
    /// The most bytes that are read.
    private static let limit = 1 << 20

    /// Reads a file, its first MiB at most.
    ///
    /// - Returns: nil if the file does not exist.
    public static func read(_ path: String) throws(SystemFailure) -> String? {
        guard unsafe access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        let file = try open(path, O_RDONLY)
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while text.count < limit {
            let count = unsafe Glibc.read(file.number, &buffer, buffer.count)
            guard count >= 0 else { throw SystemFailure("read") }
            guard count > 0 else { break }
            text += buffer[..<count]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Replaces the content of a file, by way of a second file with `.new` at the end of its name. If the machine stops
    /// meanwhile, the file has either the old or the new content.
    public static func replace(_ path: String, with text: String) throws(SystemFailure) {
        let new = "\(path).new"
        let file = try open(new, O_WRONLY | O_CREAT | O_TRUNC)
        let bytes = Array(text.utf8)
        guard unsafe Glibc.write(file.number, bytes, bytes.count) == bytes.count else { throw SystemFailure("write") }
        guard fsync(file.number) == 0 else { throw SystemFailure("fsync") }
        guard unsafe rename(new, path) == 0 else { throw SystemFailure("rename") }
    }

    /// Waits until the names in a directory are on the disk.
    public static func synchronize(_ directory: String) throws(SystemFailure) {
        let folder = try open(directory, O_RDONLY | O_DIRECTORY)
        guard fsync(folder.number) == 0 else { throw SystemFailure("fsync") }
    }

    private static func open(_ path: String, _ flags: Int32) throws(SystemFailure) -> Descriptor {
        try Descriptor(owning: unsafe Glibc.open(path, flags | O_CLOEXEC, 0o600), of: "open")
    }
}
