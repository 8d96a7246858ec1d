import CLinux
import Glibc

/// Reports what other programs do to files and directories, with one call of the system for all of them (inotify).
///
/// On a network file system it reports only what programs on this machine do.
public struct FileWatch: ~Copyable {
    private let watch: Descriptor

    /// Readable when `takeReports` returns true.
    public var descriptor: Int32 { watch.number }

    /// A watch that reports nothing yet.
    public init() throws(SystemFailure) {
        watch = try Descriptor(owning: inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)), of: "inotify_init1")
    }

    /// Reports if the file is removed, renamed or gets another mode.
    public func add(file path: String) throws(SystemFailure) {
        // Removing the name of a socket that is in use only changes its number of links.
        try add(path, IN_ATTRIB | IN_MOVE_SELF | IN_DONT_FOLLOW)
    }

    /// Reports if the file is written to or truncated.
    public func add(contentsOf path: String) throws(SystemFailure) {
        try add(path, IN_MODIFY)
    }

    /// Reports if a name in the directory is removed or given to another file, or the directory is removed or renamed.
    public func add(namesIn directory: String) throws(SystemFailure) {
        try add(directory, IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF)
    }

    /// Whether something has been reported since the last call. What the program itself does is reported, too.
    public func takeReports() -> Bool {
        // Reports that do not fit are returned by the next call.
        unsafe withUnsafeTemporaryAllocation(byteCount: 4_096, alignment: 1) { reports in
            unsafe read(watch.number, reports.baseAddress, reports.count) > 0
        }
    }

    private func add(_ path: String, _ events: Int32) throws(SystemFailure) {
        guard unsafe inotify_add_watch(watch.number, path, UInt32(events)) >= 0 else {
            throw SystemFailure("inotify_add_watch")
        }
    }
}
