import Backend
import RESP

/// An entry of a shard's log.
struct LogEntry {
    let version: Int64
    /// Nil if the entry is not a change.
    let entry: Follow.Entry?

    /// Nil if the value is not an entry of a stream.
    init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 2,
            let version = (parts[0].text?.prefix { $0 != "-" }).flatMap({ Int64($0) })
        else { return nil }
        self.version = version
        let fields = parts[1].elements ?? []
        guard fields.count == 4, fields[0].text == "key", fields[2].text == "record", let key = fields[1].text,
            let entry = fields[3].text.flatMap({ Follow.Entry(key: key, held: $0) }), entry.version == version
        else {
            self.entry = nil
            return
        }
        self.entry = entry
    }
}

/// The state of a shard's log, to compare with the last change that a follower has.
struct LogPosition {
    enum Verdict: Equatable {
        case resumed
        case trimmed(String)
        case diverged(String)
    }

    /// The shard's version; nil if it has none.
    var version: Int64?
    /// The first entries from the follower's version on, at most two.
    var entries: [LogEntry]
    /// The first entry of the log; nil if it is empty.
    var first: LogEntry?
    /// The version of the first change that was ever added to this log; nil if the log is empty.
    var origin: Int64?

    /// - Parameters:
    ///   - version: the shard's version.
    ///   - range: the reply of XRANGE from the follower's version on.
    ///   - information: the reply of XINFO STREAM, an error if there is no log.
    init(version: Int64?, from range: RESPValue, information: RESPValue) {
        self.version = version
        entries = (range.elements ?? []).compactMap { LogEntry($0) }
        let fields = information.elements ?? []
        func field(_ name: String) -> RESPValue? {
            stride(from: 0, to: fields.count - 1, by: 2).first { fields[$0].text == name }.map { fields[$0 + 1] }
        }
        first = field("first-entry").flatMap { LogEntry($0) }
        guard let added = field("entries-added")?.number,
            let last = (field("last-generated-id")?.text?.prefix { $0 != "-" }).flatMap({ Int64($0) })
        else { return }
        origin = last.subtractingReportingOverflow(added).partialValue &+ 1
    }

    /// Whether the log continues the last change that a follower has.
    func verdict(on last: Follow.Position) -> Verdict {
        guard let version else { return .diverged("the engine holds nothing of this shard") }
        guard version >= last.version else {
            return .diverged(
                "the engine is at version \(version), before version \(last.version) which it had made known"
            )
        }
        if let held = entries.first, held.version == last.version {
            guard last.id == nil || held.entry?.id == last.id else {
                return .diverged("the engine has another change at version \(last.version)")
            }
            let next = entries.dropFirst().first
            guard version == last.version ? next == nil : next?.version == last.version &+ 1 else {
                return .diverged("the log has a gap after version \(last.version)")
            }
            return .resumed
        }
        // The version of a shard that had nothing has no entry.
        if last.id == nil, version == last.version || first?.version == last.version &+ 1 { return .resumed }
        guard let first else { return .trimmed("the log is empty") }
        guard first.version > last.version else {
            return .diverged("the log has no version \(last.version), though it begins earlier")
        }
        // A log that was trimmed and a new log differ in the number of entries that were ever added.
        if let origin, origin > last.version &+ 1 {
            return .diverged("the log was made anew at version \(origin), after version \(last.version)")
        }
        return .trimmed("the log begins at version \(first.version), after version \(last.version)")
    }
}
