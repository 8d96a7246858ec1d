import CountdownCore

/// A dictionary that grows in small parts, so that no insertion into a large one takes long.
struct PartitionedDictionary<Value: Sendable>: Sendable {
    private static var parts: Int { 1_024 }

    private var dictionaries: [[Key: Value]] = []

    /// An empty dictionary.
    init() {}

    /// The value under a key; nil if there is none.
    subscript(_ key: Key) -> Value? {
        get { dictionaries.isEmpty ? nil : dictionaries[Self.part(of: key)][key] }
        set {
            if dictionaries.isEmpty { dictionaries = Array(repeating: [:], count: Self.parts) }
            dictionaries[Self.part(of: key)][key] = newValue
        }
    }

    private static func part(of key: Key) -> Int { key.hashValue & (parts - 1) }
}
