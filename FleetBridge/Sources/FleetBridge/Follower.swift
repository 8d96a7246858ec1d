import FleetWire
import NIOCore
import RESP
import System

/// Follows the log for one call of `Follow`: a snapshot or the log from a version, then every change. It keeps no changes: if
/// a message does not continue the changes that were sent, it reads the log.
@BridgeLoop
final class Follower {
    private enum State {
        /// The engine is lost.
        case off
        /// A command of this follower is under way.
        case reading
        /// The client must read before this continues.
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
        /// The log after the last change.
        case log
    }

    /// Where changes are missing behind the last one.
    private enum Gap {
        case inLog
        case toMessage
    }

    /// Records in a page. HSCAN takes it for a hint.
    private static let pageCount = 1_000
    /// Entries in a part of the log. Each has the changes of a call of the script, up to 4 MiB, so the least number has up to
    /// 64 MiB, which the reader accepts. A session begins with the least number, so that it can read on even if the part that
    /// the session before had asked for was too long.
    private static let logCounts = (least: 16, greatest: 128)
    /// The bytes of a part of the log if its entries are as long as those of the last part. The part must come within 2 s,
    /// also through a slow network.
    private static let logBytes = 256 << 10
    /// The greatest pause before another snapshot.
    private static let longestPause = TimeAmount.seconds(5)
    /// The bytes of records and keys in a reply: the memory of larger ones is taken from the system each time. A reply with
    /// changes of one key may have more, because the client must not end a countdown between the changes of a chain.
    private static let replyBytes = (usual: 64 << 10, ofChain: 1 << 20)

    private let engine: Supervisor
    private let time: EngineTime
    private let deliver: (Follow.Reply) -> Void
    /// Whether the client has read enough to get more.
    private let isWritable: () -> Bool
    private var state = State.off
    /// The last change that was sent; nil before any.
    private var last: Follow.Position?
    /// The state that announces the snapshot that must be sent or finished, and its reason.
    private var announcement: (state: Follow.State, reason: String)?
    /// The records of the snapshot that cannot be read.
    private var skips = 0
    /// When the last snapshot was announced, and the pause before the next one if that is soon.
    private var announced: (at: NIODeadline, pause: TimeAmount)?
    /// Whether the log was given a version in this session.
    private var hasSetVersion = false
    /// Whether the client knows that it has every change up to some time in this session.
    private var isLiveTold = false
    /// Why changes are refused, as the client knows it; nil if they are made.
    private var toldRefusal: String?
    /// Why the engine was lost, if the client must read before the follower can report it.
    private var unsentLoss: String?
    private var needsSnapshot: Bool
    /// Whether a message has come that was not delivered.
    private var hasMissed = false
    /// Entries in the next part of the log.
    private var logCount = Follower.logCounts.least
    /// Whether the log was read because of a message that did not continue it.
    private var missedVersion: Int64?
    /// The beginning of the IDs of the client's own proposals.
    private let host: String?
    /// The versions of own changes that were answered as won, and of which no message has come.
    private var won: Set<Int64> = []
    private var newestWon: Int64 = 0
    /// Counts the sessions, so that replies of an earlier one are ignored.
    private var sessions = 0

    init(
        of engine: Supervisor,
        _ time: EngineTime,
        _ call: Follow,
        isWritable: @escaping () -> Bool,
        deliver: @escaping (Follow.Reply) -> Void
    ) {
        (self.engine, self.time) = (engine, time)
        last = call.after
        host = call.host
        needsSnapshot = last == nil
        self.isWritable = isWritable
        self.deliver = deliver
    }

    // MARK: Events

