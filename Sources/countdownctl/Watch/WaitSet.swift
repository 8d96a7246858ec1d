import IPC
import System
import Text
import Varlink

/// Waits for the ends of countdowns, for `wait` and `attach`.
struct WaitLoop {
    private let daemon: DaemonEndpoint
    private let output: Output
    private let interruption: any Waiter
    private let printer: any EventPrinter
    private let tick: Int64?
    private var waitSet: WaitSet

    init(
        _ keys: [String],
        of daemon: DaemonEndpoint,
        output: Output,
        showing watchOutput: WatchOutput
    ) {
        self.daemon = daemon
        self.output = output
        (printer, interruption, tick) = watchOutput
        waitSet = WaitSet(keys)
    }

    /// Waits for the end of all, or of any, and returns the highest exit code of the ended countdowns.
    mutating func run(any: Bool = false, until deadline: MonotonicDeadline? = nil) throws -> ExitCode {
        let following = ResumableWatch(KeySelection(keys: waitSet.keys), tick: tick)
        var stream = try EventStream(following, of: daemon, interruption: interruption)
        while waitSet.hasOpen, !(any && waitSet.hasEnd) {
            switch try stream.next(until: deadline) {
            case .events(let events):
                guard try handle(events) else { return try interrupted() }
            case .notice(.forgotten(let keys), _): guard try lookUp(keys) else { return try interrupted() }
            case .notice(let notice, let sentence): try printer.report(notice, sentence)
            case .timedOut: return try leave(.timedOut) { "still \($0.rawValue)" }
            case .interrupted: return try interrupted()
            }
        }
        try printer.finish()
        return waitSet.exitCode
    }

    /// False if it was interrupted.
    private mutating func handle(_ events: [Event]) throws -> Bool {
        for event in events {
            try printer.show([event])
            if let countdown = event.countdown { _ = waitSet.update(countdown) }
            guard try event.type != .synced || lookUp(waitSet.unseen) else { return false }
        }
        return true
    }

    /// Looks up keys that the watch does not report: they ended before or do not exist. False if it was interrupted.
    private mutating func lookUp(_ keys: [String]) throws -> Bool {
        for key in keys where waitSet.isOpen(key) {
            do {
                guard let found = try daemon.call(Get(key: key), unless: interruption)?.countdown else { return false }
                if waitSet.update(found) { try printer.show([Event(found: found)]) }
            } catch let failure as CommandFailure {
                try handle(failure, of: key)
            }
        }
        return true
    }

    private mutating func handle(_ failure: CommandFailure, of key: String) throws {
        switch failure.exitCode {
        case .unknownKey:
            let wasAlive = waitSet.forget(key)
            try printer.finish()
            output.warn(
                wasAlive
                    ? "\(PrintableText.escape(key)): ended unseen and is no longer known"
                    : "countdownctl: \(failure.sentence)"
            )
        // The watch will notice as well, and ask again when reconnected to the daemon.
        case .unavailable: break
        default: throw failure
        }
    }

    private func interrupted() throws -> ExitCode {
        try leave(interruption.leavingStatus) { $0 == .paused ? "stays paused" : "keeps running" }
    }

    /// Says what becomes of the countdowns that have not ended.
    private func leave(_ status: ExitCode, _ clause: (Countdown.State) -> String) throws -> ExitCode {
        try printer.finish()
        for countdown in waitSet.open.compactMap(waitSet.lastSeen) {
            output.sayStays(countdown, clause(countdown.state))
        }
        return status
    }
}

extension Output {
    /// Says what becomes of a countdown that is not followed any longer.
    func sayStays(_ countdown: Countdown, _ clause: String) {
        let text = CountdownText()
        var countdown = countdown
        if countdown.state == .running, let deadline = countdown.deadlineUSec {
            countdown.remainingUSec = max(0, deadline.clampedDifference(from: text.clock.now))
        }
        say("\(CountdownText.name(countdown)): \(clause), \(text.remaining(countdown))")
    }
}

extension Event {
    /// A countdown that was found by a call, or its end if it has ended.
    fileprivate init(found countdown: Countdown) {
        let end = countdown.state == .cancelled ? Event.Kind.cancelled : .finished
        self.init(
            type: countdown.hasNotEnded ? .attached : end,
            revision: countdown.hasNotEnded ? nil : countdown.revision,
            key: countdown.key,
            remainingUSec: countdown.remainingUSec,
            countdown: countdown
        )
    }
}

/// The keys whose ends are awaited, with their states.
struct WaitSet {
    /// The keys in the order in which they were typed, each once.
    let keys: [String]
    private let members: TextMap<Bool>
    /// The countdowns as they were reported last.
    private var seen: TextMap<Countdown> = [:]
    /// The exit codes of the keys that have ended.
    private var ended: TextMap<ExitCode> = [:]

    init(_ keys: [String]) {
        var members: TextMap<Bool> = [:]
        self.keys = keys.filter { key in
            defer { members[key] = true }
            return members[key] == nil
        }
        self.members = members
    }

    /// Applies a countdown as it is now; returns whether it has ended and was awaited.
    mutating func update(_ countdown: Countdown) -> Bool {
        let key = countdown.key
        guard isOpen(key) else { return false }
        seen[key] = countdown
        switch countdown.state {
        case .running, .paused: break
        case .finished: ended[key] = .success
        case .cancelled: ended[key] = .notRunning
        }
        return !isOpen(key)
    }

    /// Notes that the daemon does not know a key; returns whether there was a countdown, which ended and was forgotten.
    mutating func forget(_ key: String) -> Bool {
        let wasAlive = lastSeen(key) != nil
        ended[key] = .unknownKey
        return wasAlive
    }

    /// The keys that the watch has never reported, to be looked up after `synced`.
    var unseen: [String] { open.filter { seen[$0] == nil } }

    var open: [String] { keys.filter(isOpen) }

    /// Whether there is a key that has not ended.
    var hasOpen: Bool { keys.contains(where: isOpen) }

    /// Whether an awaited countdown has ended; an unknown key does not count.
    var hasEnd: Bool { ended.values.contains { $0 != .unknownKey } }

    /// The last known countdown under a key; nil if it has ended.
    func lastSeen(_ key: String) -> Countdown? { isOpen(key) ? seen[key] : nil }

    /// The worst code of the keys that have ended.
    var exitCode: ExitCode { ended.values.reduce(.success, max) }

    /// Whether the end of a key is awaited.
    func isOpen(_ key: String) -> Bool { ended[key] == nil && members[key] != nil }
}
