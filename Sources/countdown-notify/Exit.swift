import Glibc
import IPC
import System
import Varlink

/// Why the program ends.
struct Exit: Error, Equatable {
    /// The exit code, from sysexits.h.
    let status: Int32
    /// Names the fault and what is expected.
    let sentence: String

    init(_ status: Int32, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// There is no place for the daemon's socket.
    init(_ error: AddressError) {
        let status = error == .emptyPath ? EX_USAGE : EX_UNAVAILABLE
        self.init(status, "\(error), or set \(Address.variable) to the path of a socket")
    }

    /// The daemon refused the watch, and would refuse it again.
    init(_ error: ClientError) {
        switch error {
        case .unreachable(_, EACCES), .unreachable(_, EPERM), .service(.permissionDenied):
            self.init(EX_NOPERM, "\(error)")
        case .service(.invalidParameter("match")):
            self.init(EX_USAGE, "a pattern has 1 to 255 bytes, and a ] after each [; write [[] for a [")
        case .service(.invalidParameter("keys")):
            self.init(EX_USAGE, "a key has 1 to 255 bytes and no control characters")
        case .countdown(.limitReached(let limit, let maximum)):
            self.init(EX_USAGE, "the daemon accepts patterns up to its limit \(limit) of \(maximum)")
        case .callTooLong: self.init(EX_USAGE, "too many patterns: \(error)")
        default: self.init(EX_PROTOCOL, "\(error)")
        }
    }

    /// The state directory cannot be used.
    init(_ error: StateDirectory.Unavailable) {
        switch error {
        case .locked(let path, let holder):
            self.init(
                EX_UNAVAILABLE,
                "another countdown-notify (\(holder)) uses \(path); a second one needs its own --state-directory"
            )
        case .foreign(let path, let fault):
            self.init(EX_CANTCREAT, "\(path) \(fault); choose another --state-directory")
        case .unusable(let path, let failure):
            self.init(EX_CANTCREAT, "cannot use \(path): \(failure); choose another --state-directory")
        }
    }
}
