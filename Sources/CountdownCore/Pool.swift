/// Elements under numbers that are used again; an element is never moved.
///
/// Everything is inlinable, so that other modules get specialized code.
public struct Pool<Element: Sendable>: Sendable {
    @usableFromInline
    var elements = ChunkedArray<Element>()
    @usableFromInline
    var unused = ChunkedArray<Int32>()

    /// A pool without elements.
    @inlinable
    public init() {}

    /// The count of numbers, of which some may be free.
    @inlinable
    public var count: Int { elements.count }

    /// The element under a number.
    @inlinable
    public subscript(_ number: Int32) -> Element {
        get { elements[Int(number)] }
        _modify { yield &elements[Int(number)] }
    }

    /// Adds an element.
    ///
    /// - Returns: its number.
    @inlinable
    public mutating func insert(_ element: consuming Element) -> Int32 {
        guard unused.count > 0 else {
            elements.append(element)
            return Int32(truncatingIfNeeded: elements.count - 1)
        }
        let number = unused.removeLast()
        elements[Int(number)] = element
        return number
    }

    /// Frees a number; the given element, which should hold no memory, takes the place.
    @inlinable
    public mutating func free(_ number: Int32, leaving element: consuming Element) {
        elements[Int(number)] = element
        unused.append(number)
    }
}

/// An array that grows without copying its elements: growing an array of millions would delay everything else.
///
/// Everything is inlinable, so that other modules get specialized code.
public struct ChunkedArray<Element: Sendable>: Sendable {
    @usableFromInline
    static var shift: Int { 10 }
    @usableFromInline
    static var chunkSize: Int { 1 << shift }

    @usableFromInline
    var chunks: [[Element]] = []
    /// The number of elements.
    @inlinable
    public var count: Int { size }
    @usableFromInline
    var size = 0

    /// An array without elements.
    @inlinable
    public init() {}

    /// The element at a position.
    @inlinable
    public subscript(_ position: Int) -> Element {
        get { chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
        _modify { yield &chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
    }

    /// Appends an element.
    @inlinable
    public mutating func append(_ element: consuming Element) {
        if count == chunks.count << Self.shift {
            var chunk: [Element] = []
            chunk.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[count >> Self.shift].append(element)
        size += 1
    }

    /// Removes the last element; there must be one.
    ///
    /// - Returns: the element.
    @inlinable
    public mutating func removeLast() -> Element {
        size -= 1
        let last = chunks[count >> Self.shift].removeLast()
        // One empty chunk stays, so that growing and shrinking at its edge does not allocate.
        if chunks.count > (count >> Self.shift) + 2 { chunks.removeLast() }
        return last
    }
}
