import CLinux
import Glibc
import IPC
import System
import Varlink

/// The program: reads the command line, and runs until it is told to end.
@main
enum CountdownNotify {
    static func main() {
        do throws(Exit) {
            switch try NotifierOptions.parse(ProcessArguments.read()) {
            case .showHelp: print(NotifierOptions.help)
            case .showVersion: print("countdown-notify \(Version.current)")
            case .run(let options): try run(options)
            }
        } catch {
            writeLine(error.sentence)
            exit(error.status)
        }
    }

    private static func run(_ options: NotifierOptions) throws(Exit) {
        guard linux_take_signals() == 0 else { throw Exit(EX_OSERR, "cannot take signals: \(systemMessage(errno))") }
        let signals = linux_signal_descriptor()
        guard signals >= 0 else { throw Exit(EX_OSERR, "cannot wait for signals: \(systemMessage(errno))") }
        let stateFile = try StateFile(in: StateFile.directory(option: options.stateDirectory))
        let path: String
        do {
            path = try Address.forClient().path
        } catch {
            throw Exit(error)
        }
        try Notifier(options, at: path, stateFile: stateFile, signals: signals).run()
    }
}

/// Why the program ends: the code to exit with, of sysexits.h, and what was wrong and what would be right.
struct Exit: Error, Equatable {
    let status: Int32
    let sentence: String

    /// There is no place where the daemon's socket could be.
    init(_ failure: AddressError) {
        let elsewhere = "set \(Address.variable) to the path of a socket"
        switch failure {
        case .pathTooLong(let path, let bytes, let limit):
            let fault = "\(path) has \(bytes) bytes, and the path of a socket \(limit) at most"
            self.init(EX_UNAVAILABLE, "\(fault): \(elsewhere)")
        case .directory(let path, _, let uid, let fault):
            self.init(EX_UNAVAILABLE, "\(path) cannot hold the socket of user \(uid) (\(fault)): \(elsewhere)")
        case .emptyOption: self.init(EX_USAGE, "the path of the socket is empty: \(elsewhere)")
        }
    }

    init(_ status: Int32, _ sentence: String) {
        self.status = status
        self.sentence = sentence
    }

    /// What keeps the daemon from being watched; nil where it may be otherwise later on.
    init?(_ error: ClientError) {
        switch error {
        case .unreachable(_, EACCES), .unreachable(_, EPERM), .service(.permissionDenied):
            self.init(EX_NOPERM, error.sentence)
        case .service(.invalidParameter("match")):
            self.init(EX_USAGE, "a pattern has 1 to 255 bytes, and a ] behind each [; a [ as such is written [[]")
        case .service(.invalidParameter("keys")):
            self.init(EX_USAGE, "a key has 1 to 255 bytes and no control characters")
        case .countdown(.limitReached(let limit, let maximum)) where limit.hasPrefix("pattern"):
            self.init(EX_USAGE, "the daemon takes patterns up to its limit \(limit) of \(maximum)")
        case .callTooLong: self.init(EX_USAGE, error.sentence)
        case .unreachable, .disconnected, .failed, .countdown: return nil
        case .service, .unknownError, .protocolViolation, .invalidReply: self.init(EX_PROTOCOL, error.sentence)
        }
    }
}

extension ClientError {
    /// What is said of it.
    var sentence: String {
        switch self {
        case .unreachable(let path, let code): "no daemon at \(path): \(systemMessage(code))"
        case .disconnected: "the daemon hung up"
        case .callTooLong(let bytes):
            "those patterns make a call of \(bytes) bytes, and the daemon takes \(Interface.callLimit) at most"
        case .failed(let code): "the connection to the daemon failed: \(systemMessage(code))"
        case .countdown(.limitReached(let limit, let maximum)): "the daemon's limit \(limit) of \(maximum) is reached"
        case .countdown(.storageFailed(let reason)): "the daemon cannot store it: \(reason)"
        case .countdown(let error): "the daemon refused: \(error.name.rawValue)"
        case .service(.permissionDenied): "the daemon serves another user"
        case .service(let error): "the daemon refused: \(error)"
        case .unknownError(let name): "the daemon answered \(name), which countdown-notify does not know"
        case .protocolViolation, .invalidReply: "what answered does not speak as countdownd does"
        }
    }
}

/// What strerror(3) says.
func systemMessage(_ code: Int32) -> String {
    guard let message = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: message)
}
