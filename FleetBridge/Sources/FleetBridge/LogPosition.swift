import FleetWire
import RESP

/// An entry of the log: the changes of one call of the script.
struct LoggedCall {
    /// The version of the last change.
    let version: Int64
    /// The changes, whose versions have no gaps; empty if the entry has other fields.
    let changes: [Follow.Entry]

    /// Reads an entry of a stream: its ID is the last version, and its fields are keys and records.
    ///
    /// - Returns: nil if the value is not an entry of a stream.
    init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 2,
            let version = (parts[0].text?.prefix { $0 != "-" }).flatMap({ Int64($0) })
        else { return nil }
        self.version = version
        let fields = parts[1].elements ?? []
        var changes: [Follow.Entry] = []
        for index in stride(from: 0, to: fields.count - 1, by: 2) {
            guard let key = fields[index].bytes, let record = fields[index + 1].bytes,
                let change = Follow.Entry(key: key[...], held: record[...]),
                changes.last.map({ change.version == $0.version &+ 1 }) ?? true
            else {
                self.changes = []
                return
            }
            changes.append(change)
        }
        self.changes = changes.last?.version == version ? changes : []
    }

    /// The version of the first change.
    var firstVersion: Int64 { changes.first?.version ?? version }

    /// The changes after a position.
    ///
    /// - Returns: nil if the entry does not continue the log there.
    func changes(after position: Follow.Position?) -> ArraySlice<Follow.Entry>? {
        guard let position else { return changes.isEmpty ? nil : changes[...] }
        let rest = changes.drop { $0.version <= position.version }
        return rest.first?.version == position.version &+ 1 ? rest : nil
    }
}

/// The state of the log, to compare with the last change that a follower has.
struct LogPosition {
    enum Verdict: Equatable {
        case resumed
        case trimmed(String)
        case diverged(String)
    }

    /// The version of the log; nil if it has none.
    var version: Int64?
    /// The version before the first change; nil if it is not known.
    var origin: Int64?
    /// The first entries that end at the follower's version or later, at most two.
    var entries: [LoggedCall]
    /// The first entry of the log; nil if it is empty.
    var first: LoggedCall?

    /// Whether the log continues the last change that a follower has.
    func verdict(on last: Follow.Position) -> Verdict {
        guard let version else { return .diverged("the engine holds nothing of this namespace") }
        guard version >= last.version else {
            return .diverged(
                "the engine is at version \(version), before version \(last.version) which it had made known"
            )
        }
        if let entry = entries.first, entry.firstVersion <= last.version {
            guard last.id == nil || entry.changes.first(where: { $0.version == last.version })?.id == last.id else {
                return .diverged("the engine has another change at version \(last.version)")
            }
            let rest = entry.changes.first { $0.version > last.version }
            let next = rest?.version ?? entries.dropFirst().first?.firstVersion
            guard version == last.version ? next == nil : next == last.version &+ 1 else {
                return .diverged("the log has a gap after version \(last.version)")
            }
            return .resumed
        }
        // The first version of an empty log has no entry.
        if last.id == nil, version == last.version || first?.firstVersion == last.version &+ 1 { return .resumed }
        // A log that lost everything begins with a later version than it had.
        if let origin, origin > last.version {
            return .diverged("the log was made anew at version \(origin), after version \(last.version)")
        }
        guard let first else { return .trimmed("the log is empty") }
        guard first.firstVersion > last.version else {
            return .diverged("the log has no version \(last.version), though it begins earlier")
        }
        return .trimmed("the log begins at version \(first.firstVersion), after version \(last.version)")
    }
}
