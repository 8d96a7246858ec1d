/// The text of a JSON array that is filled element by element, each encoded elsewhere.
struct ElementPage {
    private var bytes: [UInt8] = []

    var isEmpty: Bool { bytes.isEmpty }
    var count: Int { bytes.count }

    mutating func append(_ element: [UInt8]) {
        bytes.append(UInt8(ascii: bytes.isEmpty ? "[" : ","))
        bytes.append(contentsOf: element)
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
