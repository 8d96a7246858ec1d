import Glibc
import TestSupport

/// A client that makes calls and checks each answer against the call and the history.
final class Caller {
    let name: String
    private let history: History
    private(set) var connection: RawConnection?
    private var pending: [(call: Call, known: History.Known)] = []
    /// The countdowns of the replies to a List that continues.
    private var pages: [Countdown] = []
    private(set) var answered = 0
    var lists: [ListAnswer] = []

    init(_ name: String, history: History) {
        self.name = name
        self.history = history
    }

    var pendingCount: Int { pending.count }
    /// The key of the Wait that is pending.
    var awaitedKey: String? { pending.first?.call.parameters.key }

    func connect(to daemon: DaemonProcess) throws {
        connection = try daemon.connect()
        pending = []
        pages = []
    }

    func disconnect() { connection = nil }

    func send(_ call: Call) throws {
        pending.append((call, history.known(of: call.parameters.key)))
        try connection?.send(message: call.message)
    }

    func receive(_ message: String) throws {
        let reply = try Reply(message)
        guard let (call, known) = pending.first else { return history.check(false, "\(name): a reply to no call") }
        if reply.continues ?? false {
            pages += reply.parameters?.countdowns ?? []
            return history.check(call.more ?? false, "\(name): \(call.method) continues")
        }
        pending.removeFirst()
        answered += 1
        if let error = reply.errorName {
            receive(error: error, reply, to: call, known)
        } else if let countdown = reply.parameters?.countdown {
            receive(countdown, reply.parameters?.outcome, to: call, known)
        } else if let countdowns = reply.parameters?.countdowns {
            receive(pages + countdowns, to: call, known)
            pages = []
        } else {
            let revision = reply.parameters?.revision ?? 0
            history.check(
                revision >= known.revision,
                "\(name): GetStatus at \(revision), but \(known.revision) was known"
            )
            history.check(reply.parameters?.oldestRevision ?? .max <= revision, "\(name): \(message)")
            history.observe(revision: revision)
        }
    }

    // MARK: Answers

    private func receive(_ countdown: Countdown, _ outcome: String?, to call: Call, _ known: History.Known) {
        let source = "\(name), \(call.method) \(outcome ?? "")"
        history.check(countdown.key == call.parameters.key, "\(source): \(countdown)")
        history.checkFresh(countdown, known: known, in: source)
        history.observe(countdown, in: source)
        history.check(agrees(countdown, outcome, with: call), "\(source) answers \(call.parameters): \(countdown)")
        let types: [String: Set<String>] = [
            "started": ["started"], "restarted": ["restarted"], "extended": ["adjusted"], "Pause": ["paused"],
            "Resume": ["resumed"], "Adjust": ["adjusted", "finished"], "Cancel": ["cancelled"], "Finish": ["finished"],
        ]
        guard let types = types[outcome ?? call.method] else { return }
        let condition = call.parameters.ifRevision
        history.observeChange(countdown, types: types, condition: condition, known: known, in: source)
    }

    private func agrees(_ countdown: Countdown, _ outcome: String?, with call: Call) -> Bool {
        let asked = call.parameters
        let forget = asked.forget ?? false
        switch outcome ?? call.method {
        case "started", "restarted":
            let isAsAsked =
                asked.deadlineUSec.map { countdown.deadlineUSec == $0 && countdown.clock == "wall" }
                ?? (countdown.durationUSec == asked.durationUSec ?? 60_000_000 && countdown.clock == "elapsed")
            let ends = countdown.startedUSec + countdown.durationUSec == countdown.deadlineUSec
            return countdown.isRunning && isAsAsked && ends && countdown.label == asked.label
                && countdown.metadata ?? [:] == asked.metadata ?? [:] && countdown.forget == forget
        case "extended":
            return countdown.isAlive && (asked.label == nil || asked.label == countdown.label)
                && countdown.remainingUSec <= asked.upToUSec ?? .max
                && (asked.ifRunning != "later" || agrees(countdown, extendedByLater: asked))
        case "attached":
            let isLate = countdown.remainingUSec >= asked.durationUSec ?? 0 || asked.maxDurationUSec != nil
            return countdown.isAlive && (asked.ifRunning != "later" || isLate)
        case "Pause": return countdown.isPaused
        case "Resume": return countdown.isRunning && countdown.clock == "elapsed"
        case "Adjust":
            return asked.deadlineUSec.map { countdown.deadlineUSec == $0 && countdown.clock == "wall" }
                ?? (countdown.isAlive || countdown.state == "finished")
        case "Cancel": return countdown.state == "cancelled"
        case "Finish": return countdown.state == "finished"
        case "Wait": return !countdown.isAlive
        default: return true
        }
    }

