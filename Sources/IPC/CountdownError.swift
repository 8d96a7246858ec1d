extension CountdownError {
    /// The key of the countdown that the error is about; nil if it is about none.
    public var key: String? {
        switch self {
        case .noSuchCountdown(let key): key
        case .alreadyRunning(let countdown, _), .revisionMismatch(let countdown), .wrongState(let countdown):
            countdown.key
        case .historyTrimmed, .limitReached, .storageFailed, .unreachable: nil
        }
    }
}
