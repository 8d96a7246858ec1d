/// The text of a JSON array that is filled with elements, which are encoded elsewhere.
struct ElementPage {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    /// Appends an element, or some with commas between them.
    mutating func append(_ elements: [UInt8]) {
        bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
        bytes.append(contentsOf: elements)
    }

    /// The whole array; the page is empty afterwards.
    mutating func take() -> [UInt8] {
        var array: [UInt8] = []
        // The memory goes with it: thousands of watchers would hold theirs from the first page on.
        swap(&array, &bytes)
        if array.isEmpty { array.append(UInt8(ascii: "[")) }
        array.append(UInt8(ascii: "]"))
        return array
    }
}
