/// Pairs that a client stores with a countdown.
///
/// Names and values are bytes: two of them are equal if their bytes are, not if Unicode normalization makes them equal.
public struct Metadata: Hashable, Sendable {
    private struct Pair: Hashable, Sendable {
        let name, value: String

        static func == (left: Pair, right: Pair) -> Bool {
            left.name.utf8.elementsEqual(right.name.utf8) && left.value.utf8.elementsEqual(right.value.utf8)
        }

        func hash(into hasher: inout Hasher) {
            for byte in name.utf8 { hasher.combine(byte) }
        }
    }

    private let sorted: [Pair]

    /// No pairs.
    public init() { sorted = [] }

    /// - Parameter pairs: names and their values, no name twice.
    public init(_ pairs: some Sequence<(key: String, value: String)>) {
        sorted = pairs.map { Pair(name: $0.key, value: $0.value) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// The names and values, in the order of the bytes of the names.
    public var pairs: some Collection<(key: String, value: String)> {
        sorted.lazy.map { (key: $0.name, value: $0.value) }
    }
    /// The number of pairs.
    public var count: Int { sorted.count }
    /// Whether there are no pairs.
    public var isEmpty: Bool { sorted.isEmpty }
    /// The bytes of all names and values.
    public var bytes: Int { sorted.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count } }
}

extension Metadata: ExpressibleByDictionaryLiteral {
    /// The pairs of a literal, no name twice.
    public init(dictionaryLiteral pairs: (String, String)...) { self.init(pairs.map { (key: $0.0, value: $0.1) }) }
}
