import Foundation
import TestSupport

/// A file system of a few pages that only those see who are started with `launcher`; it goes with its last process.
final class PrivateMount {
    private let holder: RunningCommand
    private let path: String

    /// Whether one can be made here.
    static let isPossible =
        (try? RunningCommand(["-m", "true"], executable: "/usr/bin/unshare").finish().exitCode) == 0

    /// Makes one of a size, as tmpfs takes it, at a path where nothing is.
    init(of size: String, at path: String) throws {
        self.path = path
        let script = #"mkdir "$1" && mount -t tmpfs -o "size=$0,mode=700" none "$1" && echo mounted && exec sleep 600"#
        holder = try RunningCommand(
            ["-m", "/bin/sh", "-c", script, size, path],
            executable: "/usr/bin/unshare"
        )
        guard try holder.line() == "mounted" else { throw NotMounted(reason: try holder.finish().standardError) }
    }

    /// What a command has to be started with that shall see it.
    var launcher: [String] { ["/usr/bin/nsenter", "-t", "\(holder.process.identifier)", "-m", "--"] }

    /// Uses up what room there is.
    func fill() throws {
        try run("! cat /dev/zero > \"$0/filler\" 2> /dev/null")
    }

    /// Gives the room back.
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
