import CountdownCore
import Fleet
import FleetWire

/// The additional state of a daemon whose countdowns a fleet shares: the member, and the link to its bridge.
struct FleetMember: ~Copyable {
    var member: Member
    var link: BridgeLink
    /// The connections of calls that wait for the engine, by the numbers under which the member knows the calls.
    var waiting: [Int: Connection] = [:]
    private var lastNumber = 0
    /// The engine's name and version, and the name of the fleet; nil before the engine was reached.
    var description: (engine: String, namespace: String)?
    /// Whether the engine can be reached.
    var engineWatch: EngineWatch
    var counters = FleetCounters()
    /// Why the engine has refused the last change; nil if it has made it.
    private var refusal: String?
    /// Why the engine makes no changes at present, as the bridge has found out.
    var toldRefusal: String?
    /// The position that was stored last.
    var storedPosition: LogCursor.Position?
    /// Whether a line of the log has said that the system clock differs from the engine's.
    var hasWarnedOfClock = false

    /// A member with an open store.
    init(link: BridgeLink, member: Member, at now: Now) {
        self.link = link
        engineWatch = EngineWatch(at: now)
        self.member = member
        storedPosition = member.cursor.stored ?? member.cursor.position
    }

    /// What the store has of it.
    var stored: StoredFleet { StoredFleet(records: member.records, position: storedPosition) }

    /// When something is due even if nothing happens.
    func next(at now: Now) -> WallInstant? {
        earliest(member.next(at: now), earliest(link.next, engineWatch.next).map(now.wall(of:)))
    }

    /// How much waits now, by the names in `GetStatus`.
    var queues: [String: Int] {
        ["fleetCalls": member.calls - member.queuedCalls, "fleetProposals": link.proposalsInFlight]
    }

    /// Notes whether the engine can be reached.
    ///
    /// - Returns: the line to log.
    mutating func watchEngine(at now: Now) -> EngineWatch.Line? { engineWatch.update(member, at: now) }

    /// Why changes are not made; nil if they are.
    var failure: String? { engineWatch.state == .live ? toldRefusal ?? refusal : engineWatch.reason }

    /// Notes that the engine was lost or found again, or that it has made a change. Replicas may not have acknowledged that.
    mutating func note(_ event: LogCursor.Event) {
        switch event {
        case .changes: if !member.options.needsAcknowledgements { refusal = nil }
        case .live: refusal = nil
        case .resumed, .trimmed, .diverged, .page, .lost: break
        }
    }

    /// Notes the answers to proposals.
    mutating func note(_ answers: [Answer], to proposals: [Proposal]) {
        for case .conflict in answers { counters.conflicts += 1 }
        for (answer, proposal) in zip(answers, proposals) where proposal.record != nil {
            switch answer {
            case .won: refusal = nil
            case .unacknowledged: refusal = "too few replicas have acknowledged the last change"
            case .unknown(let reason), .unreachable(let reason): refusal = reason
            case .conflict, .early, .late: break
            }
        }
    }

    /// Hands in a call of a connection, which waits for its result.
    ///
    /// - Returns: its number.
    mutating func call(_ request: Request, of connection: Connection, at now: Now) -> Int {
        lastNumber += 1
        waiting[lastNumber] = connection
        member.call(lastNumber, request, at: now)
        return lastNumber
    }

    /// Gives up a call that has no result yet. Its proposals go on.
    mutating func withdraw(_ number: Int, of key: Key) {
        if waiting.removeValue(forKey: number) != nil { member.withdraw(number, of: key) }
    }
}

/// The counters of a member of a fleet since its start, for `GetStatus`.
struct FleetCounters {
    /// Proposals that were not made because the key had another record.
    var conflicts = 0
    /// How often every countdown was read again because the log had been trimmed.
    var resyncs = 0
    /// How often every countdown was read again because the engine had another history.
    var divergences = 0
    /// How often the engine was lost.
    var losses = 0
    /// Countdowns that were postponed elsewhere after their end had been announced here.
    var lateChanges = 0

    /// Notes an event of the member.
    mutating func note(_ note: Member.Note) {
        switch note {
        case .snapshot(.trimmed): resyncs += 1
        case .snapshot(.diverged): divergences += 1
        case .postponedTooLate: lateChanges += 1
        case .snapshot(.first), .live, .lost, .unusable, .takenBack: break
        }
    }

    var named: [String: Int] {
        [
            "fleetConflicts": conflicts, "fleetResyncs": resyncs, "fleetDivergences": divergences,
            "fleetLosses": losses, "fleetLateChanges": lateChanges,
        ]
    }
}

extension Options {
    /// The behaviour of a daemon while the engine of its fleet cannot be reached.
    enum WithoutBackend: String, CaseIterable {
        /// It answers calls that change nothing from the countdowns that it knows.
        case serve
        /// It refuses everything but a watch.
        case refuse
    }
}
