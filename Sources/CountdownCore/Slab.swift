/// Where an entry lies; it may lie somewhere else, or be another's, once its countdown is no longer known.
public struct Slot: Hashable, Sendable {
    let index: Int32

    static let none = Slot(index: -1)
}

/// What is kept of every countdown, in 64 bytes; what few of them have is in an `Extra`.
///
/// The deadline of a running one is not here: it stands in the heap of its clock.
struct Entry: Sendable {
    enum State: Sendable {
        case running
        case paused
        case finished
        case cancelled
    }

    var revision: Revision
    var length: TimeSpan
    var started: WallInstant
    var previous = Slot.none
    var next = Slot.none
    /// The number of what else there is, `Extra.none` where there is nothing.
    var extra = Extra.none
    var state: State
    var clock: Clock
    var forget: Bool
    /// Empty where the key is a long one.
    var key: ShortKey

    init(_ countdown: borrowing Countdown) {
        revision = countdown.revision
        length = countdown.length
        started = countdown.started
        state = State(countdown.phase)
        clock = countdown.clock
        forget = countdown.forget
        key = countdown.key.short
    }

    var isLive: Bool { state == .running || state == .paused }
}

extension Entry.State {
    init(_ phase: Phase) {
        self =
            switch phase {
            case .running: .running
            case .paused: .paused
            case .finished: .finished
            case .cancelled: .cancelled
            }
    }
}

/// What only some countdowns have.
struct Extra: Sendable {
    static let none: Int32 = -1
    static let empty = Extra()

    let texts: Texts
    /// Nil where the key is a short one.
    let key: Key?
    /// When it ended; nothing where it did not.
    let ended: WallInstant
    /// What remains of a paused one, what remained of a cancelled one, how late a finished one was.
    let span: TimeSpan

    /// Whether a countdown has anything of all that.
    static func isNeeded(for countdown: borrowing Countdown) -> Bool {
        if case .running = countdown.phase { return countdown.hasTexts || countdown.key.isLong }
        return true
    }

    init(_ countdown: borrowing Countdown) {
        texts = countdown.texts
        key = countdown.key.isLong ? countdown.key : nil
        (ended, span) =
            switch countdown.phase {
            case .running: (WallInstant(microseconds: 0), .zero)
            case .paused(let remaining): (WallInstant(microseconds: 0), remaining)
            case .finished(let instant, let late): (instant, late)
            case .cancelled(let instant, let remaining): (instant, remaining)
            }
    }

    private init() {
        (texts, key, ended, span) = (.none, nil, WallInstant(microseconds: 0), .zero)
    }
}

/// All entries, in slots that are used again.
///
/// A countdown is taken apart here and put together again: a million of them take no more than they must.
struct Slab: Sendable {
    private var entries = Pool<Entry>()
    private var extras = Pool<Extra>()
    /// What labels and metadata of running and paused countdowns take.
    private(set) var liveTextBytes = 0

    /// What is kept of every countdown; its extra must not be changed here.
    subscript(_ slot: Slot) -> Entry {
        get { entries[slot.index] }
        _modify { yield &entries[slot.index] }
    }

    mutating func insert(_ countdown: Countdown) -> Slot {
        var entry = Entry(countdown)
        entry.extra = keepExtra(of: countdown, instead: Extra.none)
        liveTextBytes += textBytes(of: entry)
        return Slot(index: entries.insert(entry))
    }

    /// Replaces what an entry holds; it stays where it is in its list.
    mutating func set(_ countdown: Countdown, at slot: Slot) {
        var entry = Entry(countdown)
        let before = self[slot]
        (entry.previous, entry.next) = (before.previous, before.next)
        let bytesBefore = textBytes(of: before)
        entry.extra = keepExtra(of: countdown, instead: before.extra)
        let bytes = textBytes(of: entry)
        liveTextBytes += bytes - bytesBefore
        self[slot] = entry
    }

