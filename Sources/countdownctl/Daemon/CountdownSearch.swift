import IPC
import Text
import Varlink

extension CooldownMark {
    /// The metadata with a random token, by which a caller whose reply was lost recognizes its own start.
    static func ownMetadata() -> TextMap<String> {
        metadata.merging([token: FollowState.randomToken])
    }

    static let token = FollowState.tokenName
}

extension Client {
    /// How many countdowns are asked for first, to find the one that ends first without listing all.
    private static let sample = 32

    /// All pages of a list together. If a countdown changed meanwhile and appears twice, the last one counts.
    mutating func list(_ request: List) throws(ClientError) -> [Countdown] {
        var places: TextMap<Int> = [:]
        var countdowns: [Countdown] = []
        try start(request, more: true)
        var continues = true
        while continues {
            guard let page = try nextReply(to: List.self) else { break }
            for countdown in page.reply.countdowns {
                if let place = places[countdown.key] {
                    countdowns[place] = countdown
                } else {
                    places[countdown.key] = countdowns.count
                    countdowns.append(countdown)
                }
            }
            continues = page.continues
        }
        return countdowns.filter { request.states?.contains($0.state) ?? true }
    }

    /// The countdown that a word stands for now. Throws `noSuchCountdown` with the word if no countdown fits it.
    mutating func find(_ reference: CountdownReference) throws(ClientError) -> Countdown {
        let found =
            switch reference {
            case .next: try soonest()
            case .last: try timers(List()).max { $0.startOrder < $1.startOrder }
            }
        guard let found else { throw .countdown(.noSuchCountdown(key: reference.rawValue)) }
        return found
    }

    /// The paused countdown that was changed last, which is usually the last one to be paused; nil if no countdown is paused.
    mutating func lastPaused() throws(ClientError) -> Countdown? {
        try timers(List(states: [.paused])).max { $0.revision < $1.revision }
    }

    /// The last countdown that finished, among the ends that the daemon keeps; nil if no countdown finished. Cancelled
    /// countdowns do not count. If a countdown was snoozed since then, it is that one, which is running or paused.
    mutating func lastFinished() throws(ClientError) -> Countdown? {
        // Not by their instants, because the system clock may have been set in between.
        let finished = try timers(List(states: [.finished])).max { $0.revision < $1.revision }
        let snoozed = try timers(List(states: [.running, .paused])).filter(SnoozeMark.marks).max {
            $0.startOrder < $1.startOrder
        }
        guard let snoozed, snoozed.startedUSec >= finished?.endedUSec ?? .min else { return finished }
        return snoozed
    }

    /// Makes a change to the countdown of a word. If the word stands for a countdown, the change is made only if the
    /// countdown is still as `search` found it; if it is not, it is looked up once more. The revision is a condition
    /// for a key.
    mutating func change(
        _ word: KeyWord,
        ifRevision revision: Int64? = nil,
        found search: (inout Client, CountdownReference) throws(ClientError) -> Countdown,
        _ make: (inout Client, String, Int64?) throws(ClientError) -> Countdown
    ) throws(ClientError) -> Countdown {
        switch word {
        case .key(let key): return try make(&self, key, revision)
        case .name(let name):
            do {
                return try make(&self, name, revision)
            } catch .countdown(.noSuchCountdown) {
                guard let timers = try? timers(called: name), timers.count == 1 else {
                    throw .countdown(.noSuchCountdown(key: name))
                }
                return try make(&self, timers[0].key, revision)
            }
        case .reference(let reference):
            let found = try search(&self, reference)
            do {
                return try make(&self, found.key, found.revision)
            } catch .countdown(.revisionMismatch), .countdown(.wrongState) {
                let again = try search(&self, reference)
                return try make(&self, again.key, again.revision)
            }
        }
    }

    /// The running and paused timers with a label, or with the key that `timer` makes of it. Capital and small letters are
    /// the same.
    mutating func timers(called name: String) throws(ClientError) -> [Countdown] {
        let (label, key) = (name.lowercased(), TimerKey.make(from: name))
        return try timers(List(match: [TimerKey.prefix + "*"], states: [.running, .paused])).filter {
            $0.key == key || $0.label?.lowercased() == label
        }
    }

    private mutating func soonest() throws(ClientError) -> Countdown? {
        let few = try list(List(soonest: Int64(Self.sample)))
        if let first = few.first(where: { $0.state == .running && $0.isTimer }) { return first }
        let all = few.count < Self.sample ? few : try list(List())
        return all.filter(\.isTimer).min { $0.endsBefore($1) }
    }

    private mutating func timers(_ request: List) throws(ClientError) -> [Countdown] {
        try list(request).filter(\.isTimer)
    }
}

extension Countdown {
    /// Of two that were started in the same microsecond, the one that changed later comes last.
    fileprivate var startOrder: (Int64, Int64) { (startedUSec, revision) }
}

extension DaemonEndpoint {
    /// The key of a word, which is looked up if it stands for a countdown.
    func key(of word: KeyWord) throws(CommandFailure) -> String {
        switch word {
        case .key(let key), .name(let key): return key
        case .reference(let reference):
            return try ask { client throws(ClientError) in try client.find(reference).key }
        }
    }

    /// The countdown under the key of a word, or the only timer with this label if no countdown has the key.
    func countdown(of word: KeyWord) throws(CommandFailure) -> Countdown {
        do {
            return try call(Get(key: key(of: word))).countdown
        } catch {
            guard error.exitCode == .unknownKey, case .name(let name) = word else { throw error }
            let timers = try ask { client throws(ClientError) in try client.timers(called: name) }
            guard timers.count == 1 else { throw CommandFailure(unknown: name, among: timers) }
            return timers[0]
        }
    }
}

extension CommandFailure {
    /// A name is neither a key nor the label of exactly one timer.
    init(unknown name: String, among timers: [Countdown]) {
        guard timers.count > 1 else {
            self.init(.noSuchCountdown(key: name))
            return
        }
        let keys = timers.map { ShellWord.quote($0.key) }.sorted().joined(separator: " or ")
        self.init(.unknownKey, "\(timers.count) timers are called \(quoted(name)): use \(keys)")
    }
}
