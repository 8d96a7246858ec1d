/// A glob pattern over keys.
///
/// `*` matches any number of characters, `/` too; `?` one character; `[abc]` and `[a-z]` one of these, `[!…]` and `[^…]` one of
/// the others. A `]` directly behind `[` is literal. There are no escapes: `[*]` is a literal star. Matching takes a few
/// steps per character of the key, whatever the pattern is.
public struct Pattern: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case run
        case one
        case scalar(Unicode.Scalar)
        case oneOf([ClosedRange<Unicode.Scalar>], negated: Bool)

        func matches(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .run: false
            case .one: true
            case .scalar(let wanted): wanted == scalar
            case .oneOf(let ranges, let negated): ranges.contains { $0.contains(scalar) } != negated
            }
        }

        /// The character that it stands for; nil if it is a wildcard.
        var literal: Unicode.Scalar? { if case .scalar(let scalar) = self { scalar } else { nil } }
    }

    private let parts: [Part]
    /// The index of the part after the last `*`; nil if there is no `*`.
    private let tail: Int?
    /// Matches all positions at once; nil if so few parts stand between two `*` that backtracking is cheap.
    private let states: PatternStates?
    /// If every key that begins so matches, and no other one, the beginning, by which the watchers are looked up.
    let prefix: Key?
    /// The cost of a match at worst, in scanned entries.
    let steps: Int
    /// The memory that it takes, rounded up.
    let bytes: Int

    /// The most parts between two `*` that are tried again at each character of a key.
    private static let partsTriedAgain = 4

    /// Whether every key matches.
    public var matchesAll: Bool { parts == [.run] }
    /// Whether another key than its text may match.
    var hasWildcards: Bool { parts.contains { $0.literal == nil } }
    /// The only key that matches; nil if none does, or if it has wildcards.
    var key: Key? { Self.key(of: parts) }
    /// The cost of trying it for each key; 0 if its watchers are looked up.
    var stepsIfTried: Int { prefix == nil && !matchesAll ? steps : 0 }
    /// The features that a key must have to be tried.
    var filter: Filter { Filter(of: parts) }

    /// Parses a pattern.
    public init(_ text: String) throws(InvalidPattern) {
        guard !text.isEmpty else { throw .empty }
        var remaining = text.unicodeScalars[...]
        var parts: [Part] = []
        while let scalar = remaining.popFirst() {
            switch scalar {
            case "*": if parts.last != .run { parts.append(.run) }
            case "?": parts.append(.one)
            case "[": parts.append(try Self.bracket(&remaining))
            default: parts.append(.scalar(scalar))
            }
        }
        guard parts.count <= PatternStates.capacity else { throw .tooLong(parts: parts.count) }
        self.parts = parts
        bytes = 96 * text.utf8.count
        tail = parts.lastIndex(of: .run).map { $0 + 1 }
        // The parts before the first `*` and after the last one are tried once.
        let pieces = parts.split(separator: .run, omittingEmptySubsequences: false)
        let tried = pieces.dropFirst().dropLast().map(\.count).max() ?? 0
        steps = tried > 0 ? 32 : 4 + parts.count / 8
        states = tried > Self.partsTriedAgain ? PatternStates(parts) : nil
        prefix = parts.last == .run ? Self.key(of: parts.dropLast()) : nil
    }

    /// The key that consists of these parts; nil if one is a wildcard, or if it is not a valid key.
    private static func key(of parts: some Collection<Part>) -> Key? {
        let literals = parts.compactMap(\.literal)
        guard literals.count == parts.count else { return nil }
        return try? Key(String(String.UnicodeScalarView(literals)))
    }

    private static func bracket(_ remaining: inout Substring.UnicodeScalarView) throws(InvalidPattern) -> Part {
        let negated = remaining.first == "!" || remaining.first == "^"
        if negated { remaining.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let low = remaining.popFirst() {
            if low == "]" && !ranges.isEmpty { return .oneOf(ranges, negated: negated) }
            var high = low
            if remaining.first == "-", let end = remaining.dropFirst().first, end != "]" {
                remaining.removeFirst(2)
                high = end
            }
            ranges.append(min(low, high)...max(low, high))
        }
        throw .unclosedBracket
    }

    /// Whether the whole key matches.
    ///
    /// If a part fails, the last `*` takes one more character; earlier ones never need to, so nothing is exponential.
    public func matches(_ key: Key) -> Bool {
        if matchesAll { return true }
        let text = key.text.unicodeScalars
        if let states { return states.matches(text) }
        var (position, part) = (text.startIndex, 0)
        var retry: (position: String.Index, part: Int)?
        while position < text.endIndex {
            if part < parts.count, parts[part] == .run {
                part += 1
                retry = (position, part)
                guard part == tail else { continue }
                // The parts after the last `*` match the end of the key or nothing.
                let end = text.endIndex
                guard let start = text.index(end, offsetBy: part - parts.count, limitedBy: position) else {
                    return false
                }
                (position, retry) = (start, nil)
            } else if part < parts.count, parts[part].matches(text[position]) {
                part += 1
                text.formIndex(after: &position)
            } else if let (start, next) = retry {
                position = text.index(after: start)
                part = next
                retry = (position, next)
            } else {
                return false
            }
        }
        return parts[part...].allSatisfy { $0 == .run }
    }
}

