import Foundation

/// A countdown as a client has received it.
struct Fact: Decodable, Sendable {
    let key: String
    let state: String
    let durationUSec: Int64
    let remainingUSec: Int64
    let startedUSec: Int64
    let deadlineUSec: Int64?
    let endedUSec: Int64?
    let label: String?
    let metadata: [String: String]?
    let forget: Bool
    let revision: Int64

    /// Whether it is forgotten.
    var isGone: Bool { forget && endedUSec != nil }

    /// Whether both are the same change. The clock offset may be measured anew at another boot.
    func isSame(_ other: Fact) -> Bool {
        let isNear = abs((deadlineUSec ?? 0) - (other.deadlineUSec ?? 0)) < 100_000
        let hasSameRest = state == "running" || remainingUSec == other.remainingUSec && endedUSec == other.endedUSec
        return isRun(other) && state == other.state && forget == other.forget && revision == other.revision && isNear
            && hasSameRest && durationUSec == other.durationUSec
    }

    /// Whether both are of the same run of a countdown.
    func isRun(_ other: Fact) -> Bool {
        key == other.key && label == other.label && metadata == other.metadata
            && abs(startedUSec - other.startedUSec) < 100_000
    }

    /// Whether it is what became of a countdown whose deadline passed while no daemon ran.
    func isEnd(of other: Fact?) -> Bool {
        guard let other, other.state == "running", let deadline = other.deadlineUSec else { return false }
        return state == "finished" && isRun(other) && revision > other.revision && deadline <= Microseconds.now
    }

    var short: String { "\(key) \(state) \(label ?? "") at \(revision)" }
}

/// Everything that clients were told, which is every change, and when.
struct Account: Sendable {
    private(set) var facts: [Int64: Fact] = [:]
    private var tellings: [(record: Int, revision: Int64)] = []
    private(set) var faults: [String] = []

    /// The revisions of all changes, in their order.
    private var order: [Int64] = [0]

    private struct Message: Decodable {
        struct Parameters: Decodable {
            struct Event: Decodable {
                let countdown: Fact?
            }
            let countdown: Fact?
            let countdowns: [Fact]?
            let events: [Event]?
        }
        let parameters: Parameters?
    }

    /// The countdowns in a message.
    static func facts(in message: Data) -> [Fact] {
        guard let parameters = (try? JSONDecoder().decode(Message.self, from: message))?.parameters else { return [] }
        return (parameters.countdowns ?? []) + [parameters.countdown].compactMap(\.self)
            + (parameters.events ?? []).compactMap(\.countdown)
    }

    init(_ messages: [(record: Int, text: Data)]) {
        for (record, text) in messages {
            for fact in Self.facts(in: text) {
                tellings.append((record, fact.revision))
                if let known = facts.updateValue(fact, forKey: fact.revision), !known.isSame(fact) {
                    faults.append("revision \(fact.revision) was given twice: \(known.short), \(fact.short)")
                }
            }
        }
        order += facts.keys.sorted()
    }

    /// The newest revision that was told before a record.
    func newest(before record: Int) -> Int64 {
        tellings.reduce(0) { $1.record <= record ? max($0, $1.revision) : $0 }
    }

    /// Checks that countdowns are the state after some change, and after this revision or a later one.
    func faults(of found: [String: Fact], notBefore floor: Int64) -> [String] {
        // The next daemon may give a revision again that nobody was told.
        let known = found.values.filter { facts[$0.revision]?.isSame($0) ?? false }.map(\.revision)
        let least = max(floor, known.max() ?? 0)
        var state: [String: Fact] = [:]
        // The earlier ends of a key are kept beside a later run, and are all that is left of one that is forgotten.
        var ends: [String: Fact] = [:]
        var first: [String]?
        for revision in order {
            if let fact = facts[revision] {
                if fact.endedUSec != nil, !fact.forget { ends[fact.key] = fact }
                state[fact.key] = fact.isGone ? ends[fact.key] : fact
            }
            guard revision >= least else { continue }
            let faults = differences(of: found, from: state)
            if faults.isEmpty { return [] }
            first = first ?? faults.map { "after \(revision), not before \(floor): \($0)" }
        }
        return first ?? ["nothing is as new as \(least)"]
    }

    private func differences(of found: [String: Fact], from state: [String: Fact]) -> [String] {
        Set(found.keys).union(state.keys).sorted().compactMap { key in
            switch (found[key], state[key]) {
            case (nil, nil): nil
            case (let found?, let known?) where found.isSame(known) || found.isEnd(of: known): nil
            case (let found, let known?)
            where known.forget && (known.deadlineUSec ?? .max) <= Microseconds.now
                && found.map { $0.endedUSec != nil && $0.revision < known.revision } ?? true:
                nil
            case (let found, let known): "\(found?.short ?? "no \(key)") instead of \(known?.short ?? "none")"
            }
        }
    }

    /// The last change of each key.
    var last: [String: Fact] {
        order.reduce(into: [:]) { last, revision in facts[revision].map { last[$0.key] = $0 } }
    }
}
