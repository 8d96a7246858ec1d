import IPC
import System

/// A client that watches everything, and resumes with the newest revision that it has seen.
final class WatchClient {
    /// Everything that it has received.
    struct Memory: Sendable {
        fileprivate(set) var since: Int64?
        /// The first revision that it received; it need not know of earlier ends.
        fileprivate var firstRevision: Int64?
        /// The ends that it received, by their revisions, also those of countdowns with forget.
        fileprivate(set) var endings: [Int64: Countdown] = [:]
        /// The live countdowns, as far as it knows.
        fileprivate var live: [String: Countdown] = [:]
        fileprivate(set) var facts = Facts()
    }

    private var client: Client?
    private(set) var memory: Memory
    private var path = ""
    private(set) var isSynced = false
    /// Differences that are not faults.
    var allowance = Ledger.Allowance()
    /// How often the daemon answered that the history after its revision is trimmed.
    private(set) var newStarts = 0
    private(set) var faults: [String] = []

    init(memory: Memory = Memory()) {
        self.memory = memory
    }

    var facts: Facts { memory.facts }

    func connect(to path: String) throws {
        self.path = path
        client = try Client(at: path)
        isSynced = false
        try? client?.start(Watch(match: ["*"], tick: .zero, since: memory.since), more: true)
    }

    /// Receives replies that have arrived; false if the connection was closed.
    func proceed() -> Bool {
        while take(until: .passed) {}
        return client != nil
    }

    /// Receives everything that the daemon sent before it ended.
    func drain() {
        while take(until: nil) {}
    }

    /// Receives replies until `synced`.
    func sync() {
        while !isSynced, take(until: .after(microseconds: 30_000_000)) {}
    }

    private func take(until deadline: MonotonicDeadline?) -> Bool {
        do throws(ClientError) {
            guard client != nil, let told = try client?.nextReply(to: Watch.self, until: deadline) else { return false }
            for event in told.reply.events { note(event) }
            return true
        } catch {
            client = nil
            if case .countdown(.historyTrimmed) = error, allowance.endsAgain { return startOver() }
            if error != .disconnected { faults.append("a watch since \(memory.since ?? -1) ended with \(error)") }
            return false
        }
    }

    private func startOver() -> Bool {
        newStarts += 1
        memory.since = nil
        memory.live = [:]
        try? connect(to: path)
        return client != nil
    }

    private func note(_ event: Event) {
        if let revision = event.revision {
            if let since = memory.since, revision < since || revision == since && event.type != .synced {
                faults.append("\(event) was told after revision \(since)")
            }
            memory.since = revision
            memory.firstRevision = memory.firstRevision ?? revision
        }
        isSynced = isSynced || event.type == .synced
        guard let countdown = event.countdown else { return }
        memory.facts.note(countdown)
        memory.live[countdown.key] = countdown.endedUSec == nil ? countdown : nil
        if event.type == .finished || event.type == .cancelled {
            if let known = memory.endings.updateValue(countdown, forKey: countdown.revision) {
                faults.append("an ending was told twice: \(known)")
            }
        }
    }

    /// Ends and states that it received wrongly, or should have received.
    func faults(found: [String: Countdown], stored: Set<Int64>) -> [String] {
        let told = Set(memory.endings.filter { !$0.value.forget }.keys)
        var faults = faults + repeated
        if newStarts == 0, let firstRevision = memory.firstRevision {
            faults += stored.subtracting(told).filter { $0 > firstRevision }.sorted().map {
                "the end \($0) was not delivered to a watch that resumed"
            }
        }
        if !allowance.endsAgain {
            let oldest = allowance.trimmed ? stored.min() ?? .max : 0
            faults += told.subtracting(stored).filter { $0 > oldest }.sorted().map {
                "the end \($0) was delivered and is not kept"
            }
        }
        // A countdown with forget may have ended while the watch client was away.
        let live = found.filter { $0.value.endedUSec == nil && !$0.value.forget }.mapValues(\.revision)
        let believed = memory.live.filter { !$0.value.forget }.mapValues(\.revision)
        for key in Set(live.keys).union(believed.keys).sorted()
        where live[key] != believed[key] && !hasEnded(key, since: live[key]) {
            faults.append("\(key) is at revision \(live[key] ?? 0), and a watch client believes \(believed[key] ?? 0)")
        }
        return faults
    }

    /// Whether a countdown that the list returned as live had ended before the watch was synced.
    private func hasEnded(_ key: String, since revision: Int64?) -> Bool {
        guard let revision else { return false }
        return memory.endings.values.contains { $0.key == key && $0.revision > revision }
    }

    /// Countdowns that have ended more than once.
    private var repeated: [String] {
        let most = allowance.endsAgain ? 2 : 1
        return Dictionary(grouping: memory.endings.values) { "\($0.key), started \($0.startedUSec)" }
            .filter { $0.value.count > most }
            .map { "\($0.key) has ended \($0.value.count) times: \($0.value)" }
    }
}
