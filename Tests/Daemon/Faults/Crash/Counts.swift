import Glibc
import IPC

/// The numbers of a run.
struct Counts: Sendable, CustomStringConvertible {
    /// Daemons that a signal ended, and daemons that ended by themselves.
    var kills = 0
    var killsWhileStarting = 0
    var stops = 0
    /// Calls that were answered, with success or with an error.
    var answered = 0
    var changes = 0
    var refused = 0
    /// Calls that were answered with StorageFailed.
    var failed = 0
    /// Calls that got no answer.
    var cutOff = 0
    /// Connections that broke for another reason than that the daemon closed them.
    var oddEnds: [String] = []
    var resumptions = 0
    var events = 0

    static func + (left: Counts, right: Counts) -> Counts {
        Counts(
            kills: left.kills + right.kills,
            killsWhileStarting: left.killsWhileStarting + right.killsWhileStarting,
            stops: left.stops + right.stops,
            answered: left.answered + right.answered,
            changes: left.changes + right.changes,
            refused: left.refused + right.refused,
            failed: left.failed + right.failed,
            cutOff: left.cutOff + right.cutOff,
            oddEnds: left.oddEnds + right.oddEnds,
            resumptions: left.resumptions + right.resumptions,
            events: left.events + right.events
        )
    }

    var description: String {
        """
        \(kills) kills, \(killsWhileStarting) of them before READY, \(stops) clean stops; \(answered) calls answered: \
        \(changes) changes, \(refused) refused; \(cutOff) cut off; \(resumptions) watches resumed, \(events) events
        """
    }
}

/// The change of each revision; a revision never means two changes.
struct Facts: Sendable {
    private struct Fact: Sendable, Equatable {
        let key: String
        let state: State
        let label: String?
        let durationUSec: Int64
        let startedUSec: Int64
    }

    private var facts: [Int64: Fact] = [:]
    private(set) var faults: [String] = []

    var count: Int { facts.count }

    mutating func note(_ countdown: Countdown) {
        note(
            Fact(
                key: countdown.key,
                state: countdown.state,
                label: countdown.label,
                durationUSec: countdown.durationUSec,
                startedUSec: countdown.startedUSec
            ),
            countdown.revision
        )
    }

    mutating func merge(_ other: Facts) {
        for (revision, fact) in other.facts { note(fact, revision) }
    }

    private mutating func note(_ fact: Fact, _ revision: Int64) {
        if let known = facts.updateValue(fact, forKey: revision), known != fact {
            faults.append("revision \(revision) was given twice: \(known), \(fact)")
        }
    }
}

enum Microseconds {
    /// The system clock.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
