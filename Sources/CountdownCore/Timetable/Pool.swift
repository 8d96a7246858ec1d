/// Elements in numbered places that are used again; none of them is ever moved.
struct Pool<Element: Sendable>: Sendable {
    private var elements = ChunkedArray<Element>()
    private var unused = ChunkedArray<Int32>()

    subscript(_ number: Int32) -> Element {
        get { elements[Int(number)] }
        _modify { yield &elements[Int(number)] }
    }

    /// Takes an element in.
    /// - Returns: its number.
    mutating func insert(_ element: consuming Element) -> Int32 {
        guard unused.count > 0 else {
            elements.append(element)
            return Int32(truncatingIfNeeded: elements.count - 1)
        }
        let number = unused.removeLast()
        elements[Int(number)] = element
        return number
    }

    /// Gives a number back; what is left in its place holds nothing.
    mutating func free(_ number: Int32, leaving element: consuming Element) {
        elements[Int(number)] = element
        unused.append(number)
    }
}
