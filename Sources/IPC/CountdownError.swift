public import Varlink

/// An error of the interface `io.countdownd`.
public enum CountdownError: Sendable, Hashable {
    /// The daemon knows no countdown under this key.
    case noSuchCountdown(key: String)
    /// The key is running or paused, and the call had `ifRunning: fail`.
    case alreadyRunning(Countdown)
    /// The countdown has another revision than the call named.
    case revisionMismatch(Countdown)
    /// The countdown's state does not allow the change.
    case wrongState(Countdown)
    /// The daemon does not keep the history after the revision that the call named.
    case historyTrimmed(oldestRevision: Int64)
    /// A limit of the daemon is reached.
    case limitReached(limit: String, maximum: Int64)
    /// The change could not be stored, so it was not made.
    case storageFailed(reason: String)

    /// The names of the errors on the wire, in the order of the definition.
    public enum Name: String, Sendable, CaseIterable {
        case noSuchCountdown = "io.countdownd.NoSuchCountdown"
        case alreadyRunning = "io.countdownd.AlreadyRunning"
        case revisionMismatch = "io.countdownd.RevisionMismatch"
        case wrongState = "io.countdownd.WrongState"
        case historyTrimmed = "io.countdownd.HistoryTrimmed"
        case limitReached = "io.countdownd.LimitReached"
        case storageFailed = "io.countdownd.StorageFailed"
    }

    /// The name of the error.
    public var name: Name {
        switch self {
        case .noSuchCountdown: .noSuchCountdown
        case .alreadyRunning: .alreadyRunning
        case .revisionMismatch: .revisionMismatch
        case .wrongState: .wrongState
        case .historyTrimmed: .historyTrimmed
        case .limitReached: .limitReached
        case .storageFailed: .storageFailed
        }
    }
}

extension CountdownError: ReplyError {
    public var errorName: String { name.rawValue }

    public func encodeParameters(into writer: inout JSONWriter) {
        switch self {
        case .noSuchCountdown(let key):
            writer.member("key", key)
        case .alreadyRunning(let countdown), .revisionMismatch(let countdown), .wrongState(let countdown):
            writer.member("countdown", countdown)
        case .historyTrimmed(let oldestRevision):
            writer.member("oldestRevision", oldestRevision)
        case .limitReached(let limit, let maximum):
            writer.member("limit", limit)
            writer.member("maximum", maximum)
        case .storageFailed(let reason):
            writer.member("reason", reason)
        }
    }

    /// Decodes the parameters of an error. Unknown members are ignored.
    public init(_ name: Name, decoding parameters: JSONObject) throws(InvalidParameter) {
        switch name {
        case .noSuchCountdown:
            self = .noSuchCountdown(key: try parameters.string("key"))
        case .alreadyRunning:
            self = .alreadyRunning(try parameters.decoded("countdown", as: Countdown.self))
        case .revisionMismatch:
            self = .revisionMismatch(try parameters.decoded("countdown", as: Countdown.self))
        case .wrongState:
            self = .wrongState(try parameters.decoded("countdown", as: Countdown.self))
        case .historyTrimmed:
            self = .historyTrimmed(oldestRevision: try parameters.integer("oldestRevision"))
        case .limitReached:
            self = .limitReached(
                limit: try parameters.string("limit"),
                maximum: try parameters.integer("maximum")
            )
        case .storageFailed:
            self = .storageFailed(reason: try parameters.string("reason"))
        }
    }
}
