/// The place of an entry in a pool. After the entry is gone, another entry may use its place.
public struct Slot: Hashable, Sendable {
    /// The number of the entry in its pool.
    public let index: Int32

    /// The place under a number.
    public init(index: Int32) { self.index = index }

    static let none = Slot(index: -1)
}

/// The fields of every countdown, in 72 bytes; rarely used fields are in `ColdFields`.
///
/// The deadline is also in the heap of its clock, which would be two further cache lines for a lookup.
struct Entry: Sendable {
    enum EntryState: Sendable {
        /// Running, with a deadline on the boot clock.
        case elapsed
        /// Running, with a deadline on the system clock.
        case wall
        case paused
        case finished
        case cancelled
    }

    var revision: Revision
    var duration: Duration
    var started: WallInstant
    /// Running: the deadline. Paused: the remaining time. Cancelled: the same. Finished: how late.
    var microseconds: Int64
    var previous = Slot.none
    var next = Slot.none
    /// The number of the cold fields; `ColdFields.none` if all of them are empty.
    var cold = ColdFields.none
    var state: EntryState
    var clock: DeadlineClock
    var forget: Bool
    /// Empty if the key is long.
    var key: ShortKey

    init(_ countdown: borrowing KeyedCountdown) {
        revision = countdown.revision
        duration = countdown.duration
        started = countdown.started
        (state, microseconds) =
            switch countdown.phase {
            case .running(.elapsed(let instant)): (.elapsed, instant.microseconds)
            case .running(.wall(let instant)): (.wall, instant.microseconds)
            case .paused(let remaining): (.paused, remaining.microseconds)
            case .finished(_, let late): (.finished, late.microseconds)
            case .cancelled(_, let remaining): (.cancelled, remaining.microseconds)
            }
        clock = countdown.clock
        forget = countdown.forget
        key = countdown.key.short
    }

    var isLive: Bool { state != .finished && state != .cancelled }
}

/// Fields that only some countdowns have.
struct ColdFields: Sendable {
    static let none: Int32 = -1
    static let empty = ColdFields()

    let annotations: Annotations
    /// Nil if the key is short.
    let key: Key?
    /// When the countdown ended; 0 if it is live.
    let ended: WallInstant

    /// Whether a countdown has any of these fields.
    static func isNeeded(for countdown: borrowing KeyedCountdown) -> Bool {
        !countdown.isLive || countdown.hasAnnotations || countdown.key.isLong
    }

    init(_ countdown: borrowing KeyedCountdown) {
        annotations = countdown.annotations
        key = countdown.key.isLong ? countdown.key : nil
        ended = countdown.ended ?? WallInstant(microseconds: 0)
    }

    private init() {
        (annotations, key, ended) = (.none, nil, WallInstant(microseconds: 0))
    }
}

/// All entries, in slots that are used again.
///
/// Countdowns are split into their fields here and put together again, so that a million of them take little memory.
struct Slab: Sendable {
    private var entries = Pool<Entry>()
    private var coldFields = Pool<ColdFields>()
    /// The memory of the annotations of running and paused countdowns.
    private(set) var liveAnnotationBytes = 0
    /// The bytes of all annotations and long keys, of ended countdowns, too.
    private(set) var textBytes = 0
    private(set) var pausedCount = 0

    /// The entry in a slot; its cold fields must not be changed here.
    subscript(_ slot: Slot) -> Entry {
        get { entries[slot.index] }
        _modify { yield &entries[slot.index] }
    }

    mutating func insert(_ countdown: KeyedCountdown) -> Slot {
        var entry = Entry(countdown)
        entry.cold = keepCold(of: countdown, instead: ColdFields.none)
        count(entry, times: 1)
        return Slot(index: entries.insert(entry))
    }

    /// Replaces a countdown; its entry stays at its place in its list.
    mutating func set(_ countdown: KeyedCountdown, at slot: Slot) {
        var entry = Entry(countdown)
        let before = self[slot]
        (entry.previous, entry.next) = (before.previous, before.next)
        count(before, times: -1)
        entry.cold = keepCold(of: countdown, instead: before.cold)
        count(entry, times: 1)
        self[slot] = entry
    }

    /// Frees a slot; from then on it has a revision that no countdown has.
    mutating func free(_ slot: Slot) {
        var entry = self[slot]
        count(entry, times: -1)
        dropCold(entry.cold)
        entry.cold = ColdFields.none
        entry.revision = Revision(.min)
        entries.free(slot.index, leaving: entry)
    }

    func key(at slot: Slot) -> Key {
        let entry = self[slot]
        return entry.key.isEmpty ? longKey(of: entry) : Key(entry.key)
    }

    func isKey(_ key: Key, at slot: Slot) -> Bool {
        let entry = self[slot]
        guard entry.key == key.short else { return false }
        return !key.isLong || longKey(of: entry) == key
    }

    /// The countdown in a slot.
    func countdown(at slot: Slot) -> KeyedCountdown {
        let entry = self[slot]
        let cold = cold(of: entry)
        return KeyedCountdown(
            key: key(at: slot),
            phase: phase(of: entry, cold),
            clock: entry.clock,
            duration: entry.duration,
            started: entry.started,
            annotations: cold.annotations,
            forget: entry.forget,
            revision: entry.revision
        )
    }

    private func phase(of entry: Entry, _ cold: ColdFields) -> Phase {
        let duration = Duration(microseconds: entry.microseconds)
        return switch entry.state {
        case .elapsed: .running(until: .elapsed(BootInstant(microseconds: entry.microseconds)))
        case .wall: .running(until: .wall(WallInstant(microseconds: entry.microseconds)))
        case .paused: .paused(remaining: duration)
        case .finished: .finished(at: cold.ended, late: duration)
        case .cancelled: .cancelled(at: cold.ended, remaining: duration)
        }
    }

    // MARK: Cold fields

    private func cold(of entry: Entry) -> ColdFields {
        entry.cold == ColdFields.none ? .empty : coldFields[entry.cold]
    }

    /// Adds an entry to the counts of all entries, or, with -1, subtracts it.
    @inline(__always)
    private mutating func count(_ entry: Entry, times sign: Int) {
        if entry.state == .paused { pausedCount += sign }
        guard entry.cold != ColdFields.none else { return }
        let (annotations, key) = (coldFields[entry.cold].annotations.size, coldFields[entry.cold].key)
        textBytes += sign * (annotations + (key?.withBytes { $0.count } ?? 0))
        if entry.isLive { liveAnnotationBytes += sign * annotations }
    }

    private func longKey(of entry: Entry) -> Key {
        guard let key = cold(of: entry).key else { preconditionFailure("every entry has a key") }
        return key
    }

    /// Replaces the cold fields of an entry.
    /// - Returns: their number; `ColdFields.none` if the countdown has none.
    private mutating func keepCold(of countdown: KeyedCountdown, instead number: Int32) -> Int32 {
        guard ColdFields.isNeeded(for: countdown) else {
            dropCold(number)
            return ColdFields.none
        }
        guard number != ColdFields.none else { return coldFields.insert(ColdFields(countdown)) }
        coldFields[number] = ColdFields(countdown)
        return number
    }

    private mutating func dropCold(_ number: Int32) {
        if number != ColdFields.none { coldFields.free(number, leaving: .empty) }
    }
}
