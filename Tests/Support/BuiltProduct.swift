import Foundation

/// The executables and sources of this package.
public enum BuiltProduct {
    /// The path of an executable of this package: in the folder that `COUNTDOWND_EXECUTABLES` names if it is there,
    /// else the one that was built along with the running tests.
    public static func path(of name: String) throws -> String {
        if let folder = ProcessInfo.processInfo.environment["COUNTDOWND_EXECUTABLES"] {
            let path = "\(folder)/\(name)"
            if FileManager.default.isExecutableFile(atPath: path) { return path }
        }
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let path = URL(fileURLWithPath: tests).deletingLastPathComponent().appendingPathComponent(name).path
        guard FileManager.default.isExecutableFile(atPath: path) else { throw Missing(path: path) }
        return path
    }

    /// The folder of Package.swift.
    public static let packageDirectory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of the executables, for a `PATH`.
    public static func folder() throws -> String {
        URL(fileURLWithPath: try path(of: "countdownctl")).deletingLastPathComponent().path
    }

    /// The path of a file from the folder of Package.swift.
    public static func source(_ path: String) -> String { packageDirectory.appendingPathComponent(path).path }

    /// The text of a file from the folder of Package.swift.
    public static func text(of path: String) throws -> String {
        try String(contentsOfFile: source(path), encoding: .utf8)
    }

    /// The executable was not built.
    public struct Missing: Error, CustomStringConvertible {
        /// The path of the executable.
        public let path: String

        /// The path and the command that builds it.
        public var description: String { "\(path) is not there: `swift build` makes it" }
    }
}
