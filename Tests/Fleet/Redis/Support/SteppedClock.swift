import Foundation
import TestSupport

/// A clock of a redis-server that a test can step, while the machine's clock stays.
final class SteppedClock {
    private let directory: TemporaryDirectory
    private let file: String
    private let library: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.write("\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}", to: "shift")
        library = directory.path(of: "clock.so")
        let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Shim/clock.c")
        let compiler = #"if command -v clang > /dev/null; then exec clang "$@"; else exec cc "$@"; fi"#
        let run = try RunningCommand(
            ["-c", compiler, "sh", "-Wall", "-Wextra", "-O1", "-shared", "-fPIC", "-o", library, source.path],
            executable: "/bin/sh",
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"]
        ).finish()
        guard run.exitCode == 0 else { throw NotCompiled(description: run.standardError) }
    }

    /// The variables of the server that has the clock.
    var environment: [String: String] { ["LD_PRELOAD": library, "CLOCK_SHIFT": file] }

    /// Steps it to so many microseconds ahead of the machine's clock.
    func set(ahead microseconds: Int64) throws {
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: file))
        try handle.write(contentsOf: withUnsafeBytes(of: microseconds) { Data($0) })
        try handle.close()
    }

    struct NotCompiled: Error, CustomStringConvertible {
        let description: String
    }
}
