import CountdownCore

/// The position of a host in the log of a fleet, and the stream that it needs. A state machine without I/O.
///
/// ```
/// off ──open──> snapshot ──page…, changes…, live, swept──> live ──lost──> lost ──resumed, changes…, live──> live
///                  ^                                         │               │
///                  └───────── trimmed, diverged ─────────────┴───────────────┘
/// ```
///
/// While it is `live` or `lost`, the host's countdowns are the fleet's countdowns at the position: a prefix of the log.
public struct LogCursor: Equatable, Sendable {
    /// How far the host is.
    public enum State: Equatable, Sendable {
        /// The host knows no countdown, and has not asked for the log.
        case off
        /// The whole state is being read, because of `SnapshotReason`.
        case snapshot(SnapshotReason)
        /// Everything up to the position is known, and the log is followed.
        case live
        /// Everything up to the position is known; the log is not followed at the moment.
        case lost
    }

    /// Why a snapshot is read.
    public enum SnapshotReason: Equatable, Sendable {
        /// The host knows no position.
        case first
        /// The log begins after the position.
        case trimmed
        /// The log has another history than the host: acknowledged changes were lost.
        case diverged
    }

    /// A place in the log.
    public struct Position: Hashable, Sendable {
        /// The version of its entry.
        public let version: LogVersion
        /// The ID of its entry; nil if the entry was not seen.
        public let id: ProposalID?

        /// A place in the log.
        public init(version: LogVersion, id: ProposalID?) {
            self.version = version
            self.id = id
        }
    }

    /// An entry that was applied, without its record.
    struct Past: Equatable, Sendable {
        let position: Position
        let key: Key
    }

    /// A report of the stream.
    public enum Event: Sendable {
        /// The log continues after the position; the entries and `live` follow.
        case resumed
        /// The log begins after the position; a snapshot follows.
        case trimmed
        /// The log has another entry at the position, or ends before it; a snapshot follows.
        case diverged
        /// A part of the state. Each page names the place in the log at which the snapshot began, after which the log continues.
        case page([LogEntry], Position)
        /// Entries of the log, in their order.
        case changes([LogEntry])
        /// The stream has reached the end of the log; new entries follow as they are made.
        case live
        /// The stream has ended, or the engine is lost; the reason in words.
        case lost(String)
    }

    /// The stream that the host needs from now on; replies of an earlier one are to be discarded.
    public struct Opening: Equatable, Sendable {
        /// The entry after which the stream begins; nil for a snapshot.
        public let after: Position?
    }

    /// How to treat an entry of the log.
    enum Verdict: Equatable {
        /// It is the next one.
        case apply
        /// It is known already.
        case skip
        /// Entries before it are missing.
        case gap
        /// The log has another history.
        case diverged
    }

    /// How far the host is.
    public private(set) var state = State.off
    /// The newest entry that is known; nil if nothing is, or during a snapshot until its first page.
    public private(set) var position: Position?
    /// Whether the stream that was asked for last, as far as is known, is there.
    public private(set) var hasStream = false
    /// Whether the stream of a snapshot has reached the end of the log.
    private(set) var isSnapshotRead = false
    /// How many streams were asked for.
    private(set) var openings = 0
    /// Whether a stream was asked for again because of a gap, and has not reached the end of the log.
    private(set) var isFillingGap = false
    /// The last entries that were applied, each at the remainder of its version.
    private var past: [Past?] = []
    private static let pastLimit = 256
    /// How far back the log is read if it has another history at the position, at each further attempt.
    private static let stepsBack: [Int64] = [8, 64, 255]
    /// How often the log was read from further back since it was followed.
    private var rewinds = 0

    /// A cursor at a stored position; nil if none is stored.
    public init(at position: Position? = nil) { self.position = position }

    /// Whether changes can be proposed.
    public var isLive: Bool { state == .live }
    /// Whether the countdowns here are the fleet's countdowns at the position.
    public var isPrefix: Bool { state == .live || state == .lost }

    /// The position to store with the applied changes; nil during a snapshot.
    public var stored: Position? { isPrefix ? position : nil }

