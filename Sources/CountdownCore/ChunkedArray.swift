/// An array that grows without copying its elements: growing an array of millions would delay everything else.
public struct ChunkedArray<Element: Sendable>: Sendable {
    private static var shift: Int { 10 }
    private static var chunkSize: Int { 1 << shift }

    private var chunks: [[Element]] = []
    /// The number of elements.
    public private(set) var count = 0

    /// An array without elements.
    public init() {}

    /// The element at a position.
    public subscript(_ position: Int) -> Element {
        get { chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
        _modify { yield &chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
    }

    /// Appends an element.
    public mutating func append(_ element: consuming Element) {
        if count == chunks.count << Self.shift {
            var chunk: [Element] = []
            chunk.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[count >> Self.shift].append(element)
        count += 1
    }

    /// Removes the last element; there must be one.
    ///
    /// - Returns: the element.
    public mutating func removeLast() -> Element {
        count -= 1
        let last = chunks[count >> Self.shift].removeLast()
        // One empty chunk stays, so that growing and shrinking at its edge does not allocate.
        if chunks.count > (count >> Self.shift) + 2 { chunks.removeLast() }
        return last
    }
}
