import CountdownCore
import IPC
import Varlink

/// What goes out: replies, errors and events.
extension Translation {
    /// Writes the reply to a call that asked for a change.
    func write(
        _ outcome: Outcome,
        of call: Call,
        _ countdown: KeyedCountdown,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        guard call.name == Start.name else { return write(countdown, at: now, into: &writer) }
        write(outcome, countdown, at: now, into: &writer)
    }

    /// Writes the reply to `Start`.
    func write(
        _ outcome: Outcome,
        _ countdown: KeyedCountdown,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        Start.Reply.encode(self.outcome(outcome), told(countdown, at: now), into: &writer)
    }

    /// Writes the reply to `Get` and `Wait`.
    func write(_ countdown: KeyedCountdown, at now: Now, into writer: inout JSONWriter) {
        CountdownReply.encode(told(countdown, at: now), into: &writer)
    }

    private func outcome(_ outcome: Outcome) -> IPC.Outcome {
        switch outcome {
        case .attached: .attached
        case .changed(.started): .started
        case .changed(.restarted): .restarted
        case .changed: .extended
        }
    }

    /// The error reply for a request that was refused.
    func error(_ refusal: Refusal, at now: Now) -> any ReplyError {
        switch refusal {
        case .noSuchCountdown(let key): CountdownError.noSuchCountdown(key: key.text)
        case .alreadyRunning(let countdown): CountdownError.alreadyRunning(self.countdown(countdown, at: now))
        case .revisionMismatch(let countdown): CountdownError.revisionMismatch(self.countdown(countdown, at: now))
        case .wrongState(let countdown): CountdownError.wrongState(self.countdown(countdown, at: now))
        case .limitReached(let limit, let maximum): limitReached("\(limit)", maximum)
        case .outOfRange(.duration): InvalidParameter("durationUSec")
        case .outOfRange(.deadline): InvalidParameter("deadlineUSec")
        case .outOfRange(.adjustment): InvalidParameter("byUSec")
        }
    }

    func noSuchCountdown(_ key: Key) -> some ReplyError {
        CountdownError.noSuchCountdown(key: key.text)
    }

    func historyTrimmed(oldest: Revision) -> some ReplyError {
        CountdownError.historyTrimmed(oldestRevision: oldest.number)
    }

    func storageFailed(_ reason: String) -> some ReplyError {
        CountdownError.storageFailed(reason: reason)
    }

