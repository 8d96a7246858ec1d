public import Glibc

/// Why a directory cannot hold a socket or a file that other users must not replace.
public enum DirectoryFault: Error, Hashable {
    /// It does not exist.
    case missing
    /// Something else is at its path.
    case notADirectory
    /// Another user owns it.
    case foreignOwner(uid: UInt32)
    /// Its group or everybody can write in it.
    case writableByOthers(mode: UInt32)
    /// stat(2) failed.
    case unreadable(errno: Int32)

    /// The fault of a directory whose entries only its user and root may replace; nil if it has none.
    public init?(_ status: FileStatus, for user: UInt32) {
        if !status.isDirectory {
            self = .notADirectory
        } else if !status.isOwned(by: user) {
            self = .foreignOwner(uid: status.owner)
        } else if status.mode & 0o022 != 0 {
            self = .writableByOthers(mode: status.mode)
        } else {
            return nil
        }
    }
}

extension DirectoryFault: CustomStringConvertible {
    /// The fault, to be put behind the name of the directory: `is missing`.
    public var description: String {
        switch self {
        case .missing: "is missing"
        case .notADirectory: "is not a directory"
        case .foreignOwner(let uid): "belongs to UID \(uid)"
        case .writableByOthers(let mode): "can be written by others (mode 0\(String(mode, radix: 8)))"
        case .unreadable(let errno): "cannot be examined: \(systemMessage(errno))"
        }
    }
}

/// A directory or a link on the way to a file by which another user could replace the file.
public struct UnsafeDirectory: Error, Hashable {
    /// The path of the directory or link.
    public let path: String
    /// Why it is unsafe.
    public let fault: DirectoryFault

    /// Looks at every directory and every link on the way to a directory, and at the directory.
    ///
    /// They have to belong to the user or to root, and others must not be able to write in them. If a directory has a sticky
    /// bit, as /tmp has, others may write: they cannot replace the entries of the user and of root.
    ///
    /// - Throws: the first of them that is unsafe.
    public static func check(wayTo directory: String, for user: UInt32 = geteuid()) throws(UnsafeDirectory) {
        var (reached, links) = ("", 0)
        var rest = names(in: directory)
        if !directory.hasPrefix("/") { rest += names(in: Environment.workingDirectory ?? "/") }
        try check("/", for: user)
        while let name = rest.popLast() {
            if name == ".." {
                reached = String(reached.prefix(upTo: reached.lastIndex(of: "/") ?? reached.startIndex))
                continue
            }
            let entry = "\(reached)/\(name)"
            guard let target = try check(entry, for: user) else {
                reached = entry
                continue
            }
            links += 1
            guard links <= 40 else { throw UnsafeDirectory(path: entry, fault: .unreadable(errno: ELOOP)) }
            if target.hasPrefix("/") { reached = "" }
            rest += names(in: target)
        }
    }

    /// Checks a directory or a link, and returns the target of a link.
    @discardableResult
    private static func check(_ path: String, for user: UInt32) throws(UnsafeDirectory) -> String? {
        let status: FileStatus
        let target: String?
        do throws(SystemFailure) {
            target = try FileStatus.linkTarget(path)
            status = try FileStatus.read(entry: path)
        } catch {
            throw UnsafeDirectory(path: path, fault: error.code == ENOENT ? .missing : .unreadable(errno: error.code))
        }
        if target != nil {
            guard !status.isOwned(by: user) else { return target }
            throw UnsafeDirectory(path: path, fault: .foreignOwner(uid: status.owner))
        }
        guard let fault = DirectoryFault(status, for: user) else { return nil }
        if case .writableByOthers(let mode) = fault, mode & S_ISVTX != 0 { return nil }
        throw UnsafeDirectory(path: path, fault: fault)
    }

    /// The names in a path, the last one first.
    private static func names(in path: String) -> [String] {
        path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
    }
}

extension FileStatus {
    /// Whether the owner is the user or root. In a user namespace, root of the machine has no ID of its own: it is among the users
    /// that the kernel shows as one.
    func isOwned(by user: UInt32) -> Bool {
        owner == user || owner == 0 || owner == Self.overflowUser && !Self.hasUser(Self.overflowUser)
    }

    /// Stands for all users without an ID in the user namespace; the default of /proc/sys/kernel/overflowuid.
    private static let overflowUser: UInt32 = 65_534

    /// Whether a user ID belongs to one user in the namespace of this process. Its map has lines of a first ID, its first ID
    /// outside, and their number.
    private static func hasUser(_ user: UInt32) -> Bool {
        guard let map = (try? StoredText.read("/proc/self/uid_map")) ?? nil else { return true }
        return map.split(separator: "\n").contains { line in
            let numbers = line.split(separator: " ").compactMap { UInt64($0) }
            guard numbers.count == 3 else { return false }
            return numbers[0] <= UInt64(user) && UInt64(user) < numbers[0] + numbers[2]
        }
    }
}
