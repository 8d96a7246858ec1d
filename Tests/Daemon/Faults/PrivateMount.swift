import Foundation
import TestSupport

/// A file system of a few pages that is visible only to processes started with `launcher`; it disappears with the last
/// one.
final class PrivateMount {
    private let holder: RunningCommand
    private let path: String

    /// Whether this system can make one.
    static let isPossible =
        (try? RunningCommand(["-m", "true"], executable: "/usr/bin/unshare").finish().exitCode) == 0

    /// Mounts a file system of a size, written as for tmpfs, at an empty path.
    init(of size: String, at path: String) throws {
        self.path = path
        let script = #"mkdir "$1" && mount -t tmpfs -o "size=$0,mode=700" none "$1" && echo mounted && exec sleep 600"#
        holder = try RunningCommand(
            ["-m", "/bin/sh", "-c", script, size, path],
            executable: "/usr/bin/unshare"
        )
        guard try holder.line() == "mounted" else { throw NotMounted(reason: try holder.finish().standardError) }
    }

    /// The command with which a process is started that is to see it.
    var launcher: [String] { ["/usr/bin/nsenter", "-t", "\(holder.process.identifier)", "-m", "--"] }

    /// Fills the free space.
    func fill() throws {
        try run("! cat /dev/zero > \"$0/filler\" 2> /dev/null")
    }

    /// Frees the space again.
    func empty() throws {
        try run("rm \"$0/filler\"")
    }

    func remount(_ option: String) throws {
        try run("mount -o remount,\(option) \"$0\"")
    }

    private func run(_ script: String) throws {
        let command = Array(launcher.dropFirst()) + ["/bin/sh", "-c", script, path]
        let run = try RunningCommand(command, executable: launcher[0]).finish()
        guard run.exitCode == 0 else { throw NotMounted(reason: run.standardError) }
    }

    struct NotMounted: Error {
        let reason: String
    }
}
