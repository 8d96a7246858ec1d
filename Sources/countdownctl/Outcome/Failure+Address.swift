import IPC
import System

extension Failure {
    /// There is no place where the daemon's socket could be.
    init(_ failure: Address.Failure) {
        let elsewhere = "or set \(Address.variable) to the path of a socket"
        switch failure {
        case .emptyOption: self.init(.usage, "the path of the socket is empty")
        case .pathTooLong(let path, let bytes, let limit):
            self.init(
                .unavailable,
                "\(PrintableText.escape(path)) has \(bytes) bytes, and the path of a socket has at most \(limit)"
            )
        case .directory(_, .user, let uid, .missing):
            self.init(.unavailable, "no session of UID \(uid): `loginctl enable-linger`, \(elsewhere)")
        case .directory(let path, .user, _, let fault):
            self.init(.unavailable, "\(path) \(fault.clause); have it mended, \(elsewhere)")
        case .directory(let path, .environment, _, let fault):
            let path = PrintableText.escape(path)
            self.init(.unavailable, "XDG_RUNTIME_DIR is \(path), which \(fault.clause); correct it, \(elsewhere)")
        }
    }
}

extension Address.DirectoryFault {
    /// What stands behind the name of the directory.
    fileprivate var clause: String {
        switch self {
        case .missing: "is not there"
        case .notADirectory: "is no directory"
        case .foreignOwner(let uid): "belongs to UID \(uid)"
        case .writableByOthers(let mode): "can be written by others (mode 0\(String(mode, radix: 8)))"
        case .unreadable(let errno): "cannot be looked at: \(systemMessage(errno))"
        }
    }
}
