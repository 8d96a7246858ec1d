import Glibc
import IPC
import System
import Text
import Varlink

extension CommandFailure {
    /// Standard output could not be written; nil if its reader has left, which is not a failure.
    init?(_ failure: StreamFailure) {
        guard case .failed(let errno) = failure else { return nil }
        self.init(.notStored, "cannot write to standard output: \(systemMessage(errno))")
    }

    /// The daemon could not be reached, or did not answer as it should. A read changes nothing.
    init(_ error: ClientError, isRead: Bool = false) {
        switch error {
        case .address(let error): self.init(error)
        case .cancelled: self.init(.internalFault, "\(error)")
        case .countdown(.unreachable(let reason)) where isRead:
            self.init(.tryLater, "the countdowns of the fleet are not known here: \(PrintableText.escape(reason))")
        case .countdown(.storageFailed(let reason)) where isRead:
            self.init(.tryLater, "the daemon cannot open its store: \(PrintableText.escape(reason))")
        case .unreachable(let path, let errno): self = .unreachable(path, errno)
        case .disconnected: self.init(.unavailable, "the daemon closed the connection before it answered")
        case .callTooLong(let bytes):
            let limit = Interface.callLimit
            self = .usage("the call has \(bytes) bytes; the daemon accepts at most \(limit)")
        case .failed(ETIMEDOUT):
            let outcome = isRead ? "" : "; a change may still be made"
            self.init(.unavailable, "the daemon does not answer: it is stopped, or its disk is very slow\(outcome)")
        case .failed(let errno): self.init(.unavailable, "the connection to the daemon failed: \(systemMessage(errno))")
        case .countdown(let error): self.init(error)
        case .service(let error): self.init(error)
        case .unknownError(let name):
            self.init(.protocolFault, "unknown error \(quoted(name)) from the daemon")
        case .protocolViolation(let violation):
            self.init(.protocolFault, "the server violated the Varlink protocol: \(violation)")
        case .invalidReply(let method, let member):
            self.init(.protocolFault, "invalid reply from the daemon: \(method) has no valid \(quoted(member))")
        }
    }

    private static func unreachable(_ path: String, _ errno: Int32) -> CommandFailure {
        let shown = PrintableText.escape(path)
        switch errno {
        case ENOENT, ECONNREFUSED:
            return CommandFailure(.unavailable, "no daemon at \(shown)\(Self.remedy(path, Environment.value))")
        case EACCES, EPERM: return CommandFailure(.denied, "cannot connect to \(shown): \(systemMessage(errno))")
        case EAGAIN: return CommandFailure(.tryLater, "the daemon at \(shown) accepts no more connections now")
        case EMFILE, ENFILE, ENOBUFS, ENOMEM:
            return CommandFailure(.internalFault, "cannot connect to \(shown): \(systemMessage(errno))")
        default: return CommandFailure(.unavailable, "no daemon at \(shown): \(systemMessage(errno))")
        }
    }

    /// How to start a daemon at a path: the user's own and a group's by systemd, one at another path by hand.
    static func remedy(_ path: String, _ environment: (String) -> String?) -> String {
        guard environment(Address.variable) == path else {
            return ": start it with `systemctl --user start countdownd.socket`"
        }
        let folders = path.split(separator: "/")
        if folders.count == 4, path == "/run/countdownd/\(folders[2])/io.countdownd" {
            let units = ["countdownd", "countdownd-shared"].map { ShellWord.quote("\($0)@\(folders[2]).socket") }
            return " (from \(Address.variable)): start it with `systemctl start \(units[0])`, or in a fleet with"
                + " `systemctl start \(units[1])`"
        }
        let start = "`countdownd --socket \(ShellWord.quote(path))`"
        return " (from \(Address.variable)): start it with \(start), or unset the variable"
    }

    /// The daemon refused, for a reason of its interface; the key is for an error that names none.
    init(_ error: CountdownError, about key: String? = nil) {
        let subject = (error.key ?? key).map { "\(PrintableText.escape($0)): " } ?? ""
        self.init(error.exitCode, subject + error.clause, refusal: error)
    }

    /// The daemon refused, for a reason of the protocol; the key is for a command that has several.
    init(_ error: ServiceError, about key: String? = nil) {
        switch error {
        case .invalidParameter(let parameter):
            if parameter == "key", let key {
                let name = key.count > 80 ? "\(key.prefix(80))…" : key
                self.init(.usage, "invalid key \(quoted(name)): \(keyExpectation)")
            } else if let explanation = explanation(of: parameter) {
                self.init(.usage, explanation)
            } else {
                self.init(.protocolFault, VersionMismatch.doesNotKnow(parameter))
            }
        case .permissionDenied: self.init(.denied, "permission denied: the daemon serves another user")
        case .methodNotFound(let name), .methodNotImplemented(let name):
            self.init(.protocolFault, VersionMismatch.doesNotKnow(name))
        case .interfaceNotFound(let name):
            self.init(.protocolFault, "the server does not implement \(quoted(name)): it is not countdownd")
        case .expectedMore:
            self.init(.protocolFault, "the daemon expects a streaming call")
        }
    }

