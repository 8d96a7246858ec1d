extension Address {
    /// Why there is no place for the socket.
    public enum Failure: Error, Hashable {
        /// `--socket` was given without a path.
        case emptyOption
        /// A Unix socket cannot have a path of so many bytes.
        case pathTooLong(path: String, bytes: Int, limit: Int)
        /// The runtime directory of user `uid` cannot hold the socket.
        case directory(String, origin: DirectoryOrigin, uid: UInt32, fault: DirectoryFault)
    }

    /// Who said where the runtime directory is.
    public enum DirectoryOrigin: Sendable, Hashable {
        /// `$XDG_RUNTIME_DIR`.
        case environment
        /// Nobody; it is where systemd-logind makes one for a user with a session: `/run/user/UID`.
        case user
    }

    /// What is wrong with a runtime directory.
    public enum DirectoryFault: Error, Hashable {
        /// There is none; with `DirectoryOrigin.user`: the user has no session and does not linger.
        case missing
        /// What stands there is something else.
        case notADirectory
        /// Another user owns it.
        case foreignOwner(uid: UInt32)
        /// Its group or everybody can write there.
        case writableByOthers(mode: UInt32)
        /// It could not be looked at.
        case unreadable(errno: Int32)
    }
}
