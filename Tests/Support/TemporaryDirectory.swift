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

    /// Makes or replaces a script for sh(1) that can be executed.
    @discardableResult
    public func write(program text: String, to name: String) throws -> String {
        let path = try write("#!/bin/sh\n\(text)\n", to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    /// Makes a directory, and its parents below this one.
    @discardableResult
    public func makeDirectory(_ name: String, mode: Int = 0o755) throws -> String {
        try FileManager.default.createDirectory(
            atPath: path(of: name),
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: mode]
        )
        return path(of: name)
    }
}

/// A suite whose tests each have a directory.
open class DirectorySuite {
    /// The directory of a test.
    public let directory: TemporaryDirectory

    /// Makes the directory.
    public init() throws { directory = try TemporaryDirectory() }
}