    /// Gives the slot back; what is left there has a revision that no countdown has.
    mutating func free(_ slot: Slot) {
        var entry = self[slot]
        let bytes = textBytes(of: entry)
        liveTextBytes -= bytes
        dropExtra(entry.extra)
        entry.extra = Extra.none
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

    /// Whether the same key is at both slots.
    func isKey(of slot: Slot, at other: Slot) -> Bool {
        let (entry, otherEntry) = (self[slot], self[other])
        guard entry.key == otherEntry.key else { return false }
        return !entry.key.isEmpty || longKey(of: entry) == longKey(of: otherEntry)
    }

    /// What lies there; the deadline of a running countdown is kept elsewhere and has to be given.
    func countdown(at slot: Slot, deadline: Deadline?) -> Countdown {
        let entry = self[slot]
        let extra = extra(of: entry)
        return Countdown(
            key: key(at: slot),
            phase: phase(of: entry, extra, deadline),
            clock: entry.clock,
            length: entry.length,
            started: entry.started,
            texts: extra.texts,
            forget: entry.forget,
            revision: entry.revision
        )
    }

    private func phase(of entry: Entry, _ extra: Extra, _ deadline: Deadline?) -> Phase {
        switch entry.state {
        case .running:
            guard let deadline else { preconditionFailure("a running countdown has a deadline") }
            return .running(until: deadline)
        case .paused: return .paused(remaining: extra.span)
        case .finished: return .finished(at: extra.ended, late: extra.span)
        case .cancelled: return .cancelled(at: extra.ended, remaining: extra.span)
        }
    }

    // MARK: Extras

    private func extra(of entry: Entry) -> Extra {
        entry.extra == Extra.none ? .empty : extras[entry.extra]
    }

    private func textBytes(of entry: Entry) -> Int {
        guard entry.isLive, entry.extra != Extra.none else { return 0 }
        return extras[entry.extra].texts.size
    }

    private func longKey(of entry: Entry) -> Key {
        guard let key = extra(of: entry).key else { preconditionFailure("every entry has a key") }
        return key
    }

    /// Puts an extra in the place of another, where the countdown has one.
    /// - Returns: its number.
    private mutating func keepExtra(of countdown: Countdown, instead number: Int32) -> Int32 {
        guard Extra.isNeeded(for: countdown) else {
            dropExtra(number)
            return Extra.none
        }
        guard number != Extra.none else { return extras.insert(Extra(countdown)) }
        extras[number] = Extra(countdown)
        return number
    }

    private mutating func dropExtra(_ number: Int32) {
        if number != Extra.none { extras.free(number, leaving: .empty) }
    }
}

/// Elements in numbered places that are used again; none of them is ever moved.
struct Pool<Element: Sendable>: Sendable {
    private var elements = ChunkedArray<Element>()
    private var unused = ChunkedArray<Int32>()

    subscript(_ number: Int32) -> Element {
        get { elements[Int(number)] }
        _modify { yield &elements[Int(number)] }
    }

    /// Takes an element in.
    /// - Returns: its number.
    mutating func insert(_ element: consuming Element) -> Int32 {
        guard unused.count > 0 else {
            elements.append(element)
            return Int32(truncatingIfNeeded: elements.count - 1)
        }
        let number = unused.removeLast()
        elements[Int(number)] = element
        return number
    }

    /// Gives a number back; what is left in its place holds nothing.
    mutating func free(_ number: Int32, leaving element: consuming Element) {
        elements[Int(number)] = element
        unused.append(number)
    }
}

/// An array that grows without copying what it holds: a growing array of millions would hold everything up meanwhile.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var shift: Int { 10 }
    private static var chunkSize: Int { 1 << shift }

    private var chunks: [[Element]] = []
    private(set) var count = 0

    subscript(_ position: Int) -> Element {
        get { chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
        _modify { yield &chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
    }

    mutating func append(_ element: consuming Element) {
        if count == chunks.count << Self.shift {
            var chunk: [Element] = []
            chunk.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[count >> Self.shift].append(element)
        count += 1
    }

    /// Takes the last element out; there has to be one.
    mutating func removeLast() -> Element {
        count -= 1
        let last = chunks[count >> Self.shift].removeLast()
        // One empty chunk is kept, so that an array that grows and shrinks at its edge does not allocate.
        if chunks.count > (count >> Self.shift) + 2 { chunks.removeLast() }
        return last
    }
}