    /// The engine is connected.
    func start() {
        sessions += 1
        (hasMissed, hasSetVersion, isLiveTold) = (false, false, false)
        missedVersion = nil
        logCount = Self.logCounts.least
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

    /// The offset of the engine's clock has moved, or the engine begins or ceases to refuse changes.
    func report() {
        switch state {
        case .off: return
        case _ where isWritable():
            toldRefusal = engine.refusal
            deliver(Follow.Reply(state: .clock, clock: clock, reason: toldRefusal))
        // The reply that follows the log has the clock.
        case .live: state = .paused(.log)
        case .reading, .paused: return
        }
    }

    /// The version of the log was read; nil if it has none.
    func check(version: Int64?) {
        guard case .live = state, version != last?.version else { return }
        guard let version, version > last?.version ?? 0 else { return perform(.position) }
        // If the log has nothing there, the log was made anew.
        missedVersion = version
        perform(.log)
    }

    /// A message of the channel: lines with a key and a record each in turn.
    func receive(_ message: String) {
        switch state {
        case .off: return
        case .reading, .paused: hasMissed = true
        case .live: deliverMessage(message)
        }
    }

    /// Whether a message begins with a change of the client that was not answered yet.
    func expectsAnswer(for message: String) -> Bool {
        guard case .live = state, let host, let record = message.utf8.firstIndex(of: UInt8(ascii: "\n")),
            let id = message.utf8[record...].firstIndex(of: UInt8(ascii: " "))
        else { return false }
        guard message.utf8[id...].dropFirst().starts(with: host.utf8),
            let version = Int64(message[record..<id].dropFirst())
        else { return false }
        return version > max(newestWon, last?.version ?? .max)
    }

    /// A change of the client was answered as won: it is left out of the messages from now on.
    func noteWon(_ id: String, version: Int64) {
        guard let host, id.hasPrefix(host) else { return }
        newestWon = max(newestWon, version)
        guard case .live = state, version > last?.version ?? .max else { return }
        won.insert(version)
    }

    private func deliverMessage(_ message: String) {
        // A first message without a cursor may have been preceded by others.
        guard last != nil else { return perform(.log) }
        guard isWritable() else {
            state = .paused(.log)
            return
        }
        let limit = 2 * BackendInterface.proposalsLimit
        let lines = Array(message.utf8).split(
            separator: UInt8(ascii: "\n"),
            maxSplits: limit,
            omittingEmptySubsequences: false
        )
        var entries: [Follow.Entry] = []
        var next = last
        var step: Step?
        for index in stride(from: 0, to: lines.count, by: 2) where step == nil {
            guard index + 1 < lines.count,
                let entry = Follow.Entry(key: lines[index], held: lines[index + 1])
            else {
                let place = "\(keys.log) at \(engine.url.address)"
                engine.log.enter(
                    .foreignMessage,
                    .error,
                    "a message in \(place) is no change: the log is read in its place"
                )
                step = .log
                continue
            }
            let held = next?.version ?? 0
            if won.remove(entry.version) != nil, entry.version == held &+ 1 {
                next = entry.position
            } else if entry.version == held &+ 1 {
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
        return {redis.call('GET', KEYS[1]), redis.call('GET', KEYS[3]), \
        redis.call('XRANGE', KEYS[2], ARGV[1], '+', 'COUNT', 2), redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1)}
        """

    private static let snapshotScript =
        "return {redis.call('GET', KEYS[1]), redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)}"

    private static let firstVersionScript =
        "if redis.call('SET', KEYS[1], ARGV[1], 'NX') then redis.call('SET', KEYS[2], ARGV[1]) end"

    private var keys: NamespaceKeys { engine.keys }

    private func perform(_ step: Step) {
        guard isWritable() else {
            state = .paused(step)
            return
        }
        state = .reading
        // The log is sent as it is read.
        won = []
        switch step {
        case .position: readPosition()
        case .snapshot: beginSnapshot()
        case .page(let cursor): readPage(cursor)
        case .log: readLog()
        }
    }

    /// Sends a command; the body gets its reply.
    private func send(_ command: RESPCommand, _ body: @escaping (RESPValue) -> Void) {
        guard let connection = engine.session?.queries else { return }
        let session = sessions
        connection.send(command) { reply in
            guard session == self.sessions else { return }
            switch reply {
            // The bridge stops every follower if the engine is lost.
            case .failure: return
            case .success(.error(let words)):
                self.engine.endSession(EngineFailure(reply: words, to: command.name, of: self.engine.url))
            case .success(let value): body(value)
            }
        }
    }

    /// Gives up an engine whose answer to a command has another form.
    private func refuse(_ command: String) {
        engine.endSession(EngineFailure(unexpectedReplyTo: command, of: engine.url))
    }

    /// Looks up the last change that was sent in the log.
    ///
    /// - Parameter gap: the log does not go on there, or a message was there that the log does not have.
    private func readPosition(_ gap: Gap? = nil) {
        guard let last else { return gap != nil ? announceSnapshot(.diverged, "the log has a gap") : perform(.log) }
        send(["EVAL", Self.positionScript, "3", keys.version, keys.log, keys.origin, "\(last.version)-0"]) { reply in
            let parts = reply.elements ?? []
            guard parts.count == 4, let entries = parts[2].elements, let first = parts[3].elements else {
                return self.refuse("EVAL")
            }
            let log = LogPosition(
                version: parts[0].number,
                origin: parts[1].number,
                entries: entries.compactMap { LoggedCall($0) },
                first: first.first.flatMap { LoggedCall($0) }
            )
            switch log.verdict(on: last) {
            // If only a message was ahead of the log, it was no change, or the log has its change by now.
            case .resumed where gap == .inLog:
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
        isLiveTold = false
        needsSnapshot = true
        // If replicas acknowledge changes, only unanswered changes are lost, and a daemon takes them back.
        let level = state == .trimmed || engine.url.acknowledgements > 0 ? Log.Level.warning : .error
        engine.log.write(level, "\(engine.url.address): \(reason): every record is read again")
        let now = NIODeadline.now()
        guard let announced, now - announced.at < 2 * Self.longestPause else {
            announced = (now, .milliseconds(100))
            return perform(.snapshot)
        }
        // No engine loses its history again and again, but one that sends nonsense seems to.
        self.announced = (now + announced.pause, min(2 * announced.pause, Self.longestPause))
        self.state = .reading
        let session = sessions
        BridgeLoop.run(after: announced.pause) {
            if session == self.sessions { self.perform(.snapshot) }
        }
    }

    private func beginSnapshot() {
        if let announcement { deliver(reply(announcement.state, reason: announcement.reason)) }
        skips = 0
        send(["EVAL", Self.snapshotScript, "2", keys.version, keys.log]) { reply in
            let parts = reply.elements ?? []
            guard parts.count == 2, parts[1].elements != nil else { return self.refuse("EVAL") }
            let logged = parts[1].elements?.first.flatMap { LoggedCall($0) }.map {
                Follow.Position(version: $0.version, id: $0.changes.last?.id)
            }
            guard let number = parts[0].number else {
                return self.hasSetVersion ? self.refuse("EVAL") : self.setFirstVersion()
            }
            let version = Follow.Position(version: number, id: nil)
            self.last = logged.map { $0.version >= number ? $0 : version } ?? version
            self.perform(.page("0"))
        }
    }

    /// Gives an empty log a version, so that its followers have a place in the log. Like the script's, it is the
    /// time, so that no version is used twice.
    private func setFirstVersion() {
        guard let clock else { return engine.endSession(EngineFailure("\(engine.url.address) does not tell the time")) }
        hasSetVersion = true
        let version = BootClock.now + clock.engineLessBootUSec
        send(["EVAL", Self.firstVersionScript, "2", keys.version, keys.origin, "\(version)"]) { _ in
            self.perform(.snapshot)
        }
    }

    private func readPage(_ cursor: String) {
        send(["HSCAN", keys.now, cursor, "COUNT", "\(Self.pageCount)"]) { reply in
            guard let parts = reply.elements, parts.count == 2, let next = parts[0].text, UInt64(next) != nil,
                next == "0" || next != cursor, let pairs = parts[1].elements
            else { return self.refuse("HSCAN") }
            // The engine reads the next page while this one is written.
            if next != "0" { self.perform(.page(next)) }
            let session = self.sessions
            self.engine.session?.queries.flush()
            guard session == self.sessions else { return }
            var entries: [Follow.Entry] = []
            for index in stride(from: 0, to: pairs.count - 1, by: 2) {
                guard let key = pairs[index].bytes, let text = pairs[index + 1].bytes,
                    let entry = Follow.Entry(key: key[...], held: text[...])
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
                self.noteSkips()
                self.perform(.log)
            }
        }
    }

    private func noteSkips() {
        guard skips > 0 else { return engine.log.leave(.skipping) }
        let place = "\(keys.now) at \(engine.url.address)"
        engine.log.enter(.skipping, .error, "\(skips) records in \(place) cannot be read, and are skipped")
    }

    private func readLog() {
        hasMissed = false
        let start = last.map { "(\($0.version)-0" } ?? "-"
        let count = logCount
        send(["XRANGE", keys.log, start, "+", "COUNT", "\(count)"]) { reply in
            guard let elements = reply.elements, elements.count <= count else { return self.refuse("XRANGE") }
            var changes: [Follow.Entry] = []
            var next = self.last
            var hasGap = false
            for element in elements {
                guard let entry = LoggedCall(element), let rest = entry.changes(after: next) else {
                    hasGap = true
                    break
                }
                changes += rest
                next = rest.last?.position ?? next
            }
            self.deliverChanges(changes, upTo: next)
            let bytes = changes.reduce(1) { $0 + Self.size(of: $1) }
            let fitting = Self.logBytes / bytes * elements.count
            self.logCount = min(max(fitting, Self.logCounts.least), Self.logCounts.greatest)
            let hasMissedVersion = (self.missedVersion ?? 0) > (next?.version ?? 0) && elements.isEmpty
            if hasGap || hasMissedVersion {
                self.missedVersion = nil
                return self.readPosition(hasMissedVersion ? .toMessage : .inLog)
            }
            guard elements.count < count else { return self.perform(.log) }
            // Messages may come as fast as the log is read.
            if !self.hasMissed || !self.isLiveTold { self.deliver(self.reply(.live)) }
            self.isLiveTold = true
            if self.engine.refusal != self.toldRefusal { self.report() }
            guard !self.hasMissed else { return self.perform(.log) }
            self.missedVersion = nil
            self.state = .live
        }
    }

    // MARK: Replies

    private var clock: EngineOffset? { time.offset }

    private func reply(_ state: Follow.State, reason: String? = nil) -> Follow.Reply {
        Follow.Reply(state: state, last: last, clock: clock, reason: reason)
    }

    private func deliverChanges(_ entries: [Follow.Entry], upTo next: Follow.Position?) {
        last = next
        for part in Self.parts(entries, keepsEmpty: false) {
            deliver(Follow.Reply(state: .changes, entries: part, last: part.last?.position))
        }
    }

    /// The bytes of an entry in a reply, roughly.
    private static func size(of entry: Follow.Entry) -> Int {
        entry.key.utf8.count + (entry.record?.utf8.count ?? 0) + 64
    }

    /// The entries in parts that fit into a reply each.
    private static func parts(_ entries: [Follow.Entry], keepsEmpty: Bool) -> [[Follow.Entry]] {
        var parts: [[Follow.Entry]] = keepsEmpty ? [[]] : []
        var bytes = 0
        for entry in entries {
            let size = size(of: entry)
            let limit = parts.last?.last?.key == entry.key ? replyBytes.ofChain : replyBytes.usual
            if parts.isEmpty || bytes + size > limit && bytes > 0 {
                parts.append([])
                bytes = 0
            }
            parts[parts.count - 1].append(entry)
            bytes += size
        }
        return parts
    }
}
