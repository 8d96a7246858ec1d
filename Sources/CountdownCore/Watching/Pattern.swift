/// A glob pattern over keys.
///
/// `*` stands for any run of characters, slashes too; `?` for one character; `[abc]`, `[a-z]` for one of them, `[!…]`
/// (or `[^…]`) for one of the others; a `]` that stands first is meant literally. There are no escapes: `[*]` is a
/// literal star.
/// Matching takes a few steps a character of the key, whatever the pattern.
public struct Pattern: Hashable, Sendable {
    /// What keeps a text from being a pattern.
    public enum Invalid: Error, Equatable {
        case empty
        case unclosedBracket
        /// It has so many parts, more than a key has bytes.
        case tooLong(parts: Int)
    }

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
    }

    private let parts: [Part]
    /// Where trying place after place could take long; nil where the parts behind each `*` are few.
    private let states: PatternStates?
    /// What a match takes at the worst, in entries that are walked past.
    let steps: Int
    /// What it takes to be kept, rounded up.
    let bytes: Int

    /// So many parts behind a `*` are tried at each character of a key.
    private static let partsTriedAgain = 4

    /// Whether every key matches.
    public var matchesAll: Bool { parts == [.run] }

    /// A pattern of that text, or why it is none.
    public init(_ text: String) throws(Invalid) {
        guard !text.isEmpty else { throw .empty }
        var rest = text.unicodeScalars[...]
        var parts: [Part] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": if parts.last != .run { parts.append(.run) }
            case "?": parts.append(.one)
            case "[": parts.append(try Self.bracket(&rest))
            default: parts.append(.scalar(scalar))
            }
        }
        guard parts.count <= PatternStates.capacity else { throw .tooLong(parts: parts.count) }
        self.parts = parts
        bytes = 96 * text.utf8.count
        let tried = parts.split(separator: .run, omittingEmptySubsequences: false).dropFirst().map(\.count).max() ?? 0
        steps = tried > 0 ? 32 : 1 + parts.count / 8
        states = tried > Self.partsTriedAgain ? PatternStates(parts) : nil
    }

    private static func bracket(_ rest: inout Substring.UnicodeScalarView) throws(Invalid) -> Part {
        let negated = rest.first == "!" || rest.first == "^"
        if negated { rest.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        while let low = rest.popFirst() {
            if low == "]" && !ranges.isEmpty { return .oneOf(ranges, negated: negated) }
            var high = low
            if rest.first == "-", let end = rest.dropFirst().first, end != "]" {
                rest.removeFirst(2)
                high = end
            }
            ranges.append(min(low, high)...max(low, high))
        }
        throw .unclosedBracket
    }

    /// Whether the whole key matches.
    ///
    /// Where a part fails, the last `*` takes one character more; earlier ones never need to, so nothing is exponential.
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
