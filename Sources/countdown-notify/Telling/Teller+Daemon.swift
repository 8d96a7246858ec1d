import IPC

/// What the daemon tells.
extension Teller {
    /// Notes that a watch of endings begins, which tells first what happened before.
    mutating func beginWatch() { isCatchingUp = true }

    /// Notes that the daemon is gone.
    mutating func loseDaemon() { isCatchingUp = false }

    /// Takes events of the watch of endings.
    ///
    /// - Parameters:
    ///   - events: in the order in which they came.
    ///   - since: the revision up to which all has been received with them.
    mutating func take(_ events: [Event], since: Int64?) {
        for event in events {
            switch event.type {
            case .finished: take(ending: event)
            case .synced:
                isCatchingUp = false
                floor = nil
                isRecordDue = true
            case .heartbeat: isRecordDue = true
            default: break
            }
        }
        seen = since ?? seen
        lastEnding = lastEnding ?? seen
    }

    private mutating func take(ending event: Event) {
        guard let countdown = event.countdown, countdown.revision > floor ?? .min else { return }
        backlog.append(countdown)
    }

    /// Notes that the daemon does not keep all that ended since the revision that was told last, but what came after
    /// `oldest`.
    mutating func noteGap(_ oldest: Int64) {
        floor = backlog.newestRevision ?? lastEnding
        self.oldest = oldest
        backlog.noteGap()
    }

    /// Takes events of the watch of progress.
    mutating func show(_ events: [Event]) {
        for event in events {
            if let number = board.take(event) { close(number) }
        }
    }

    /// Takes away all progress that is shown.
    mutating func hideProgress() {
        for number in board.clear() { close(number) }
    }

    /// Notes that the record could not be written, so that it is tried again.
    mutating func keepRecordDue() { isRecordDue = true }

    /// What to write into the record; nil where there is no need.
    mutating func takeRecord() -> Told? {
        guard isRecordDue else { return nil }
        isRecordDue = false
        return told
    }
}
