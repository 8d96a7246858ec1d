import Backend
import NIOCore
import RESP
import System

/// Follows a shard for one call of `Follow`: a snapshot or the log from a version, then every change. It keeps no changes: if
/// a message does not continue the changes that were sent, it reads the log. It is confined to the loop.
final class Follower: @unchecked Sendable {
    private enum State {
        /// The engine is lost.
        case off
        /// A command of this follower is under way.
        case reading
        /// The client has to read before this goes on.
        case paused(Step)
        case live
    }

    /// The next thing to read.
    private enum Step {
        /// The place of the cursor in the log.
        case position
        /// The last change, with which a snapshot begins.
        case snapshot
        /// The page of the snapshot at this cursor of HSCAN.
        case page(String)
        /// The log behind the last change.
        case log
    }

    /// Records in a page, and changes in a part of the log. HSCAN takes it for a hint.
    private static let pageCount = 1_000
    /// The bytes of records and keys in a reply.
    private static let replyBytes = 256 << 10

    private unowned let bridge: Bridge
    private let deliver: (Follow.Reply) -> Void
    /// Whether the client has read enough to get more.
    private let isWritable: () -> Bool
    private var state = State.off
    /// The last change that was sent; nil before any.
    private var last: Follow.Position?
    /// The state that announces the snapshot that has to be sent or to be finished, and its reason.
    private var announcement: (state: Follow.State, reason: String)?
    /// The records of the snapshot that cannot be read.
    private var skips = 0
    /// Why the engine was lost, if the client has to read before it is told.
    private var unsentLoss: String?
    private var needsSnapshot: Bool
    /// Whether a message has come that was not delivered.
    private var hasMissed = false
    /// Whether the log was read because of a message that did not continue it.
    private var missedVersion: Int64?
    /// Counts the sessions, so that replies of an earlier one are ignored.
    private var sessions = 0

    init(
        of bridge: Bridge,
        after last: Follow.Position?,
        isWritable: @escaping () -> Bool,
        deliver: @escaping (Follow.Reply) -> Void
    ) {
        self.bridge = bridge
        self.last = last
        needsSnapshot = last == nil
        self.isWritable = isWritable
        self.deliver = deliver
    }

    // MARK: Events

    /// The engine is connected.
    func start() {
        sessions += 1
        hasMissed = false
        missedVersion = nil
        tellLoss()
        perform(needsSnapshot ? .snapshot : .position)
    }

    /// The engine is lost, or was not reached yet.
    func stop(_ reason: String) {
        sessions += 1
        state = .off
        unsentLoss = reason
        tellLoss()
    }

    private func tellLoss() {
        guard let reason = unsentLoss, isWritable() else { return }
        unsentLoss = nil
        deliver(Follow.Reply(state: .lost, reason: reason))
    }

    /// The client has read.
    func resume() {
        tellLoss()
        guard case .paused(let step) = state, isWritable() else { return }
        perform(step)
    }

    /// The offset of the engine's clock has moved.
    func clockMoved(_ clock: ClockOffset) {
        switch state {
        case .off: return
        case _ where isWritable(): deliver(Follow.Reply(state: .clock, clock: clock))
        // The reply that follows the log has the clock.
        case .live: state = .paused(.log)
        case .reading, .paused: return
        }
    }

    /// The shard's version was read; nil if it has none.
    func check(version: Int64?) {
        guard case .live = state, version != last?.version else { return }
        perform((version ?? 0) > (last?.version ?? 0) ? .log : .position)
    }

    /// A message of the channel: lines with a key and a record each in turn.
    func receive(_ message: String) {
        switch state {
        case .off: return
        case .reading, .paused: hasMissed = true
        case .live: deliverMessage(message)
        }
    }

