import Foundation

/// A private directory that goes with its last holder. Its path is short enough for the sockets in it.
public final class TemporaryDirectory: Sendable {
    public let path: String

    /// - Parameter inMemory: whether nothing of it shall wait for a disk, where there is such a place; it has little room.
    /// - Throws: where it cannot be made.
    public init(inMemory: Bool = false) throws {
        let place = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
        var template = Array("\(place)/countdownd-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemFailure("mkdtemp") }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of what is, or will be, under that name in the directory.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes a file, or replaces it.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let path = path(of: name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }
}
