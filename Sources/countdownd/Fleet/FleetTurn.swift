import CountdownCore
import Fleet
import FleetWire
import System
import Varlink

/// The steps of a turn that only a member of a fleet takes.
extension Daemon {
    /// Opens the stored state of a member of a fleet.
    static func joinFleet(_ options: Options, _ stored: StoredFleet, at now: Now) -> FleetMember? {
        guard let path = options.backend else { return nil }
        let host = HostID(UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        var member = Member(
            host: host,
            random: SystemRandomNumberGenerator(),
            position: stored.position,
            records: stored.records
        )
        member.options.refusesWithoutEngine = options.withoutBackend == .refuse
        return FleetMember(
            link: BridgeLink(path: path, host: host, firstToken: Token.backend, at: now.boot),
            member: member,
            at: now
        )
    }

    /// Takes in the reports of the bridge. The countdowns that are due must have been expired before.
    func followFleet(_ turn: inout Turn) {
        guard fleet != nil, !turn.isCutShort else { return }
        let now = turn.now
        if storage.hasLostFleet {
            storage.fleetIsReadAgain()
            fleet?.member.readAgain(&timetable)
        }
        fleet?.link.read(at: now.boot)
        if fleet?.link.isTimeToConnect(at: now.boot) == true { fleet?.member.open(&timetable) }
        while turn.fleetEntriesLeft > 0, fleet?.member.wantsStream == false,
            let report = fleet?.link.takeReport(at: now.boot)
        {
            turn.fleetEntriesLeft -= report.size
            switch report {
            case .described(let description): adopt(description, at: now)
            case .clock(let clock):
                clocks.follow(engineOffset: Duration(microseconds: clock.engineLessBootUSec))
                warnOfClock()
                // Everything else is for the instant by that clock.
                (turn.isCutShort, turn.waitsForClock) = (true, true)
                return
            case .refusal(let reason): fleet?.toldRefusal = reason
            case .event(let event):
                fleet?.note(event)
                fleet?.member.receive(event, &timetable, at: now)
            case .answers(let answers, let proposals):
                fleet?.note(answers, to: proposals)
                fleet?.member.receive(answers, to: proposals, &timetable, at: now)
            }
        }
    }

    /// Decides the calls of clients, and sends the proposals to the bridge.
    func propose(_ turn: inout Turn) {
        guard fleet != nil else { return }
        let now = turn.now
        if !timetable.isDue(at: now), !turn.waitsForClock {
            fleet?.member.serve(&timetable, at: now, budget: &turn.fleetKeysLeft)
            if turn.fleetKeysLeft <= 0 { turn.isCutShort = true }
        }
        while fleet?.link.canPropose == true, let proposals = fleet?.member.takeProposals(), !proposals.isEmpty {
            fleet?.link.propose(proposals, &poller, at: now.boot)
        }
        fleet?.link.beat(&poller, at: now.boot)
        takeOutput(&turn)
        if let line = fleet?.watchEngine(at: now) { write(line) }
        if let opening = turn.opening { fleet?.link.follow(opening, &poller, at: now.boot) }
        fleet?.link.update(&poller)
        if fleet?.link.hasReports == true { turn.isCutShort = true }
    }

    private func takeOutput(_ turn: inout Turn) {
        guard let output = fleet?.member.takeOutput() else { return }
        turn.changes.steps += output.changes
        for (number, result) in output.results {
            guard let connection = fleet?.waiting.removeValue(forKey: number) else { continue }
            turn.results.append((ConnectionCall(number: number, connection: connection), result))
        }
        turn.opening = output.opening
        turn.endsWatches = output.endsWatches
        for note in output.notes { write(note, at: turn.now) }
        let position = fleet?.member.stored
        guard !output.records.isEmpty || output.endsWatches || position != fleet?.storedPosition else { return }
        fleet?.storedPosition = position
        turn.changes.fleet = FleetChanges(
            records: output.records,
            position: .some(position),
            oldest: output.endsWatches ? timetable.oldestRevision : nil
        )
    }

    private func adopt(_ description: Describe.Reply, at now: Now) {
        let name = description.namespace
        guard description.shards == 1 else {
            let parts = "the namespace \(name) has \(description.shards) parts"
            fleet?.link.lose("\(parts), and this countdownd follows one: upgrade it", at: now.boot)
            return
        }
        fleet?.description = (description.engine, description.namespace)
        fleet?.member.options.margin = Duration(microseconds: description.marginUSec)
        fleet?.member.options.needsAcknowledgements = description.acknowledgements > 0
        timetable.limits.countdowns = Int(description.countdowns)
    }

    // MARK: Calls

    /// Lets a call that changes something wait for the engine. The calls behind it go on.
    ///
    /// - Returns: nil if it is to be answered at once; false if it has to wait for the replies to the calls before it.
    func share(
        _ request: ClientRequest,
        _ call: Call,
        in session: inout ServerSession,
        of connection: Connection,
        at now: Now
    ) throws -> Bool? {
        let shared: Request
        var isStartAll = false
        switch request {
        case .change(let request): shared = request
        case .startAll(let starts, _) where starts.count > limits.cooldownsInFleet:
            throw translation.limitReached("cooldownsInFleet", limits.cooldownsInFleet)
        case .startAll(let starts, dryRun: false) where !starts.isEmpty:
            (shared, isStartAll) = (.start(starts[0]), true)
        default:
            guard connection.sharedCalls.isEmpty else { return false }
            guard let reason = fleet?.member.silenceReason, request.isAboutCountdowns else { return nil }
            throw translation.unreachable(reason)
        }
        var queued: Request.Start?
        if case .start(let start) = shared, start.ifLive == .wait { queued = start }
        guard queued == nil || connection.sharedCalls.isEmpty else { return false }
        guard let number = fleet?.call(shared, of: connection, at: now) else { return nil }
        if let queued {
            connection.unfinishedReply = .queued(queued, number: number)
        } else {
            let waiting = SharedCalls.SharedCall(number: number, call: call, request: shared, isStartAll: isStartAll)
            connection.sharedCalls.add(waiting, in: &session)
            connection.isHeldUp = connection.sharedCalls.isFull
        }
        return true
    }

    /// Answers a call that has waited for the engine, as soon as the calls before it are answered.
    func answerSharedCall(_ call: ConnectionCall, _ result: CallResult, at now: Now) {
        let connection = call.connection
        connection.isHeldUp = false
        connection.use { session in
            connection.sharedCalls.answer(call.number, in: &session) { answer($0, result, in: &$1, at: now) }
        }
        connections.dirty.append(connection)
        connections.withCalls.append(connection)
    }

    private func answer(
        _ shared: SharedCalls.SharedCall,
        _ result: CallResult,
        in session: inout ServerSession,
        at now: Now
    ) {
        guard shared.isStartAll, case .start(let start) = shared.request else {
            return reply(result, to: shared.request, in: &session, at: now)
        }
        let (isAccepted, countdown, retryAfter): (Bool, KeyedCountdown, Duration?)
        switch result {
        case .changed(_, let made), .attached(let made): (isAccepted, countdown, retryAfter) = (true, made, nil)
        case .refused(.alreadyRunning(let made, let pause)): (isAccepted, countdown, retryAfter) = (false, made, pause)
        default: return reply(result, to: shared.request, in: &session, at: now)
        }
        let limits = timetable.limits
        var room = CooldownRoom(for: start, in: countdown, at: now, isQueuedFor: false, limits: limits)
        // Other starts wait for the key, in its queue or for a deadline within the margin.
        if !isAccepted, retryAfter == nil || room.left > 0 {
            room = CooldownRoom(for: start, in: countdown, at: now, isQueuedFor: true, limits: limits)
        }
        session.reply { translation.write(isAccepted, [room], retryAfter, at: now, into: &$0) }
    }

    /// Ends all watches, because changes between the last event and the next one are not known.
    func endWatches() {
        for connection in connections.all {
            guard case .watching = connection.unfinishedReply else { continue }
            finishReply(of: connection) { $0.fail(translation.historyTrimmed(oldest: timetable.oldestRevision)) }
        }
    }

    // MARK: The log

    /// Logs that the engine is lost.
    private func write(_ line: EngineWatch.Line) {
        switch line {
        case .lost(let reason):
            fleet?.counters.losses += 1
            let sentence = """
                the fleet's engine cannot be reached: \(reason); until it can, changes are refused, and \
                ends are on time
                """
            log.write(.warning, sentence)
        case .stillLost(let reason):
            log.write(.warning, "the fleet's engine still cannot be reached: \(reason)")
        }
    }

    private func write(_ note: Member.Note, at now: Now) {
        fleet?.counters.note(note)
        switch note {
        case .snapshot(.first): log.write(.info, "reading the countdowns of the fleet")
        case .snapshot(.trimmed):
            let sentence = "the log of the fleet begins after the last change known here; reading all countdowns again"
            log.write(.warning, sentence)
        case .snapshot(.diverged):
            let sentence = """
                the fleet's engine has another history: acknowledged changes are lost, or it came back empty, or it is another \
                one; reading all its countdowns, and cancelling those that it does not hold
                """
            log.write(.error, sentence)
        case .live: log.write(.info, "following the countdowns of the fleet")
        case .takenBack(let count):
            let sentence = "the fleet's engine has lost \(count) unanswered changes: they are taken back"
            log.write(.info, sentence)
        case .lost(let reason):
            if let line = fleet?.engineWatch.lose(reason, at: now) { write(line) }
        case .unusable(let key, let fault):
            let sentence = "a countdown of the fleet cannot be changed here: \(fault.text)"
            logLimited(.unusableRecord, sentence, at: now)
            log.write(.debug, "the countdown that cannot be changed is \(key.text)")
        case .postponedTooLate(let key):
            let sentence = "a countdown was postponed elsewhere, and its end had been announced here"
            logLimited(.postponedTooLate, sentence, at: now)
            log.write(.debug, "the countdown that was postponed is \(key.text)")
        }
    }

    /// Warns once if "until 17:30" is another instant for the fleet than for this machine.
    private func warnOfClock() {
        guard let lead = clocks.engineLead, fleet?.hasWarnedOfClock == false else { return }
        guard lead.microseconds.magnitude > 1_000_000 else { return }
        fleet?.hasWarnedOfClock = true
        let direction = lead > .zero ? "ahead of" : "behind"
        let milliseconds = lead.microseconds.magnitude / 1_000
        let sentence = """
            the clock of the fleet's engine is \(milliseconds) ms \(direction) the system clock; deadlines are kept by the \
            engine's clock
            """
        log.write(.warning, sentence, fields: ["LEAD_USEC": "\(lead.microseconds)"])
    }
}

extension BridgeLink.Report {
    /// How many records are to be looked at.
    fileprivate var size: Int {
        switch self {
        case .event(.page(let entries, _)), .event(.changes(let entries)): entries.count
        case .answers(let answers, _): answers.count
        case .described, .clock, .refusal, .event: 1
        }
    }
}