    private func deliverMessage(_ message: String) {
        // A first message without a cursor may have been preceded by others.
        guard last != nil else { return perform(.log) }
        guard isWritable() else {
            state = .paused(.log)
            return
        }
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false)
        var entries: [Follow.Entry] = []
        var next = last
        var step: Step?
        for index in stride(from: 0, to: lines.count, by: 2) where step == nil {
            guard index + 1 < lines.count,
                let entry = Follow.Entry(key: String(lines[index]), held: String(lines[index + 1]))
            else {
                step = .position
                continue
            }
            let held = next?.version ?? 0
            if entry.version == held &+ 1 {
                entries.append(entry)
                next = entry.position
            } else if entry.version > held {
                missedVersion = entry.version
                step = .log
            } else if entry.version == held, let id = next?.id, id != entry.id {
                step = .position
            }
        }
        deliverChanges(entries, upTo: next)
        if let step { perform(step) }
    }

    // MARK: Reading

    // Scripts read at one instant. A full engine refuses every command of a transaction, also those that only read.

    private static let positionScript = """
        return {redis.call('GET', KEYS[1]), redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', 2), \
        redis.pcall('XINFO', 'STREAM', KEYS[2])}
        """

    private static let snapshotScript =
        "return {redis.call('GET', KEYS[1]), redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)}"

    private var keys: NamespaceKeys { bridge.keys }

    private func perform(_ step: Step) {
        guard isWritable() else {
            state = .paused(step)
            return
        }
        state = .reading
        switch step {
        case .position: readPosition()
        case .snapshot: beginSnapshot()
        case .page(let cursor): readPage(cursor)
        case .log: readLog()
        }
    }

    /// Sends commands; the body gets the reply of the last one.
    private func send(_ commands: [RESPCommand], _ body: @escaping (RESPValue) -> Void) {
        guard let connection = bridge.session?.queries else { return }
        let session = sessions
        for (index, command) in commands.enumerated() {
            connection.send(command) { reply in
                guard session == self.sessions else { return }
                switch reply {
                // The bridge stops every follower if the engine is lost.
                case .failure: return
                case .success(.error(let words)):
                    let failure = EngineFailure(reply: words, to: command.name, of: self.bridge.url)
                    self.bridge.endSession(failure)
                case .success(let value): if index == commands.count - 1 { body(value) }
                }
            }
        }
    }

    /// Looks up the last change that was sent in the log.
    ///
    /// - Parameter hasGap: whether the log is known not to go on there.
    private func readPosition(hasGap: Bool = false) {
        guard let last else { return hasGap ? announceSnapshot(.diverged, "the log has a gap") : perform(.log) }
        send([["EVAL", Self.positionScript, "2", keys.version, keys.log, "\(last.version)-0"]]) { reply in
            let parts = reply.elements ?? []
            guard parts.count == 3 else {
                return self.bridge.endSession(
                    EngineFailure("\(self.bridge.url.address) answers EVAL with something else than the script's reply")
                )
            }
            let log = LogPosition(version: parts[0].number, from: parts[1], information: parts[2])
            switch log.verdict(on: last) {
            // Without a change behind the last one there is no gap: what had announced it was no change.
            case .resumed where hasGap && log.version != last.version:
                self.announceSnapshot(.diverged, "the log has a gap after version \(last.version)")
            case .resumed:
                self.deliver(self.reply(.resumed))
                self.perform(.log)
            case .trimmed(let reason): self.announceSnapshot(.trimmed, reason)
            case .diverged(let reason): self.announceSnapshot(.diverged, reason)
            }
        }
    }

    private func announceSnapshot(_ state: Follow.State, _ reason: String) {
        announcement = (state, reason)
        needsSnapshot = true
        perform(.snapshot)
    }

    private func beginSnapshot() {
        if let announcement { deliver(reply(announcement.state, reason: announcement.reason)) }
        skips = 0
        send([["EVAL", Self.snapshotScript, "2", keys.version, keys.log]]) { reply in
            let parts = reply.elements ?? []
            guard parts.count == 2 else {
                return self.bridge.endSession(
                    EngineFailure("\(self.bridge.url.address) answers EVAL with something else than the script's reply")
                )
            }
            let logged = parts[1].elements?.first.flatMap { LogEntry($0) }.map {
                Follow.Position(version: $0.version, id: $0.entry?.id)
            }
            guard let number = parts[0].number else { return self.setFirstVersion() }
            let version = Follow.Position(version: number, id: nil)
            self.last = logged.map { $0.version >= number ? $0 : version } ?? version
            self.perform(.page("0"))
        }
    }

    /// Gives a shard that holds nothing a version, so that its followers have a place in the log. Like the script's, it is the
    /// time, so that no version is used twice.
    private func setFirstVersion() {
        guard let clock else { return bridge.endSession(EngineFailure("\(bridge.url.address) does not tell the time")) }
        let version = BootClock.now + clock.engineLessBootUSec
        send([["SET", keys.version, "\(version)", "NX"]]) { _ in self.perform(.snapshot) }
    }

    private func readPage(_ cursor: String) {
        send([["HSCAN", keys.now, cursor, "COUNT", "\(Self.pageCount)"]]) { reply in
            guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, let pairs = parts[1].elements
            else { return self.bridge.endSession(EngineFailure("\(self.bridge.url.address) sent no page of HSCAN")) }
            var entries: [Follow.Entry] = []
            for index in stride(from: 0, to: pairs.count - 1, by: 2) {
                guard let key = pairs[index].text, let text = pairs[index + 1].text,
                    let entry = Follow.Entry(key: key, held: text)
                else {
                    self.skips += 1
                    continue
                }
                entries.append(entry)
            }
            let isFirst = cursor == "0"
            for part in Self.parts(entries, keepsEmpty: isFirst) {
                self.deliver(
                    Follow.Reply(state: .page, entries: part, last: self.last, clock: isFirst ? self.clock : nil)
                )
            }
            if next == "0" {
                self.needsSnapshot = false
                self.announcement = nil
                self.bridge.note(skips: self.skips)
                self.perform(.log)
            } else {
                self.perform(.page(next))
            }
        }
    }

    private func readLog() {
        hasMissed = false
        let start = last.map { "(\($0.version)-0" } ?? "-"
        send([["XRANGE", keys.log, start, "+", "COUNT", "\(Self.pageCount)"]]) { reply in
            let elements = reply.elements ?? []
            var entries: [Follow.Entry] = []
            var next = self.last
            for element in elements {
                guard let logged = LogEntry(element), let entry = logged.entry,
                    next == nil || logged.version == (next?.version ?? 0) &+ 1
                else { break }
                entries.append(entry)
                next = entry.position
            }
            self.deliverChanges(entries, upTo: next)
            if entries.count < elements.count || (self.missedVersion ?? 0) > (next?.version ?? 0) && elements.isEmpty {
                // The log has a gap, so that the position cannot be in it.
                self.missedVersion = nil
                self.readPosition(hasGap: true)
            } else if elements.count >= Self.pageCount || self.hasMissed {
                self.perform(.log)
            } else {
                self.missedVersion = nil
                self.state = .live
                self.deliver(self.reply(.live))
            }
        }
    }

    // MARK: Replies

    private var clock: ClockOffset? { bridge.clockOffset }

    private func reply(_ state: Follow.State, reason: String? = nil) -> Follow.Reply {
        Follow.Reply(state: state, last: last, clock: clock, reason: reason)
    }

    private func deliverChanges(_ entries: [Follow.Entry], upTo next: Follow.Position?) {
        last = next
        for part in Self.parts(entries, keepsEmpty: false) {
            deliver(Follow.Reply(state: .changes, entries: part, last: part.last?.position))
        }
    }

    /// The entries in parts that fit into a reply each.
    private static func parts(_ entries: [Follow.Entry], keepsEmpty: Bool) -> [[Follow.Entry]] {
        var parts: [[Follow.Entry]] = keepsEmpty ? [[]] : []
        var bytes = 0
        for entry in entries {
            let size = entry.key.utf8.count + (entry.record?.utf8.count ?? 0) + 64
            if parts.isEmpty || bytes + size > replyBytes && bytes > 0 {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(entry)
            bytes += size
        }
        return parts
    }
}

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
