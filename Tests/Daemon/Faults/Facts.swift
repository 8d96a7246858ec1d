import Glibc
import IPC

/// The change of each revision; a revision never means two changes.
struct Facts: Sendable {
    private struct Fact: Sendable, Equatable {
        let key: String
        let state: Countdown.State
        let label: String?
        let durationUSec: Int64
        let startedUSec: Int64
    }

    private var facts: [Int64: Fact] = [:]
    private(set) var faults: [String] = []

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
