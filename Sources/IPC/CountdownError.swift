public import Varlink

/// An error of the interface `io.countdownd`.
public enum CountdownError: Sendable, Hashable {
    /// The daemon knows no countdown under this key.
    case noSuchCountdown(key: String)
    /// The key is running or paused, and the call had `ifRunning: .fail`, or `upTo` left no room. The same call succeeds after
    /// `retryAfter` if there is no other change; nil if the countdown is paused or calls queue for it.
    case alreadyRunning(Countdown, retryAfter: Duration?)
    /// The countdown has another revision than the call named.
    case revisionMismatch(Countdown)
    /// The countdown's state does not allow the change.
    case wrongState(Countdown)
    /// The daemon does not keep the history after the revision that the call named.
    case historyTrimmed(oldestRevision: Int64)
    /// A limit of the daemon is reached.
    case limitReached(limit: String, maximum: Int64)
    /// The change could not be stored, so it was not made. To a call that changes nothing: the daemon cannot open its store
    /// yet, so that it does not know the countdowns.
    case storageFailed(reason: String)
    /// A daemon of a fleet had no answer from the engine in time, so a change may have been made or not: ask again with
    /// ``AsyncClient/get(_:)``, or repeat a call that is safe to repeat. To a call that changes nothing: the daemon does not know the
    /// countdowns of the fleet.
    case unreachable(reason: String)

    /// The names of the errors on the wire, in the order of the definition.
    public enum WireName: String, Sendable, CaseIterable {
        case noSuchCountdown = "io.countdownd.NoSuchCountdown"
        case alreadyRunning = "io.countdownd.AlreadyRunning"
        case revisionMismatch = "io.countdownd.RevisionMismatch"
        case wrongState = "io.countdownd.WrongState"
        case historyTrimmed = "io.countdownd.HistoryTrimmed"
        case limitReached = "io.countdownd.LimitReached"
        case storageFailed = "io.countdownd.StorageFailed"
        case unreachable = "io.countdownd.Unreachable"
    }

    /// The key of the countdown that the error is about; nil if it is about none.
    public var key: String? {
        switch self {
        case .noSuchCountdown(let key): key
        case .alreadyRunning(let countdown, _), .revisionMismatch(let countdown), .wrongState(let countdown):
            countdown.key
        case .historyTrimmed, .limitReached, .storageFailed, .unreachable: nil
        }
    }

    /// The name of the error.
    public var name: WireName {
        switch self {
        case .noSuchCountdown: .noSuchCountdown
        case .alreadyRunning: .alreadyRunning
        case .revisionMismatch: .revisionMismatch
        case .wrongState: .wrongState
        case .historyTrimmed: .historyTrimmed
        case .limitReached: .limitReached
        case .storageFailed: .storageFailed
        case .unreachable: .unreachable
        }
    }
}

extension CountdownError: ReplyError {
    /// The name on the wire, with the interface.
    public var errorName: String { name.rawValue }

    /// Writes the parameters of the error.
    public func encodeParameters(into writer: inout JSONWriter) {
        switch self {
        case .noSuchCountdown(let key):
            writer.member("key", key)
        case .alreadyRunning(let countdown, let retryAfter):
            writer.member("countdown", countdown)
            writer.memberIfPresent("retryAfterUSec", retryAfter?.microseconds)
        case .revisionMismatch(let countdown), .wrongState(let countdown):
            writer.member("countdown", countdown)
        case .historyTrimmed(let oldestRevision):
            writer.member("oldestRevision", oldestRevision)
        case .limitReached(let limit, let maximum):
            writer.member("limit", limit)
            writer.member("maximum", maximum)
        case .storageFailed(let reason), .unreachable(let reason):
            writer.member("reason", reason)
        }
    }

    /// The error of that name with the parameters of its reply, in an object that was entered. Unknown members, which a
    /// newer daemon may add, are skipped.
    ///
    /// - Throws: the name of the member that is missing or invalid.
    public init(_ name: WireName, from reader: inout JSONReader) throws(InvalidParameter) {
        switch name {
        case .noSuchCountdown: self = .noSuchCountdown(key: try reader.member("key"))
        case .alreadyRunning:
            let retryAfterUSec: Int64? = try reader.memberIfPresent("retryAfterUSec")
            let retryAfter = retryAfterUSec.map(Duration.microseconds)
            self = .alreadyRunning(try reader.member("countdown"), retryAfter: retryAfter)
        case .revisionMismatch: self = .revisionMismatch(try reader.member("countdown"))
        case .wrongState: self = .wrongState(try reader.member("countdown"))
        case .historyTrimmed: self = .historyTrimmed(oldestRevision: try reader.member("oldestRevision"))
        case .limitReached:
            self = .limitReached(limit: try reader.member("limit"), maximum: try reader.member("maximum"))
        case .storageFailed: self = .storageFailed(reason: try reader.member("reason"))
        case .unreachable: self = .unreachable(reason: try reader.member("reason"))
        }
        reader.skipMembers()
    }
}
