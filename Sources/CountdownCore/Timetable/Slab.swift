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