    /// A countdown as an element of a list.
    func element(_ countdown: KeyedCountdown, at now: Now) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { told(countdown, at: now).encode(into: &$0) }
        return writer.bytes
    }

    /// Writes what a change tells, once for all who hear it.
    func write(_ change: Change, at now: Now, into writer: inout JSONWriter) {
        let countdown = change.countdown
        write(type(of: change.kind), countdown, revision: countdown.revision, at: now, into: &writer)
    }

    /// Writes a tick, once for all who hear it.
    func write(_ tick: Watchers.Tick, into writer: inout JSONWriter) {
        let fields = EventFields(type: .tick, remainingUSec: tick.remaining.microseconds)
        writer.object { writer in tick.key.withBytes { fields.encode(key: $0, into: &writer) } }
    }

    /// Writes an event.
    func write(_ told: Told, at now: Now, into writer: inout JSONWriter) {
        switch told {
        case .met(let countdown):
            let revision = countdown.isLive ? nil : countdown.revision
            write(type(of: countdown), countdown, revision: revision, at: now, into: &writer)
        case .clockWasSet(let countdown): write(.adjusted, countdown, revision: nil, at: now, into: &writer)
        case .synced(let revision): write(EventFields(type: .synced, revision: revision.number), into: &writer)
        case .heartbeat(let revision): write(EventFields(type: .heartbeat, revision: revision.number), into: &writer)
        }
    }

    private func write(_ fields: EventFields, into writer: inout JSONWriter) {
        writer.object { fields.encode(key: nil, into: &$0) }
    }

    private func write(
        _ type: EventType,
        _ countdown: KeyedCountdown,
        revision: Revision?,
        at now: Now,
        into writer: inout JSONWriter
    ) {
        var late: Duration?
        if case .finished(_, let span) = countdown.phase { late = span }
        let fields = CountdownFields(countdown, at: now)
        let event = EventFields(
            type: type,
            revision: revision?.number,
            remainingUSec: fields.remainingUSec,
            lateUSec: late?.microseconds,
            countdown: fields
        )
        writer.object { writer in
            countdown.withTexts { key, texts in event.encode(key: key, into: &writer, texts: texts) }
        }
    }

    private func type(of countdown: KeyedCountdown) -> EventType {
        switch countdown.phase {
        case .running, .paused: .attached
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    private func type(of kind: Change.Kind) -> EventType {
        switch kind {
        case .started: .started
        case .restarted: .restarted
        case .adjusted: .adjusted
        case .paused: .paused
        case .resumed: .resumed
        case .finished: .finished
        case .cancelled: .cancelled
        }
    }

    /// The reply to `GetStatus`.
    func status(
        started: WallInstant,
        timetable: borrowing Timetable,
        watchers: Int,
        connections: Int,
        counters: Counters
    ) -> some JSONEncodable {
        GetStatus.Reply(
            version: Version.current,
            startedUSec: started.microseconds,
            running: Int64(timetable.runningCount),
            paused: Int64(timetable.pausedCount),
            watchers: Int64(watchers),
            connections: Int64(connections),
            revision: timetable.revision.number,
            oldestRevision: timetable.oldestRevision.number,
            limits: policy.limits.mapValues { Int64($0) },
            counters: counters.named.mapValues { Int64($0) }
        )
    }

    private func told(_ countdown: KeyedCountdown, at now: Now) -> ToldCountdown {
        ToldCountdown(countdown: countdown, now: now)
    }

    private func countdown(_ countdown: KeyedCountdown, at now: Now) -> IPC.Countdown {
        IPC.Countdown(
            key: countdown.key.text,
            label: countdown.label,
            metadata: countdown.metadata.isEmpty ? nil : countdown.metadata,
            fields: CountdownFields(countdown, at: now)
        )
    }
}

extension CountdownFields {
    fileprivate init(_ countdown: KeyedCountdown, at now: Now) {
        var deadline: WallInstant?
        let state: State
        switch countdown.phase {
        case .running(let until): (state, deadline) = (.running, until.wall(at: now))
        case .paused: state = .paused
        case .finished: state = .finished
        case .cancelled: state = .cancelled
        }
        self.init(
            state: state,
            clock: countdown.clock == .elapsed ? .elapsed : .wall,
            durationUSec: countdown.duration(at: now).microseconds,
            remainingUSec: countdown.remaining(at: now).microseconds,
            startedUSec: countdown.started.microseconds,
            deadlineUSec: deadline?.microseconds,
            endedUSec: countdown.ended?.microseconds,
            forget: countdown.forget,
            revision: countdown.revision.number
        )
    }
}

/// A countdown whose texts are written as the core has them: none is copied.
private struct ToldCountdown: JSONEncodable {
    let countdown: KeyedCountdown
    let now: Now

    func encode(into writer: inout JSONWriter) {
        let fields = CountdownFields(countdown, at: now)
        countdown.withTexts { key, texts in fields.encode(key: key, into: &writer, texts: texts) }
    }
}

extension KeyedCountdown {
    /// Calls the body with the bytes of the key, and with what writes the label and the metadata, where there are any.
    @inline(__always)
    fileprivate func withTexts(_ body: (Span<UInt8>, ((inout JSONWriter) -> Void)?) -> Void) {
        key.withBytes { key in
            guard hasAnnotations else { return body(key, nil) }
            body(key) { writer in
                writer.memberIfPresent("label", label)
                if !metadata.isEmpty { writer.member("metadata", metadata) }
            }
        }
    }
}