    /// The address of the daemon's socket is unusable.
    init(_ failure: AddressError) {
        let remedy = failure == .emptyPath ? "" : ", or set \(Address.variable) to the path of a socket"
        self.init(failure == .emptyPath ? .usage : .unavailable, "\(failure)\(remedy)")
    }

    /// The state of a countdown does not allow the change.
    init(_ exitCode: ExitCode, unchanged countdown: Countdown) {
        let clause = "nothing changed: it is \(CountdownText().state(countdown))"
        self.init(exitCode, "\(CountdownText.name(countdown)): \(clause)")
    }
}

extension CountdownError {
    fileprivate var exitCode: ExitCode {
        switch self {
        case .noSuchCountdown: .unknownKey
        case .wrongState: .notRunning
        case .limitReached(let limit, let maximum) where excess(over: limit, of: maximum) != nil: .usage
        case .alreadyRunning, .revisionMismatch, .historyTrimmed, .limitReached: .tryLater
        case .unreachable: .unknownOutcome
        case .storageFailed: .notStored
        }
    }

    fileprivate var clause: String {
        switch self {
        case .noSuchCountdown: "no such countdown"
        case .alreadyRunning(let countdown, _): "already \(countdown.state.rawValue); nothing changed"
        case .revisionMismatch(let countdown):
            "revision mismatch: its revision is \(countdown.revision); nothing changed"
        case .wrongState(let countdown): "is \(countdown.state.rawValue); nothing changed"
        case .historyTrimmed(let oldest): "the history before revision \(oldest) is no longer kept"
        case .limitReached(let limit, let maximum):
            excess(over: limit, of: maximum)
                ?? "the daemon's limit \(quoted(limit)) (\(maximum)) is reached; `countdownctl status --all` shows the limits"
        case .storageFailed(let reason): "not stored, nothing changed: \(PrintableText.escape(reason))"
        case .unreachable(let reason):
            "the fleet did not answer, so a change may have been made: \(PrintableText.escape(reason))"
        }
    }
}

/// The message for a limit on the size of an argument, which is a usage error: trying again later does not help. Nil
/// for a limit on what the daemon holds.
private func excess(over limit: String, of maximum: Int64) -> String? {
    switch limit {
    case "labelBytes": "the label is too long: at most \(maximum) bytes"
    case "metadataPairs": "too much metadata: at most \(maximum) pairs"
    case "metadataBytes": "too much metadata: at most \(maximum) bytes"
    case "patterns": "too many patterns: at most \(maximum); words without *, ? or [ are keys and do not count"
    case "patternBytes": "the pattern is too long: at most \(maximum) bytes"
    default: nil
    }
}

private let keyExpectation = "use 1 to 255 bytes without control characters"

/// What a parameter has to be that the daemon found out of its range; nil for one that this program gives no value out of
/// its range.
private func explanation(of parameter: String) -> String? {
    switch parameter {
    case "key", "keys": "invalid key: \(keyExpectation)"
    case "durationUSec", "deadlineUSec": "invalid duration: use 1us to 100 years"
    case "upToUSec": "invalid --rate: the period is at most 100 years"
    case "byUSec": "invalid amount: a countdown lasts at most 100 years in total"
    case "label": "invalid label: it is too long or contains NUL"
    case "metadata": "invalid metadata: more than the daemon accepts; `countdownctl status --all` shows its limits"
    case "match": "invalid pattern: use 1 to 255 bytes, with a ] after each [; a literal [ is written [[]"
    case "tickUSec": "invalid --tick: too short; `countdownctl status --all` shows the minimum"
    case "since": "invalid --since: a revision is not negative"
    default: nil
    }
}

/// Messages for a daemon of another version, which still runs after an upgrade.
enum VersionMismatch {
    /// How to start the installed version; no countdown is lost.
    static let remedy = "\(command) starts the installed version"
    private static let command = "`systemctl --user restart countdownd`"

    /// That the daemon does not know something of the interface, which this program does.
    static func doesNotKnow(_ name: String) -> String {
        "the daemon does not know \(quoted(name)): this needs a newer countdownd; restart it after the upgrade: \(command)"
    }
}

/// Durations and times from the command line, with usage errors.
extension DurationParser {
    static func read(_ text: String) throws(CommandFailure) -> Int64 {
        do {
            return try parse(text)
        } catch {
            throw .usage(error.description)
        }
    }
}

extension ClockTime {
    static func read(_ text: String, _ clock: ClockText) throws(CommandFailure) -> ClockTime {
        do {
            return try ClockTimeParser(now: clock.now, zone: clock.zone).parse(text)
        } catch {
            throw .usage(error.description)
        }
    }
}
