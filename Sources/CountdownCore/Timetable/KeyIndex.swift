/// Finds the slot of a key.
///
/// Many small tables with linear probing, each of which grows by itself: so growing never copies more than a few thousand
/// places, however many keys there are. The hash has a seed of its own in each process, so that nobody can choose keys
/// that fall together.
struct KeyIndex: Sendable {
    /// A slot, and enough of its key's hash to pass over others without looking at their keys.
    private struct Place {
        static let free = Place(hash: 0, slot: .none)

        let hash: UInt32
        let slot: Slot
    }

    private struct Table {
        var places: [Place] = []
        var count = 0

        /// Where a hash's run begins.
        func home(of hash: UInt32) -> Int {
            Int(hash) & (places.count - 1)
        }

        func next(after position: Int) -> Int {
            (position + 1) & (places.count - 1)
        }
    }

    private static let tableBits = 10

    private var tables = [Table](repeating: Table(), count: 1 << KeyIndex.tableBits)

    /// The slot of a key, nil where it has none.
    func slot(of key: Key, in slab: Slab) -> Slot? {
        let (number, hash) = Self.split(key)
        let table = tables[number]
        guard let position = Self.find(key, hash, in: table, slab) else { return nil }
        return table.places[position].slot
    }

    /// Lets a key stand for a slot.
    /// - Returns: the slot that it stood for before.
    mutating func set(_ key: Key, to slot: Slot, in slab: Slab) -> Slot? {
        let (number, hash) = Self.split(key)
        if let position = Self.find(key, hash, in: tables[number], slab) {
            defer { tables[number].places[position] = Place(hash: hash, slot: slot) }
            return tables[number].places[position].slot
        }
        if tables[number].count * 4 >= tables[number].places.count * 3 { Self.grow(&tables[number]) }
        Self.insert(Place(hash: hash, slot: slot), into: &tables[number])
        return nil
    }

    /// Lets a key stand for nothing.
    mutating func remove(_ key: Key, in slab: Slab) {
        let (number, hash) = Self.split(key)
        guard let position = Self.find(key, hash, in: tables[number], slab) else { return }
        Self.free(position, in: &tables[number])
    }

    /// The table of a key, and its hash within that.
    private static func split(_ key: Key) -> (table: Int, hash: UInt32) {
        let hash = UInt64(bitPattern: Int64(key.hashValue))
        return (Int(hash >> UInt64(64 - tableBits)), UInt32(truncatingIfNeeded: hash))
    }

    private static func find(_ key: Key, _ hash: UInt32, in table: Table, _ slab: Slab) -> Int? {
        guard table.count > 0 else { return nil }
        var position = table.home(of: hash)
        while table.places[position].slot != .none {
            let place = table.places[position]
            if place.hash == hash, slab[place.slot].countdown.key == key { return position }
            position = table.next(after: position)
        }
        return nil
    }

    private static func insert(_ place: Place, into table: inout Table) {
        var position = table.home(of: place.hash)
        while table.places[position].slot != .none { position = table.next(after: position) }
        table.places[position] = place
        table.count += 1
    }

    private static func grow(_ table: inout Table) {
        let old = table.places
        table.places = [Place](repeating: .free, count: max(4, old.count * 2))
        table.count = 0
        for place in old where place.slot != .none { insert(place, into: &table) }
    }

    /// Frees a place, and moves those behind it up that would not be found any more.
    private static func free(_ position: Int, in table: inout Table) {
        var hole = position
        var position = table.next(after: hole)
        while table.places[position].slot != .none {
            let home = table.home(of: table.places[position].hash)
            let mask = table.places.count - 1
            if (position - home) & mask >= (position - hole) & mask {
                table.places[hole] = table.places[position]
                hole = position
            }
            position = table.next(after: position)
        }
        table.places[hole] = .free
        table.count -= 1
    }
}
