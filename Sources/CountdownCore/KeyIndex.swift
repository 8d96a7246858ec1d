/// Finds the slot of a key; the keys themselves are in the slots, which the caller has.
///
/// Many small hash tables with linear probing. Each grows on its own, so growing never copies more than a few thousand slots,
/// however many keys there are. `Hasher` has another seed in each process, so clients cannot choose keys that collide.
public struct KeyIndex: Sendable {
    private static let tableBits = 10
    static let tableCount = 1 << tableBits

    /// The table and hash of a key, different in each process.
    public struct Place: Hashable, Sendable {
        let table: UInt16
        /// The hash within the table; never `KeyTable.free`.
        let hash: UInt16
    }

    private var tables = [KeyTable](repeating: KeyTable(), count: tableCount)

    /// An index without keys.
    public init() {}

    /// The slot of a key.
    ///
    /// - Parameters:
    ///   - place: the place of the key.
    ///   - isWanted: whether a slot has the key.
    /// - Returns: nil if the key has no slot.
    public func slot(at place: Place, where isWanted: (Slot) -> Bool) -> Slot? {
        let table = Int(place.table)
        let (position, isThere) = tables[table].find(place.hash, isWanted)
        return isThere ? tables[table].slot(at: position) : nil
    }

    /// Maps a key to a slot.
    ///
    /// - Parameters:
    ///   - place: the place of the key.
    ///   - slot: the slot.
    ///   - isWanted: whether another slot has the key.
    /// - Returns: the slot to which the key was mapped before.
    public mutating func set(_ place: Place, to slot: Slot, where isWanted: (Slot) -> Bool) -> Slot? {
        let table = Int(place.table)
        tables[table].makeRoom(for: 1)
        let (position, isThere) = tables[table].find(place.hash, isWanted)
        let before = isThere ? tables[table].slot(at: position) : nil
        tables[table].put(slot, place.hash, at: position, isNew: !isThere)
        return before
    }

    /// Reserves room for more keys in a table.
    mutating func makeRoom(for count: Int, inTable number: Int) { tables[number].makeRoom(for: count) }

    /// Removes a key.
    ///
    /// - Parameters:
    ///   - place: the place of the key.
    ///   - isWanted: whether a slot has the key.
    /// - Returns: the slot to which the key was mapped.
    @discardableResult
    public mutating func remove(_ place: Place, where isWanted: (Slot) -> Bool) -> Slot? {
        let table = Int(place.table)
        let (position, isThere) = tables[table].find(place.hash, isWanted)
        guard isThere else { return nil }
        defer { tables[table].free(position) }
        return tables[table].slot(at: position)
    }

    /// The place of a key.
    public static func place(of key: Key) -> Place {
        let hash = UInt64(bitPattern: Int64(key.hashValue))
        return Place(
            table: UInt16(hash >> UInt64(64 - tableBits)),
            hash: max(UInt16(truncatingIfNeeded: hash), KeyTable.free + 1)
        )
    }
}

/// A table of slots by the hashes of their keys.
///
/// Two bytes of hash beside each slot, so probing compares hashes, rarely looks at a key and waits for one cache line; growing
/// needs no keys at all. Entries are in the order of their hashes (except for collisions), so a table may have any size; it
/// grows by a quarter before it is more than four fifths full.
private struct KeyTable: Sendable {
    /// A slot and the hash of its key, in six bytes.
    private struct HashedSlot: Sendable {
        var hash = free
        private var low: UInt16 = 0
        private var high: UInt16 = 0

        init() {}

        init(_ slot: Slot, _ hash: UInt16) {
            self.hash = hash
            low = UInt16(truncatingIfNeeded: slot.index)
            high = UInt16(truncatingIfNeeded: slot.index >> 16)
        }

        var slot: Slot { Slot(index: Int32(high) << 16 | Int32(low)) }
    }

    /// The hash of an unused position.
    static let free: UInt16 = 0

    private var entries: [HashedSlot] = []
    private var count = 0

    func slot(at position: Int) -> Slot { entries[position].slot }

    /// The position of the wanted key with this hash; if it is not in the table, the position at which it would be inserted.
    @inline(__always)
    func find(_ hash: UInt16, _ isWanted: (Slot) -> Bool) -> (position: Int, isThere: Bool) {
        guard !entries.isEmpty else { return (0, false) }
        var position = home(of: hash)
        while entries[position].hash != Self.free {
            if entries[position].hash == hash, isWanted(entries[position].slot) { return (position, true) }
            position = next(after: position)
        }
        return (position, false)
    }

    /// Stores a slot at a position that `find` returned.
    mutating func put(_ slot: Slot, _ hash: UInt16, at position: Int, isNew: Bool) {
        entries[position] = HashedSlot(slot, hash)
        if isNew { count += 1 }
    }

    /// Frees a position, and moves up the entries behind it that would not be found any more.
    mutating func free(_ position: Int) {
        var hole = position
        var position = next(after: hole)
        while entries[position].hash != Self.free {
            if distance(from: home(of: entries[position].hash), to: position) >= distance(from: hole, to: position) {
                entries[hole] = entries[position]
                hole = position
            }
            position = next(after: position)
        }
        entries[hole] = HashedSlot()
        count -= 1
    }

    /// Reserves room for more keys.
    @inline(__always)
    mutating func makeRoom(for more: Int) {
        if (count + more) * 5 > entries.count * 4 { grow(for: more) }
    }

    private mutating func grow(for more: Int) {
        let size = max(entries.count + entries.count / 4 + 4, (count + more) * 5 / 4 + 1)
        var grown = KeyTable()
        grown.entries = [HashedSlot](repeating: HashedSlot(), count: size)
        for entry in entries where entry.hash != Self.free {
            let (position, _) = grown.find(entry.hash) { _ in false }
            grown.put(entry.slot, entry.hash, at: position, isNew: true)
        }
        self = grown
    }

    /// The position at which probing for a hash begins.
    private func home(of hash: UInt16) -> Int { (Int(hash) * entries.count) >> UInt16.bitWidth }

    private func next(after position: Int) -> Int { position + 1 == entries.count ? 0 : position + 1 }

    private func distance(from start: Int, to end: Int) -> Int {
        end >= start ? end - start : end - start + entries.count
    }
}