extension Pattern {
    /// The first bytes of a key and the set of its bytes, or those that a pattern requires: a comparison that rules out most keys.
    struct Filter: Hashable, Sendable {
        /// The first eight bytes, and which of them are known.
        private var start: UInt64 = 0
        private var known: UInt64 = 0
        /// A bit for each byte, the same for several.
        private var bytes: UInt64 = 0

        /// The features of a key.
        init(of key: Key) {
            key.withBytes { bytes in
                for index in bytes.indices { add(bytes[index], at: index) }
            }
        }

        /// The features that every key has which matches.
        init(of parts: [Part]) {
            var index = 0
            for part in parts {
                guard let literal = part.literal else {
                    // The places of the bytes behind a wildcard are not known.
                    index = 8
                    continue
                }
                for byte in String(literal).utf8 {
                    add(byte, at: index)
                    index += 1
                }
            }
        }

        private mutating func add(_ byte: UInt8, at index: Int) {
            if index < 8 {
                start |= UInt64(byte) << UInt64(8 * index)
                known |= 0xFF << UInt64(8 * index)
            }
            bytes |= 1 << UInt64(byte % 64)
        }

        /// Whether a key with these features may match; if not, it is certain that it does not.
        func mayMatch(_ key: Filter) -> Bool { key.start & known == start && bytes & ~key.bytes == 0 }
    }

    /// Two patterns are equal if they have the same parts.
    public static func == (left: Pattern, right: Pattern) -> Bool { left.parts == right.parts }

    /// Hashes the parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(parts) }
}

/// Why a text is not a pattern.
public enum InvalidPattern: Error, Equatable {
    case empty
    case unclosedBracket
    /// It has more parts than a key has bytes.
    case tooLong(parts: Int)
}

/// A pattern as a nondeterministic automaton whose states are tried all at once: a key takes a few steps per character, whatever
/// the pattern is.
///
/// State `n` is behind the first `n` parts that match one character. All characters between two bounds match the same parts, so
/// these parts are looked up once.
struct PatternStates: Hashable, Sendable {
    /// The most parts that match one character.
    static let capacity = 255

    /// A bit for each state.
    private typealias Places = SIMD4<UInt64>

    /// The characters at which the set of matching parts changes; the first is 0.
    private let bounds: [UInt32]
    /// For each bound, the parts that match the characters from there on.
    private let taking: [Places]
    /// States at which any characters may be skipped.
    private let staying: Places
    private let last: Int

    /// - Parameter parts: the parts of a pattern; no more than `capacity` of them match a character.
    init(_ parts: [Pattern.Part]) {
        let single = parts.filter { $0 != .run }
        let bounds = Set(single.flatMap(\.bounds) + [0]).sorted()
        var taking = [Places](repeating: .zero, count: bounds.count)
        for (place, part) in single.enumerated() {
            if case .scalar(let scalar) = part {
                taking[Self.index(of: scalar.value, in: bounds)].insert(place)
            } else {
                // A bound that is no character is behind the last one, or the first surrogate: U+E000 is the next character.
                for index in taking.indices where part.matches(Unicode.Scalar(bounds[index]) ?? "\u{E000}") {
                    taking[index].insert(place)
                }
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

    /// The index of the last bound that is not above the character.
    private static func index(of scalar: UInt32, in bounds: [UInt32]) -> Int {
        bounds.firstIndex(bisecting: { $0 > scalar }) - 1
    }
}

extension Pattern.Part {
    /// The characters at which it begins or ceases to match, except for character 0.
    fileprivate var bounds: [UInt32] {
        switch self {
        case .run, .one: []
        case .scalar(let scalar): [scalar.value, scalar.value + 1]
        case .oneOf(let ranges, _): ranges.flatMap { [$0.lowerBound.value, $0.upperBound.value + 1] }
        }
    }
}

extension SIMD4<UInt64> {
    fileprivate mutating func insert(_ place: Int) { self[place / 64] |= 1 << UInt64(place % 64) }

    fileprivate func contains(_ place: Int) -> Bool { self[place / 64] & 1 << UInt64(place % 64) != 0 }

    /// Each state moved by one.
    fileprivate var next: Self {
        (self &<< 1) | (Self(0, self[0], self[1], self[2]) &>> 63)
    }
}
