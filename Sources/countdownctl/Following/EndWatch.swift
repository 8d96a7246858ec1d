import IPC
import System

/// Waits for the ends of countdowns: what `wait`, `attach` and `start --wait` share.
struct EndWatch {
    /// Starts a countdown once the watch has told all there was, so that nothing is missed of it; nil where it was
    /// interrupted.
    typealias Beginning = (any Waiting) throws -> Start.Reply?

    private let daemon: Daemon
    private let output: Output
    private let interruption: any Waiting
    private var printer: any EventPrinter
    private var vigil: Vigil
    private var start: Beginning?

    init(
        _ keys: [String],
        of daemon: Daemon,
        output: Output,
        showing follower: Follower,
        starting start: Beginning? = nil
    ) {
        self.daemon = daemon
        self.output = output
        printer = follower.printer
        interruption = follower.waiting
        self.start = start
        vigil = Vigil(keys)
    }

    /// Waits for the end of all, or of the first.
    ///
    /// - Parameters:
    ///   - tick: microseconds between ticks, nil for the daemon's rule, 0 for none.
    ///   - any: whether the first end is enough.
    ///   - deadline: when to give up.
    /// - Returns: the worst code of what has ended.
    /// - Throws: that there is no daemon, or that it refuses.
    mutating func run(
        tick: Int64? = nil,
        any: Bool = false,
        until deadline: Client.Deadline? = nil
    ) throws -> CommandStatus {
        let following = Following(Selection(keys: vigil.keys), tick: tick)
        var stream = try EventStream(following, of: daemon, interruption: interruption)
        while vigil.hasOpen, !(any && vigil.hasEnd) {
            switch try stream.next(until: deadline) {
            case .events(let events):
                guard try take(events) else { return try interrupted() }
            case .notice(let notice): try take(notice)
            case .timedOut: return try timedOut()
            case .interrupted: return try interrupted()
            }
        }
        try printer.rest()
        return vigil.status
    }

    /// False where it was interrupted.
    private mutating func take(_ events: [Event]) throws -> Bool {
        for event in events {
            if start == nil { try printer.show([event]) }
            _ = vigil.take(event)
            guard event.type == .synced else { continue }
            guard try start == nil ? lookUp() : begin() else { return false }
        }
        return true
    }

    private mutating func take(_ notice: EventStream.Notice) throws {
        if notice != .back { vigil.beginWatch() }
        try printer.tell(notice, output)
    }

    private mutating func begin() throws -> Bool {
        guard let reply = try start?(interruption) else { return false }
        start = nil
        vigil.begin(reply.countdown)
        // What was told before has not been shown, and nothing more is told of one that goes on unchanged.
        if reply.outcome == .attached { try printer.show([Event(attachedTo: reply.countdown)]) }
        return true
    }

    /// Asks after the keys of which the watch has told nothing: they ended before, or nobody knows them.
    private mutating func lookUp() throws -> Bool {
        for key in vigil.unheard {
            do {
                guard let found = try daemon.call(Get(key: key), unless: interruption)?.countdown else { return false }
                if vigil.take(found) { try printer.show([Event(endOf: found)]) }
            } catch let failure as Failure {
                try take(failure, of: key)
            }
        }
        return true
    }

    private mutating func take(_ failure: Failure, of key: String) throws {
        switch failure.status {
        case .unknownKey:
            let wasAlive = vigil.takeUnknown(key)
            try printer.rest()
            output.warn(
                wasAlive
                    ? "\(PrintableText.escape(key)): ended unseen, and is not kept"
                    : "countdownctl: \(failure.sentence)"
            )
        // The watch will notice as well, and ask again when the daemon is back.
        case .unavailable: break
        default: throw failure
        }
    }

    private mutating func interrupted() throws -> CommandStatus {
        try printer.rest()
        for countdown in vigil.open.compactMap(vigil.lastSeen) {
            let future = countdown.state == .paused ? "stays paused" : "runs on"
            output.say("\(CountdownText.name(countdown)): \(future), \(now(countdown))")
        }
        return interruption.leavingStatus
    }

    private mutating func timedOut() throws -> CommandStatus {
        try printer.rest()
        for countdown in vigil.open.compactMap(vigil.lastSeen) {
            output.say("\(CountdownText.name(countdown)): still \(countdown.state.rawValue), \(now(countdown))")
        }
        return .timedOut
    }

    private func now(_ countdown: Countdown) -> String {
        let text = CountdownText()
        return text.remaining(countdown.at(text.clock.now))
    }
}

extension Event {
    /// A countdown that was found running or paused.
    fileprivate init(attachedTo countdown: Countdown) {
        self.init(
            type: .attached,
            key: countdown.key,
            remainingUSec: countdown.remainingUSec,
            countdown: countdown
        )
    }

    /// The end of a countdown that was found ended.
    fileprivate init(endOf countdown: Countdown) {
        self.init(
            type: countdown.state == .cancelled ? .cancelled : .finished,
            revision: countdown.revision,
            key: countdown.key,
            remainingUSec: countdown.remainingUSec,
            countdown: countdown
        )
    }
}

extension Countdown {
    /// The countdown as it is at an instant in microseconds since 1970, if nothing has happened to it.
    fileprivate func at(_ instant: Int64) -> Countdown {
        guard state == .running, let deadlineUSec else { return self }
        var countdown = self
        countdown.remainingUSec = max(0, deadlineUSec.clampedDifference(from: instant))
        return countdown
    }
}
