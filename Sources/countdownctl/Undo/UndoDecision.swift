import IPC

/// What the service does about a file that no other process has locked.
enum UndoDecision: Equatable {
    /// The change is kept: remove the file.
    case remove
    /// Nothing before the next change of the countdown, or before the instant, in microseconds since 1970.
    case wait(until: Int64?)
    /// A client has moved the end of the countdown, or has paused or resumed it: note it in the file.
    case note
    /// The countdown is unknown, or another program has started the key: start it for the file.
    case start
    /// Undo the change.
    case undo

    /// - Parameters:
    ///   - record: the content of the file.
    ///   - id: the file's name.
    ///   - countdown: the countdown of its key; nil if the daemon knows none.
    ///   - now: microseconds since 1970.
    ///   - boot: the ID of this boot.
    init(_ record: UndoRecord, _ id: String, _ countdown: Countdown?, now: Int64, boot: String) {
        let hasPassed = record.deadlineUSec <= now
        if record.stage == .kept {
            self = .remove
        } else if record.stage == .undoing {
            self = .undo
        } else if let countdown, UndoRecord.isOwn(countdown, id) {
            // A machine without a clock battery begins a boot in the past. When its clock is set, the countdown keeps its remaining
            // time, so it would end late. Only a client changes the duration, or resumes it.
            let isLaterBoot = record.boot != boot && record.pausedUSec == nil
            switch countdown.state {
            case .finished, .cancelled: self = .undo
            case .paused: self = record.pausedUSec == countdown.remainingUSec ? .wait(until: nil) : .note
            case .running where isLaterBoot && countdown.durationUSec == record.durationUSec:
                self = hasPassed ? .undo : .wait(until: record.deadlineUSec)
            case .running:
                let isNoted = countdown.deadlineUSec == record.deadlineUSec && record.pausedUSec == nil
                self = isNoted ? .wait(until: nil) : .note
            }
        } else {
            // The instant in the file of a paused change says nothing.
            self = hasPassed && record.pausedUSec == nil ? .undo : .start
        }
    }

    /// The decision while no daemon answers.
    ///
    /// - Parameters:
    ///   - record: the content of the file.
    ///   - isFollowed: whether the service has seen, since the last change of the file, that the countdown is as the file says.
    ///     Otherwise a client may have moved the end, and the change is undone late rather than early.
    ///   - now: microseconds since 1970.
    init(withoutDaemon record: UndoRecord, isFollowed: Bool, now: Int64) {
        if record.stage == .undoing {
            self = .undo
        } else if record.stage == .kept || !isFollowed || record.pausedUSec != nil {
            self = .wait(until: nil)
        } else {
            self = record.deadlineUSec <= now ? .undo : .wait(until: record.deadlineUSec)
        }
    }
}
