/// One value of a scanned text: where it stands, and under which name.
///
/// The nodes of a text lie in one array in the order of the text, a container before what it holds, so that a member is
/// found and a nested object entered without reading the text again.
@usableFromInline
struct JSONNode: Sendable {
    /// What a value is.
    @usableFromInline
    enum Kind: UInt8, Sendable {
        case null
        case `true`
        case `false`
        /// A number without fraction and exponent.
        case integer
        /// A number with one of them, or both.
        case fractional
        /// A string whose bytes stand for themselves.
        case string
        /// A string that holds escapes.
        case escapedString
        case array
        case object
    }

    /// The name of a member: the bytes between its quotes. An element and the whole text have an empty one.
    @usableFromInline
    struct Name: Sendable {
        static let none = Name(start: 0, end: 0, isEscaped: false)

        @usableFromInline
        private(set) var start: UInt32
        @usableFromInline
        private(set) var end: UInt32
        /// Whether the name holds escapes.
        @usableFromInline
        let isEscaped: Bool

        /// The same name, so many bytes further on.
        @inline(__always)
        func moved(by distance: Int) -> Name {
            var moved = self
            moved.start &+= UInt32(truncatingIfNeeded: distance)
            moved.end &+= UInt32(truncatingIfNeeded: distance)
            return moved
        }

        @inline(__always)
        init(start: Int, end: Int, isEscaped: Bool) {
            self.start = UInt32(truncatingIfNeeded: start)
            self.end = UInt32(truncatingIfNeeded: end)
            self.isEscaped = isEscaped
        }
    }

    @usableFromInline
    private(set) var name: Name
    @usableFromInline
    let kind: Kind
    /// The bytes of the value, those between the quotes where it is a string.
    @usableFromInline
    private(set) var start: UInt32
    @usableFromInline
    var end: UInt32
    /// The index of the first node that is not inside this one.
    @usableFromInline
    var next: UInt32

    @inline(__always)
    init(_ kind: Kind, named name: Name = .none, range: Range<Int>, next: Int) {
        self.name = name
        self.kind = kind
        start = UInt32(truncatingIfNeeded: range.lowerBound)
        end = UInt32(truncatingIfNeeded: range.upperBound)
        self.next = UInt32(truncatingIfNeeded: next)
    }

    /// The same node, so many bytes further on.
    @inline(__always)
    func moved(by distance: Int) -> JSONNode {
        var moved = self
        moved.name = name.moved(by: distance)
        moved.start &+= UInt32(truncatingIfNeeded: distance)
        moved.end &+= UInt32(truncatingIfNeeded: distance)
        return moved
    }

    @inlinable
    var isEscaped: Bool { kind == .escapedString }
    @inlinable
    var isString: Bool { kind == .string || kind == .escapedString }
    var isNumber: Bool { kind == .integer || kind == .fractional }
    @inlinable
    var range: Range<Int> { Int(start)..<Int(end) }
    @inlinable
    var nameRange: Range<Int> { Int(name.start)..<Int(name.end) }
    /// The bytes of the value with the quotes that it may have.
    var textRange: Range<Int> { isString ? Int(start) - 1..<Int(end) + 1 : range }
}
