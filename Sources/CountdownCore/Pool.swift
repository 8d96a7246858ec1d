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
