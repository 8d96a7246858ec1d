/// Finds the slot of a key.
///
/// Many small tables with linear probing, each of which grows by itself: so growing never copies more than a few thousand
/// places, however many keys there are. The hash has a seed of its own in each process, so that nobody can choose keys
/// that fall together.
struct KeyIndex: Sendable {
    private static let tableBits = 10

    private var tables = [KeyTable](repeating: KeyTable(), count: 1 << KeyIndex.tableBits)

    /// The slot of a key, nil where it has none.
    func slot(of key: Key, in slab: Slab) -> Slot? {
        let (number, hash) = Self.split(key)
        return tables[number].position(of: key, hash, in: slab).map { tables[number].slots[$0] }
    }

    /// Lets a key stand for a slot.
    /// - Returns: the slot that it stood for before.
    mutating func set(_ key: Key, to slot: Slot, in slab: Slab) -> Slot? {
        let (number, hash) = Self.split(key)
        guard let position = tables[number].position(of: key, hash, in: slab) else {
            tables[number].insert(slot, hash)
            return nil
        }
        defer { tables[number].slots[position] = slot }
        return tables[number].slots[position]
    }

    /// Lets a key stand for nothing.
    mutating func remove(_ key: Key, in slab: Slab) {
        let (number, hash) = Self.split(key)
        guard let position = tables[number].position(of: key, hash, in: slab) else { return }
        tables[number].free(position)
    }

    /// The table of a key, and its hash within that: others in each process.
    static func split(_ key: Key) -> (table: Int, hash: UInt16) {
        let hash = key.isLong ? UInt64(bitPattern: Int64(key.hashValue)) : key.short.hash(seed: SipHash.seed)
        return (Int(hash >> UInt64(64 - tableBits)), UInt16(truncatingIfNeeded: hash))
    }
}

/// A table of slots by the hashes of their keys.
///
/// A place is two bytes of hash and a slot, in arrays of their own: most of what is passed over is passed over without a
/// look at its key, and growing needs no key at all. Places lie in the order of their hashes, but for those that were
/// taken, so that a table may have any size; it grows by a quarter before more than four fifths are in use.
private struct KeyTable: Sendable {
    private var hashes: [UInt16] = []
    var slots: [Slot] = []
    private var count = 0

    /// Where the slot of a key is, nil where it is not in here.
    func position(of key: Key, _ hash: UInt16, in slab: Slab) -> Int? {
        guard count > 0 else { return nil }
        var position = home(of: hash)
        while slots[position] != .none {
            if hashes[position] == hash, slab.isKey(key, at: slots[position]) { return position }
            position = next(after: position)
        }
        return nil
    }

    /// Puts in a slot whose key is not in here.
    mutating func insert(_ slot: Slot, _ hash: UInt16) {
        if (count + 1) * 5 > slots.count * 4 { grow() }
        var position = home(of: hash)
        while slots[position] != .none { position = next(after: position) }
        hashes[position] = hash
        slots[position] = slot
        count += 1
    }

    /// Frees a place, and moves those behind it up that would not be found any more.
    mutating func free(_ position: Int) {
        var hole = position
        var position = next(after: hole)
        while slots[position] != .none {
            if distance(from: home(of: hashes[position]), to: position) >= distance(from: hole, to: position) {
                hashes[hole] = hashes[position]
                slots[hole] = slots[position]
                hole = position
            }
            position = next(after: position)
        }
        slots[hole] = .none
        count -= 1
    }

    private mutating func grow() {
        let size = slots.count + slots.count / 4 + 4
        var (newSlots, newHashes) = ([Slot](repeating: .none, count: size), [UInt16](repeating: 0, count: size))
        for place in slots.indices where slots[place] != .none {
            var position = Self.home(of: hashes[place], among: size)
            while newSlots[position] != .none { position = position + 1 == size ? 0 : position + 1 }
            newSlots[position] = slots[place]
            newHashes[position] = hashes[place]
        }
        (slots, hashes) = (newSlots, newHashes)
    }

    /// Where the run of a hash begins.
    private func home(of hash: UInt16) -> Int { Self.home(of: hash, among: slots.count) }

    private static func home(of hash: UInt16, among places: Int) -> Int {
        (Int(hash) * places) >> UInt16.bitWidth
    }

    private func next(after position: Int) -> Int {
        position + 1 == slots.count ? 0 : position + 1
    }

    private func distance(from start: Int, to end: Int) -> Int {
        end >= start ? end - start : end - start + slots.count
    }
}
