import CountdownCore

/// A dictionary that grows in small parts, so that no insertion into a large one takes long.
struct PartitionedDictionary<Value: Sendable>: Sendable {
    /// A key with its value.
    struct Entry: Sendable {
        let key: Key
        var value: Value
    }

    private var index = KeyIndex()
    private var entries = Pool<Entry?>()
    private(set) var count = 0
    /// How many slots there are, of which some may be free.
    var places: Int { entries.count }

    /// The value under a key; nil if there is none.
    subscript(_ key: Key) -> Value? {
        slot(of: key).flatMap { entries[$0.index]?.value }
    }

    /// The key and the value in a slot; nil if the slot is free.
    subscript(_ slot: Slot) -> Entry? { entries[slot.index] }

    /// The slot of a key; nil if the key has no value.
    private func slot(of key: Key) -> Slot? {
        index.slot(at: KeyIndex.place(of: key)) { entries[$0.index]?.key == key }
    }

    /// Sets the value under a key.
    ///
    /// - Returns: its slot, which it has until it is removed.
    @discardableResult
    mutating func set(_ value: Value, under key: Key) -> Slot {
        if let slot = slot(of: key) {
            entries[slot.index]?.value = value
            return slot
        }
        count += 1
        let slot = Slot(index: entries.insert(Entry(key: key, value: value)))
        _ = index.set(KeyIndex.place(of: key), to: slot) { _ in false }
        return slot
    }

    /// Removes the value under a key.
    ///
    /// - Returns: its slot; nil if the key has no value.
    @discardableResult
    mutating func remove(_ key: Key) -> Slot? {
        guard let slot = index.remove(KeyIndex.place(of: key), where: { entries[$0.index]?.key == key }) else {
            return nil
        }
        count -= 1
        entries.free(slot.index, leaving: nil)
        return slot
    }
}