    /// Asks for the stream: at the start, and again whenever it was lost.
    ///
    /// - Returns: the stream.
    public mutating func open() -> Opening {
        openings += 1
        hasStream = true
        isSnapshotRead = false
        if isPrefix || state == .off, position != nil {
            if state == .off { state = .lost }
            return Opening(after: position)
        }
        if state == .off { state = .snapshot(.first) }
        position = nil
        return Opening(after: nil)
    }

    /// Begins a snapshot although the log continues, because the host has lost its store.
    mutating func readAgain() -> Opening {
        beginSnapshot(.first)
        return open()
    }

    /// Begins a snapshot because the log has another history.
    mutating func diverge() -> Opening {
        beginSnapshot(.diverged)
        return open()
    }

    /// Asks for the log from further back, because it has another history at the position. Only its end may differ.
    ///
    /// - Returns: the stream, and the entries behind its beginning; nil if they are not known any more.
    mutating func rewind() -> (opening: Opening, tail: [Past])? {
        guard isPrefix, let position, rewinds < Self.stepsBack.count else { return nil }
        let first = position.version.number - Self.stepsBack[rewinds]
        rewinds += 1
        let known = past.compactMap(\.self).filter {
            (first...position.version.number).contains($0.position.version.number)
        }
        .sorted { $0.position.version < $1.position.version }
        guard let start = known.first?.position, start.version < position.version else { return nil }
        (self.position, state, isFillingGap) = (start, .lost, false)
        return (open(), Array(known.dropFirst()))
    }

    /// Asks for the entries after the position again.
    ///
    /// - Returns: nil if they were asked for already, or if there is no stream.
    mutating func fillGap() -> Opening? {
        guard case .snapshot = state else {
            guard state == .live, !isFillingGap else { return nil }
            isFillingGap = true
            return open()
        }
        // The state and the log do not fit together.
        return open()
    }

    /// Notes an event other than entries.
    mutating func receive(_ event: Event) {
        hasStream = true
        switch event {
        case .resumed, .changes: break
        case .trimmed: beginSnapshot(.trimmed)
        case .diverged: beginSnapshot(.diverged)
        case .page(_, let start):
            if isPrefix || state == .off { beginSnapshot(.first) }
            if position == nil { position = start }
        case .live:
            (isFillingGap, rewinds) = (false, 0)
            if state == .lost { state = .live } else if state != .live { isSnapshotRead = position != nil }
        case .lost:
            hasStream = false
            isFillingGap = false
            isSnapshotRead = false
            if state == .live { state = .lost }
        }
    }

    /// Ends the snapshot, once every countdown that it does not hold is cancelled.
    mutating func finishSnapshot() {
        isSnapshotRead = false
        state = .live
    }

    /// Decides how to treat an entry.
    ///
    /// - Parameters:
    ///   - entry: an entry of the log.
    ///   - held: the record that is known under its key.
    /// - Returns: the verdict.
    func verdict(on entry: LogEntry, held: HeldRecord?) -> Verdict {
        guard let position else { return .gap }
        if entry.version == position.version.next { return .apply }
        guard entry.version <= position.version else { return .gap }
        // During a snapshot, and for a record that has changed since, nothing can be compared.
        guard isPrefix else { return .skip }
        if entry.version == position.version, let id = position.id { return id == entry.id ? .skip : .diverged }
        guard let held, held.version <= entry.version else { return .skip }
        return held.version == entry.version && held.id == entry.id ? .skip : .diverged
    }

    /// Moves after an entry that was applied.
    mutating func advance(over entry: LogEntry) {
        let next = Position(version: entry.version, id: entry.id)
        position = next
        if past.isEmpty { past = Array(repeating: nil, count: Self.pastLimit) }
        let place = Int(entry.version.number.magnitude % UInt64(Self.pastLimit))
        past[place] = isPrefix ? Past(position: next, key: entry.key) : nil
    }

    private mutating func beginSnapshot(_ reason: SnapshotReason) {
        state = .snapshot(reason)
        (position, past, rewinds) = (nil, [], 0)
        isSnapshotRead = false
        isFillingGap = false
    }
}
