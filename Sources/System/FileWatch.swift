import CLinux

/// Reports what other programs do to files and directories, with one call of the system for all of them (inotify).
///
/// On a network file system it reports only what programs on this machine do.
public struct FileWatch: ~Copyable {
    private let watch: Descriptor

    /// Readable when `takeReports` returns true.
    public var descriptor: Int32 { watch.number }

    /// A watch that reports nothing yet.
    public init() throws(SystemFailure) {
        watch = try Descriptor(owning: linux_watch_create(), of: "inotify_init1")
    }

    /// Reports if the file is removed, renamed or gets another mode.
    public func add(file path: String) throws(SystemFailure) {
        try Self.check(unsafe linux_watch_file(watch.number, path))
    }

    /// Reports if the file is written to or truncated.
    public func add(contentsOf path: String) throws(SystemFailure) {
        try Self.check(unsafe linux_watch_contents(watch.number, path))
    }

    /// Reports if a name in the directory is removed or given to another file, or the directory is removed or renamed.
    public func add(namesIn directory: String) throws(SystemFailure) {
        try Self.check(unsafe linux_watch_names(watch.number, directory))
    }

    /// Whether something has been reported since the last call. What the program itself does is reported, too.
    public func takeReports() -> Bool { linux_watch_take(watch.number) != 0 }

    private static func check(_ result: Int32) throws(SystemFailure) {
        if result < 0 { throw SystemFailure("inotify_add_watch") }
    }
}
