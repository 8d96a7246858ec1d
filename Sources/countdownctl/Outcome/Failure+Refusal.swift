import IPC
import System
import Varlink

extension Failure {
    /// The daemon refused, for a reason of its interface.
    init(_ error: CountdownError) {
        let subject = error.key.map { "\(PrintableText.escape($0)): " } ?? ""
        self.init(error.status, subject + error.clause, refusal: error)
    }

    /// The daemon refused, for a reason of the protocol.
    init(_ error: ServiceError) {
        switch error {
        case .invalidParameter(let parameter):
            if let explanation = explanation(of: parameter) {
                self.init(.usage, explanation)
            } else {
                self.init(.protocolFault, OlderDaemon.doesNotKnow(parameter))
            }
        case .permissionDenied: self.init(.denied, "the daemon serves another user, and root")
        case .methodNotFound(let name), .methodNotImplemented(let name):
            self.init(.protocolFault, OlderDaemon.doesNotKnow(name))
        case .interfaceNotFound(let name):
            self.init(.protocolFault, "what answered does not serve \(quoted(name)): it is no countdownd")
        case .expectedMore:
            self.init(.protocolFault, "the daemon asked for a stream where this countdownctl wants one answer")
        }
    }
}

extension CountdownError {
    var key: String? {
        switch self {
        case .noSuchCountdown(let key): key
        case .alreadyRunning(let countdown), .revisionMismatch(let countdown), .wrongState(let countdown):
            countdown.key
        case .historyTrimmed, .limitReached, .storageFailed: nil
        }
    }

    fileprivate var status: CommandStatus {
        switch self {
        case .noSuchCountdown: .unknownKey
        case .wrongState: .notRunning
        case .limitReached(let limit, let maximum) where excess(over: limit, of: maximum) != nil: .usage
        case .alreadyRunning, .revisionMismatch, .historyTrimmed, .limitReached: .tryLater
        case .storageFailed: .notStored
        }
    }

    fileprivate var clause: String {
        switch self {
        case .noSuchCountdown: "no such countdown"
        case .alreadyRunning(let countdown): "is \(countdown.state.rawValue) already; nothing changed"
        case .revisionMismatch(let countdown): "has changed, its revision is \(countdown.revision); nothing was done"
        case .wrongState(let countdown): "is \(countdown.state.rawValue); nothing changed"
        case .historyTrimmed(let oldest): "nothing before revision \(oldest) is kept any more"
        case .limitReached(let limit, let maximum):
            excess(over: limit, of: maximum)
                ?? "the daemon's limit \(quoted(limit)) of \(maximum) is reached; `countdownctl status --all` shows it"
        case .storageFailed(let reason): "nothing changed, as it could not be stored: \(PrintableText.escape(reason))"
        }
    }
}

/// What was typed too long or too often, where that is why a limit is reached: later it would be no shorter. Nil for
/// what the daemon has no room for just now.
private func excess(over limit: String, of maximum: Int64) -> String? {
    switch limit {
    case "labelBytes": "a label has \(maximum) bytes at most"
    case "metadataPairs": "a countdown has \(maximum) pairs of metadata at most"
    case "metadataBytes": "the metadata of a countdown has \(maximum) bytes at most"
    case "patterns": "the daemon takes \(maximum) patterns at once; keys without any of *?[ are none, and not counted"
    case "patternBytes": "a pattern has \(maximum) bytes at most"
    default: nil
    }
}

/// What a parameter has to be that the daemon found out of its range; nil for one that this program gives no value out of
/// its range.
private func explanation(of parameter: String) -> String? {
    switch parameter {
    case "key", "keys": "a key has 1 to 255 bytes and no control characters"
    case "durationUSec", "deadlineUSec": "a countdown takes from 1us to 100 years"
    case "byUSec": "a countdown takes 100 years at most, with all that is added"
    case "label": "that label is too long for the daemon, or holds a NUL"
    case "metadata": "that is more metadata than the daemon takes; `countdownctl status --all` shows its limits"
    case "match": "a pattern has 1 to 255 bytes, and a ] behind each [; a [ as such is written [[]"
    case "tickUSec": "that is too short a time between two ticks; `countdownctl status --all` shows the shortest"
    case "since": "a revision is not negative"
    default: nil
    }
}
