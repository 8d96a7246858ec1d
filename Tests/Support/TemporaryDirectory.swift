import Foundation

/// A private directory that is removed with its last holder. Its path is short enough for sockets.
public final class TemporaryDirectory: Sendable {
    /// The path of the directory.
    public let path: String

    /// - Parameter inMemory: whether to make it on a file system in memory, if there is one, which has little room.
    /// - Throws: why it cannot be made.
    public init(inMemory: Bool = false) throws {
        let onDisk = ProcessInfo.processInfo.environment["COUNTDOWND_TEST_DIRECTORY"] ?? "/tmp"
        let place = inMemory && access("/dev/shm", W_OK) == 0 ? "/dev/shm" : onDisk
        var template = Array("\(place)/countdownd-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw SystemCallFailure("mkdtemp") }
        path = template.withUnsafeBufferPointer { buffer in
            String(decoding: buffer.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a name in the directory, whether or not it exists.
    public func path(of name: String) -> String { "\(path)/\(name)" }

    /// Makes or replaces a file.
    @discardableResult
    public func write(_ text: String, to name: String) throws -> String {
        let path = path(of: name)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }
}
