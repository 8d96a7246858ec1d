import Glibc

/// The directory in which a program keeps its state, locked against a second instance as long as the value lives.
public struct StateDirectory: ~Copyable {
    /// Why the directory cannot be used.
    public enum Unavailable: Error {
        /// Another process has locked it.
        case locked(path: String, holder: String)
        /// It belongs to another user, who could replace its files.
        case foreign(path: String, DirectoryFault)
        /// It cannot be made, opened or locked.
        case unusable(path: String, SystemFailure)
    }

    /// The path of the directory.
    public let path: String
    /// Nil on a read-only file system that has no lock file.
    private let lock: FileLock?

    /// Whether the lock still keeps other instances out: false if another program has removed or replaced the lock file.
    public var isLocked: Bool {
        switch lock {
        case .some(let lock): lock.isHeld
        case nil: true
        }
    }

    /// Makes the directory, accessible only to its user, if it is missing, and locks the file `lock` in it, which names the process
    /// and the host that hold the lock.
    public init(path: String) throws(Unavailable) {
        self.path = path
        let status: FileStatus
        do throws(SystemFailure) {
            status = try Self.make(path)
        } catch {
            throw .unusable(path: path, error)
        }
        guard status.isOwned(by: geteuid()) else { throw .foreign(path: path, .foreignOwner(uid: status.owner)) }
        do throws(FileLock.Unavailable) {
            lock = try FileLock(path: "\(path)/lock")
        } catch {
            switch error {
            case .held(let holder): throw .locked(path: path, holder: holder)
            case .failed(let failure) where failure.code == EROFS: lock = nil
            case .failed(let failure): throw .unusable(path: path, failure)
            }
        }
    }

    /// Makes a directory, accessible only to its user, and the directories above it, unless they are there. Returns its
    /// status.
    public static func make(_ path: String) throws(SystemFailure) -> FileStatus {
        var prefix = path.hasPrefix("/") ? "/" : ""
        for part in path.split(separator: "/") {
            prefix += (prefix.isEmpty || prefix.hasSuffix("/") ? "" : "/") + part
            guard unsafe mkdir(prefix, 0o700) != 0, errno != EEXIST, errno != EISDIR else { continue }
            let failure = SystemFailure("mkdir")
            // On a read-only file system mkdir(2) fails for directories that are there, too.
            guard unsafe access(prefix, F_OK) == 0 else { throw failure }
        }
        let status = try FileStatus.read(path)
        guard status.isDirectory else { throw SystemFailure("mkdir", code: ENOTDIR) }
        return status
    }
}

extension StateDirectory {
    /// The path of a program's state directory: the one that an option names, else the directory that systemd made,
    /// else the directory of the XDG Base Directory Specification; nil if the environment names no home directory
    /// either.
    public static func path(
        of program: String,
        option: String?,
        environment: (String) -> String? = Environment.value
    ) -> String? {
        // systemd puts colons between several directories.
        let given = environment("STATE_DIRECTORY").flatMap { $0.split(separator: ":").first.map(String.init) }
        let home = environment("XDG_STATE_HOME") ?? environment("HOME").map { "\($0)/.local/state" }
        return option ?? given ?? home.map { "\($0)/\(program)" }
    }
}
