import IPC

/// A client that follows everything, and comes back with the newest revision that it has seen.
final class Witness {
    private var client: Client?
    private var since: Int64?
    private var path = ""
    private(set) var isSynced = false
    /// Whether it may be told that its revision is not known, and how often it was told so.
    var mayStartOver = false
    private(set) var newStarts = 0
    /// What it was told first of all; what had ended before is none of its business.
    private var firstRevision: Int64?
    /// The endings that it was told, by their revisions; those of countdowns to be forgotten too.
    private(set) var endings: [Int64: Countdown] = [:]
    /// What is live, as far as it knows.
    private(set) var live: [String: Countdown] = [:]
    private(set) var faults: [String] = []
    private(set) var counts = Counts()
    var facts = Facts()

    /// For poll(2); nil where there is no connection.
    var descriptor: Int32? { client?.descriptor }

    func connect(to path: String) throws {
        self.path = path
        client = try Client(connectingTo: path)
        isSynced = false
        if since != nil { counts.resumptions += 1 }
        try? client?.start(streaming: Watch(match: ["*"], tickUSec: 0, since: since))
    }

    /// Takes what it was told; false where the connection has broken off.
    func proceed() -> Bool {
        while take(until: .passed) {}
        return client != nil
    }

    /// Takes what was told before the daemon ended.
    func drain() {
        while take(until: nil) {}
    }

    /// Takes replies until all that there was has been told.
    func sync() {
        while !isSynced, take(until: .after(microseconds: 30_000_000)) {}
    }

    /// Takes what it was told, a heartbeat's time after the last of it.
    func proceedToEnd() {
        while take(until: .passed) {}
    }

    private func take(until deadline: Client.Deadline?) -> Bool {
        do throws(ClientError) {
            guard client != nil, let told = try client?.nextReply(to: Watch.self, until: deadline) else { return false }
            for event in told.reply.events { note(event) }
            return true
        } catch {
            client = nil
            if case .countdown(.historyTrimmed) = error, mayStartOver { return startOver() }
            if error != .disconnected { faults.append("a watch since \(since ?? -1) ended with \(error)") }
            return false
        }
    }

    private func startOver() -> Bool {
        newStarts += 1
        since = nil
        live = [:]
        try? connect(to: path)
        return client != nil
    }

    private func note(_ event: Event) {
        counts.events += 1
        if let revision = event.revision {
            if let since, revision < since || revision == since && event.type != .synced {
                faults.append("\(event) was told after revision \(since)")
            }
            since = revision
            firstRevision = firstRevision ?? revision
        }
        isSynced = isSynced || event.type == .synced
        guard let countdown = event.countdown else { return }
        facts.note(countdown)
        live[countdown.key] = countdown.endedUSec == nil ? countdown : nil
        if event.type == .finished || event.type == .cancelled {
            if let known = endings.updateValue(countdown, forKey: countdown.revision) {
                faults.append("an ending was told twice: \(known)")
            }
        }
    }

    /// What it was told and is not so, or is so and it was not told.
    func faults(found: [String: Countdown], stored: Set<Int64>) -> [String] {
        let told = Set(endings.filter { !$0.value.forget }.keys)
        var faults = faults
        if newStarts == 0, let firstRevision {
            faults += stored.subtracting(told).filter { $0 > firstRevision }.sorted().map {
                "the ending \($0) was not told to one who came back"
            }
        }
        faults += told.subtracting(stored).sorted().map { "the ending \($0) was told and is not kept" }
        // A countdown to be forgotten may have ended while the witness was away.
        let live = found.filter { $0.value.endedUSec == nil && !$0.value.forget }.mapValues(\.revision)
        let believed = self.live.filter { !$0.value.forget }.mapValues(\.revision)
        for key in Set(live.keys).union(believed.keys).sorted() where live[key] != believed[key] {
            faults.append("\(key) is at revision \(live[key] ?? 0), and a witness believes \(believed[key] ?? 0)")
        }
        return faults
    }
}
