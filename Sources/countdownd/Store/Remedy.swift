import CSQLite
import Glibc

extension StoreFailure {
    /// What a person can do so that changes are stored again.
    enum Remedy: String {
        case makeRoom = "make room on its file system"
        case makeWritable = "see that its user may write there"
        case lookAtDisk = "see the kernel log for faults of the disk, and the limit on the size of files"
        case freeLock = "end the program that keeps it locked"

        /// What a system call's failure asks for; nil where its text says all that is known.
        init?(errno code: Int32) {
            switch code {
            case ENOSPC, EDQUOT: self = .makeRoom
            case EACCES, EPERM, EROFS: self = .makeWritable
            case EIO, EFBIG: self = .lookAtDisk
            default: return nil
            }
        }

        /// What a failure of SQLite's asks for.
        init?(_ failure: SQLiteFailure) {
            switch failure.code & 0xff {
            case SQLITE_FULL: self = .makeRoom
            case SQLITE_READONLY, SQLITE_PERM: self = .makeWritable
            case SQLITE_BUSY, SQLITE_LOCKED: self = .freeLock
            // SQLite does not always tell the errno.
            case SQLITE_IOERR where failure.systemCode == 0: self = .lookAtDisk
            default: self.init(errno: failure.systemCode)
            }
        }
    }

    /// What SQLite says, with the file before it where one is given.
    init(_ failure: SQLiteFailure, of place: String? = nil) {
        reason = "\(place.map { "\($0): " } ?? "")\(failure)"
        remedy = Remedy(failure)
    }

    init(_ failure: SystemFailure, of place: String) {
        reason = "\(place): \(failure)"
        remedy = Remedy(errno: failure.code)
    }

    /// Why, and what to do about it where that is known.
    var advice: String {
        remedy.map { "\(reason) (\($0.rawValue))" } ?? reason
    }
}
