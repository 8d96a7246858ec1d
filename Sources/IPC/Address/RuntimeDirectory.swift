import Glibc

/// The directory of a user's session that holds the socket where nobody names another place.
struct RuntimeDirectory {
    let path: String
    let origin: Address.DirectoryOrigin

    /// `$XDG_RUNTIME_DIR`, or `/run/user/UID` where it is not set. A relative one is passed over, as the XDG Base
    /// Directory Specification demands.
    init(environment: (String) -> String?, uid: UInt32) {
        if let named = environment("XDG_RUNTIME_DIR"), named.utf8.first == UInt8(ascii: "/") {
            path = named
            origin = .environment
        } else {
            path = "/run/user/\(uid)"
            origin = .user
        }
    }

    /// What keeps the socket out of it: whoever else can write there can put a socket of his own in place of ours.
    func fault(for uid: UInt32, status: (String) throws(Errno) -> FileStatus) -> Address.DirectoryFault? {
        let found: FileStatus
        do {
            found = try status(path)
        } catch {
            return error.code == ENOENT ? .missing : .unreadable(errno: error.code)
        }
        guard found.isDirectory else { return .notADirectory }
        // Root can write everywhere, so a directory of root's that somebody names is no worse than one's own.
        guard found.owner == uid || origin == .environment && found.owner == 0 else {
            return .foreignOwner(uid: found.owner)
        }
        return found.mode & 0o022 == 0 ? nil : .writableByOthers(mode: found.mode)
    }
}
