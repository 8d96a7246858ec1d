extension ServerSession {
    /// A moment in a session's life that it can go back to.
    public struct Mark: Sendable {
        let callInProgress: CallInProgress?
        let isViolated: Bool
        let position: Framer.Position
        let received: Int
        let length: Int
        let takings: Int
    }

    /// The present moment.
    public func mark() -> Mark {
        Mark(
            callInProgress: callInProgress,
            isViolated: isViolated,
            position: framer.position,
            received: framer.received,
            length: outbox.length,
            takings: outbox.takings
        )
    }

    /// Makes the session what it was at the mark: what was answered since is not, and ``next()`` tells the calls since
    /// once more, in the same order. Nothing may have been received or sent in between.
    public mutating func rewind(to mark: Mark) {
        precondition(mark.received == framer.received, "nothing is received between a mark and the way back to it")
        precondition(mark.takings == outbox.takings, "nothing is sent between a mark and the way back to it")
        callInProgress = mark.callInProgress
        isViolated = mark.isViolated
        framer.rewind(to: mark.position)
        outbox.truncate(to: mark.length)
    }
}
