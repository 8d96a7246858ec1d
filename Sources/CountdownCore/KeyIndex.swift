/// Finds the slot of a key.
///
/// Many small tables with linear probing, each of which grows by itself: so growing never copies more than a few thousand
/// places, however many keys there are. The hash has a seed of its own in each process, so that nobody can choose keys
/// that fall together.
struct KeyIndex: Sendable {
    private static let tableBits = 10
    static let tableCount = 1 << tableBits

    /// Where a key belongs: others in each process.
    struct Place: Hashable, Sendable {
        let table: UInt16
        /// Among those of the table; never `KeyTable.free`.
        let hash: UInt16
    }

    private var tables = [KeyTable](repeating: KeyTable(), count: tableCount)

    /// The slot of a key, nil where it has none.
    func slot(of key: Key, in slab: Slab) -> Slot? {
        let place = Self.place(of: key)
        let table = Int(place.table)
        let (position, isThere) = tables[table].find(place.hash) { slab.isKey(key, at: $0) }
        return isThere ? tables[table].slots[position] : nil
    }

    /// Lets the key that is at a slot, and belongs there, stand for that slot.
    /// - Returns: the slot that it stood for before.
    mutating func set(_ place: Place, to slot: Slot, in slab: Slab) -> Slot? {
        let table = Int(place.table)
        tables[table].makeRoom(for: 1)
        let (position, isThere) = tables[table].find(place.hash) { slab.isKey(of: slot, at: $0) }
        let before = isThere ? tables[table].slots[position] : nil
        tables[table].put(slot, place.hash, at: position, isNew: !isThere)
        return before
    }

    /// Makes room for so many keys more in a table.
    mutating func makeRoom(for count: Int, inTable number: Int) { tables[number].makeRoom(for: count) }

    /// Lets a key stand for nothing.
    mutating func remove(_ key: Key, in slab: Slab) {
        let place = Self.place(of: key)
        let table = Int(place.table)
        let (position, isThere) = tables[table].find(place.hash) { slab.isKey(key, at: $0) }
        if isThere { tables[table].free(position) }
    }

    static func place(of key: Key) -> Place {
        let hash = key.isLong ? UInt64(bitPattern: Int64(key.hashValue)) : key.short.hash(seed: SipHash.seed)
        return Place(
            table: UInt16(hash >> UInt64(64 - tableBits)),
            hash: max(UInt16(truncatingIfNeeded: hash), KeyTable.free + 1)
        )
    }
}

/// A table of slots by the hashes of their keys.
///
/// A place is two bytes of hash and a slot, in arrays of their own: what is passed over is passed over without a look at its
/// slot, and most without a look at its key, and growing needs no key at all. Places lie in the order of their hashes, but
/// for those that were taken, so that a table may have any size; it grows by a quarter before more than four fifths are in
/// use.
private struct KeyTable: Sendable {
    /// The hash of a place that is not in use.
    static let free: UInt16 = 0

    private var hashes: [UInt16] = []
    var slots: [Slot] = []
    private var count = 0

    /// Where the slot is that has that hash and the key that is looked for; where it is not in here, where it would be.
    @inline(__always)
    func find(_ hash: UInt16, _ isWanted: (Slot) -> Bool) -> (position: Int, isThere: Bool) {
        guard !hashes.isEmpty else { return (0, false) }
        var position = home(of: hash)
        while hashes[position] != Self.free {
            if hashes[position] == hash, isWanted(slots[position]) { return (position, true) }
            position = next(after: position)
        }
        return (position, false)
    }

    /// Puts a slot where it was found, or would be.
    mutating func put(_ slot: Slot, _ hash: UInt16, at position: Int, isNew: Bool) {
        hashes[position] = hash
        slots[position] = slot
        if isNew { count += 1 }
    }

    /// Frees a place, and moves those behind it up that would not be found any more.
    mutating func free(_ position: Int) {
        var hole = position
        var position = next(after: hole)
        while hashes[position] != Self.free {
            if distance(from: home(of: hashes[position]), to: position) >= distance(from: hole, to: position) {
                hashes[hole] = hashes[position]
                slots[hole] = slots[position]
                hole = position
            }
            position = next(after: position)
        }
        hashes[hole] = Self.free
        count -= 1
    }

    /// Makes room for so many more.
    @inline(__always)
    mutating func makeRoom(for more: Int) {
        if (count + more) * 5 > hashes.count * 4 { grow(for: more) }
    }

    private mutating func grow(for more: Int) {
        let size = max(hashes.count + hashes.count / 4 + 4, (count + more) * 5 / 4 + 1)
        var (newSlots, newHashes) = ([Slot](repeating: .none, count: size), [UInt16](repeating: Self.free, count: size))
        for place in hashes.indices where hashes[place] != Self.free {
            var position = Self.home(of: hashes[place], among: size)
            while newHashes[position] != Self.free { position = position + 1 == size ? 0 : position + 1 }
            newSlots[position] = slots[place]
            newHashes[position] = hashes[place]
        }
        (slots, hashes) = (newSlots, newHashes)
    }

    /// Where the run of a hash begins.
    private func home(of hash: UInt16) -> Int { Self.home(of: hash, among: hashes.count) }

    private static func home(of hash: UInt16, among places: Int) -> Int {
        (Int(hash) * places) >> UInt16.bitWidth
    }

    private func next(after position: Int) -> Int {
        position + 1 == hashes.count ? 0 : position + 1
    }

    private func distance(from start: Int, to end: Int) -> Int {
        end >= start ? end - start : end - start + hashes.count
    }
}

/// SipHash-1-3 of whole words, as the standard library's `Hasher` has it, which takes three times as long for a key: it
/// takes bytes of any number, in any portions, by calls that are not inlined.
struct SipHash {
    /// Others in each process: so that nobody can choose keys that fall together.
    static let seed = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))

    private var v0: UInt64
    private var v1: UInt64
    private var v2: UInt64
    private var v3: UInt64
    private var length: UInt64 = 0

    @inline(__always)
    init(seed: (UInt64, UInt64)) {
        v0 = seed.0 ^ 0x736F_6D65_7073_6575
        v1 = seed.1 ^ 0x646F_7261_6E64_6F6D
        v2 = seed.0 ^ 0x6C79_6765_6E65_7261
        v3 = seed.1 ^ 0x7465_6462_7974_6573
    }

    /// Takes eight bytes, the first in the lowest byte.
    @inline(__always)
    mutating func take(_ word: UInt64) {
        length &+= 8
        compress(word)
    }

    /// The hash of all that was taken.
    @inline(__always)
    consuming func finish() -> UInt64 {
        compress(length << 56)
        v2 ^= 0xFF
        for _ in 0..<3 { mix() }
        return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func compress(_ word: UInt64) {
        v3 ^= word
        mix()
        v0 ^= word
    }

    @inline(__always)
    private mutating func mix() {
        v0 &+= v1
        v1 = Self.rotate(v1, 13) ^ v0
        v0 = Self.rotate(v0, 32)
        v2 &+= v3
        v3 = Self.rotate(v3, 16) ^ v2
        v0 &+= v3
        v3 = Self.rotate(v3, 21) ^ v0
        v2 &+= v1
        v1 = Self.rotate(v1, 17) ^ v2
        v2 = Self.rotate(v2, 32)
    }

    @inline(__always)
    private static func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 &- count) }
}
