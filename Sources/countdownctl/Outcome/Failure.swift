import Glibc
import IPC
import System
import Varlink

/// Why a verb did not do what was asked: the code to exit with, and what was wrong and what would be right.
struct Failure: Error, Equatable {
    let status: CommandStatus
    let sentence: String
    /// What the daemon answered, where it is that.
    let refusal: CountdownError?

    init(_ status: CommandStatus, _ sentence: String, refusal: CountdownError? = nil) {
        self.status = status
        self.sentence = sentence
        self.refusal = refusal
    }

    /// What was typed cannot be meant.
    static func usage(_ sentence: String) -> Failure { Failure(.usage, sentence) }
}

extension Failure {
    /// Standard output could not be written; nil where whoever read it has left, which is no failure.
    init?(_ failure: StreamFailure) {
        guard case .failed(let errno) = failure else { return nil }
        self.init(.notStored, "cannot write to standard output: \(systemMessage(errno))")
    }

    /// The daemon could not be reached, or did not answer as it should.
    init(_ error: ClientError) {
        switch error {
        case .unreachable(let path, let errno): self = .unreachable(path, errno)
        case .disconnected: self.init(.unavailable, "the daemon hung up before it answered")
        case .callTooLong(let bytes):
            let limit = Interface.callLimit
            self = .usage("that makes a call of \(bytes) bytes, and the daemon takes \(limit) at most")
        case .failed(let errno): self.init(.unavailable, "the connection to the daemon failed: \(systemMessage(errno))")
        case .countdown(let error): self.init(error)
        case .service(let error): self.init(error)
        case .unknownError(let name):
            self.init(.protocolFault, "the daemon answered \(quoted(name)), which this countdownctl does not know")
        case .protocolViolation(let violation):
            self.init(.protocolFault, "what answered does not speak Varlink as it should: \(violation)")
        case .invalidReply(let method, let member):
            self.init(.protocolFault, "the daemon's answer to \(method) has no valid \(quoted(member))")
        }
    }

    private static func unreachable(_ path: String, _ errno: Int32) -> Failure {
        let shown = PrintableText.escape(path)
        switch errno {
        case ENOENT, ECONNREFUSED:
            return Failure(.unavailable, "no daemon at \(shown)\(Self.remedy(path, Environment.value))")
        case EACCES, EPERM: return Failure(.denied, "\(shown) belongs to somebody else: \(systemMessage(errno))")
        case EAGAIN: return Failure(.tryLater, "the daemon at \(shown) has no room for another connection now")
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            return Failure(.internalFault, "cannot connect to \(shown): \(systemMessage(errno))")
        default: return Failure(.unavailable, "no daemon at \(shown): \(systemMessage(errno))")
        }
    }
}

extension Failure {
    /// How a daemon comes to be at a path: that of the session by its service manager, one elsewhere by hand.
    static func remedy(_ path: String, _ environment: (String) -> String?) -> String {
        guard environment(Address.variable) == path else {
            return ": start it with `systemctl --user start countdownd.socket`"
        }
        let start = "`countdownd --socket \(ShellWord.quote(path))`"
        return ", where \(Address.variable) has it: start it with \(start), or unset the variable"
    }
}

/// What strerror(3) says, in the words of the C locale.
func systemMessage(_ errno: Int32) -> String {
    guard let message = unsafe strerror(errno) else { return "error \(errno)" }
    return unsafe String(cString: message)
}
