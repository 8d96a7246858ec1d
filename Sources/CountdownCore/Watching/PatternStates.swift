/// A pattern as a set of places in it, all of them tried at once: a key takes a few steps a character, whatever the
/// pattern is.
///
/// Place `n` lies behind the first `n` parts that take a character. What a character does is the same for all that lie
/// between two bounds, so the parts that take it are looked up once.
struct PatternStates: Hashable, Sendable {
    /// The most parts that take a character.
    static let capacity = 255

    /// A bit for each place.
    private typealias Places = SIMD4<UInt64>

    /// Where another set of parts takes the characters from here on; the first is 0.
    private let bounds: [UInt32]
    /// The parts that take a character from the bound of the same index on.
    private let taking: [Places]
    /// Places at which any run of characters may be passed over.
    private let staying: Places
    private let last: Int

    /// - Parameter parts: of which no more than `capacity` take a character.
    init(_ parts: [Pattern.Part]) {
        let single = parts.filter { $0 != .run }
        let bounds = Set(single.flatMap(\.bounds) + [0]).sorted()
        var taking = [Places](repeating: .zero, count: bounds.count)
        for (place, part) in single.enumerated() {
            if case .scalar(let scalar) = part {
                taking[Self.index(of: scalar.value, in: bounds)].insert(place)
            } else {
                for index in taking.indices where part.takes(from: bounds[index]) { taking[index].insert(place) }
            }
        }
        var staying = Places.zero
        var place = 0
        for part in parts {
            if part == .run { staying.insert(place) } else { place += 1 }
        }
        (self.bounds, self.taking, self.staying, last) = (bounds, taking, staying, place)
    }

    /// Whether the whole text matches.
    func matches(_ text: String.UnicodeScalarView) -> Bool {
        var places = Places.zero
        places.insert(0)
        for scalar in text {
            places = (places & taking[Self.index(of: scalar.value, in: bounds)]).next | (places & staying)
            if places == .zero { return false }
        }
        return places.contains(last)
    }

    /// The index of the last bound that is not above a character.
    private static func index(of scalar: UInt32, in bounds: [UInt32]) -> Int {
        var (low, high) = (0, bounds.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if bounds[middle] <= scalar { low = middle } else { high = middle }
        }
        return low
    }
}

extension Pattern.Part {
    /// Where it begins, or ceases, to take characters; not counting the first of all.
    fileprivate var bounds: [UInt32] {
        switch self {
        case .run, .one: []
        case .scalar(let scalar): [scalar.value, scalar.value + 1]
        case .oneOf(let ranges, _): ranges.flatMap { [$0.lowerBound.value, $0.upperBound.value + 1] }
        }
    }

    /// Whether it takes the characters from one of the bounds on, up to the next.
    fileprivate func takes(from bound: UInt32) -> Bool {
        switch self {
        case .run: false
        case .one: true
        case .scalar(let scalar): scalar.value == bound
        case .oneOf(let ranges, let negated):
            ranges.contains { ($0.lowerBound.value...$0.upperBound.value).contains(bound) } != negated
        }
    }
}

extension SIMD4<UInt64> {
    fileprivate mutating func insert(_ place: Int) {
        self[place / 64] |= 1 << UInt64(place % 64)
    }

    fileprivate func contains(_ place: Int) -> Bool {
        self[place / 64] & 1 << UInt64(place % 64) != 0
    }

    /// Each place moved by one.
    fileprivate var next: Self {
        (self &<< 1) | (Self(0, self[0], self[1], self[2]) &>> 63)
    }
}
