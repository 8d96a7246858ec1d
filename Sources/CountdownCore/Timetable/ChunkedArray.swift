/// An array that grows without copying what it holds: a growing array of millions would hold everything up meanwhile.
struct ChunkedArray<Element: Sendable>: Sendable {
    private static var shift: Int { 10 }
    private static var chunkSize: Int { 1 << shift }

    private var chunks: [[Element]] = []
    private(set) var count = 0

    subscript(_ position: Int) -> Element {
        get { chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
        _modify { yield &chunks[position >> Self.shift][position & (Self.chunkSize - 1)] }
    }

    mutating func append(_ element: consuming Element) {
        if count == chunks.count << Self.shift {
            var chunk: [Element] = []
            chunk.reserveCapacity(Self.chunkSize)
            chunks.append(chunk)
        }
        chunks[count >> Self.shift].append(element)
        count += 1
    }

    /// Takes the last element out; there has to be one.
    mutating func removeLast() -> Element {
        count -= 1
        let last = chunks[count >> Self.shift].removeLast()
        // One empty chunk is kept, so that an array that grows and shrinks at its edge does not allocate.
        if chunks.count > (count >> Self.shift) + 2 { chunks.removeLast() }
        return last
    }
}