    /// Whether the remaining time is the requested one, or if there is a bound, less.
    private func agrees(_ countdown: Countdown, extendedByLater asked: Parameters) -> Bool {
        if let deadline = asked.deadlineUSec { return countdown.deadlineUSec == deadline && countdown.clock == "wall" }
        let duration = asked.durationUSec ?? 60_000_000
        let most = asked.maxDurationUSec ?? .max
        return countdown.clock == "elapsed"
            && (countdown.remainingUSec == duration
                || countdown.remainingUSec < duration && countdown.durationUSec == most)
    }

    /// Whether a Start may be refused because of a countdown, with this time to wait.
    private func agrees(_ countdown: Countdown, refused asked: Parameters, _ retryAfter: Int?) -> Bool {
        let duration = asked.durationUSec ?? 60_000_000
        switch (asked.ifRunning, asked.upToUSec) {
        case ("fail", nil): return countdown.isAlive && (retryAfter == nil || retryAfter == countdown.remainingUSec)
        case ("extend", let upTo?):
            // Without a time calls queue for the key, or it is paused.
            guard let retryAfter else { return countdown.isAlive }
            return countdown.isRunning && retryAfter > 0 && retryAfter == countdown.remainingUSec + duration - upTo
        case ("wait", _): return asked.queueUpTo != nil && retryAfter == nil && countdown.isAlive
        default: return false
        }
    }

    private func receive(_ countdowns: [Countdown], to call: Call, _ known: History.Known) {
        for countdown in countdowns {
            let known = History.Known(revision: known.revision, record: nil, keptEnd: nil)
            history.checkFresh(countdown, known: known, in: "\(name), List")
            history.observe(countdown, in: "\(name), List")
        }
        if call.more == nil {
            lists.append(ListAnswer(parameters: call.parameters, known: known.revision, countdowns: countdowns))
        } else {
            let found = Set(countdowns.map(\.key))
            for key in call.parameters.keys ?? [] where history.known(of: key).record?.isPaused ?? false {
                history.check(found.contains(key), "\(name): a List in pages misses \(key)")
            }
        }
    }

    private func receive(error: String, _ reply: Reply, to call: Call, _ known: History.Known) {
        let source = "\(name), \(call.method): \(error)"
        let countdown = reply.parameters?.countdown
        if let countdown {
            history.checkFresh(countdown, known: known, in: source)
            history.observe(countdown, in: source)
        }
        let isRight: Bool
        switch (error, call.method) {
        case ("NoSuchCountdown", _):
            history.checkUnknown(known, in: source)
            isRight = call.method != "Start"
        case ("AlreadyRunning", "Start"):
            isRight = countdown.map { agrees($0, refused: call.parameters, reply.parameters?.retryAfterUSec) } ?? false
        case ("RevisionMismatch", _): isRight = countdown.map { $0.revision != call.parameters.ifRevision } ?? false
        case ("WrongState", "Start"):
            let asked = call.parameters
            isRight = asked.ifRunning == "later" && asked.deadlineUSec != nil && countdown?.isPaused == true
        case ("WrongState", "Pause"): isRight = countdown.map { !$0.isRunning } ?? false
        case ("WrongState", "Resume"): isRight = countdown.map { !$0.isPaused } ?? false
        case ("WrongState", "Adjust"):
            isRight = countdown.map { !$0.isRunning && !($0.isPaused && call.parameters.byUSec != nil) } ?? false
        case ("WrongState", "Cancel"), ("WrongState", "Finish"): isRight = countdown.map { !$0.isAlive } ?? false
        case ("InvalidParameter", _):
            // A deadline may have passed on the way.
            isRight =
                reply.parameters?.parameter == "deadlineUSec" && call.parameters.deadlineUSec ?? .max <= systemClock()
        default: isRight = false
        }
        history.check(isRight, "\(source) answers \(call.parameters)")
    }
}

/// Microseconds since 1970.
func systemClock() -> Int {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec * 1_000_000 + time.tv_nsec / 1_000
}
