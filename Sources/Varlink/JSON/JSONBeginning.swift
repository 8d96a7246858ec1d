/// What a scanner has found in the beginning of an object whose first member holds nothing and whose second one is an
/// object with members: up to the value of the first of these. All places count from the beginning.
struct JSONBeginning {
    /// The nodes of the object and of its two members.
    private(set) var object = JSONNode(.object, range: 0..<0, next: 0)
    private(set) var first = JSONNode(.null, range: 0..<0, next: 0)
    private(set) var second = JSONNode(.object, range: 0..<0, next: 0)
    /// The name of the first member of the second one.
    private(set) var name = JSONNode.Name.none
    /// Where its value is to be found.
    private(set) var end = 0

    init() {}

    /// That of a text which was scanned.
    init(of nodes: [JSONNode], from start: Int, to end: Int) {
        object = nodes[0].moved(by: -start)
        first = nodes[1].moved(by: -start)
        second = nodes[2].moved(by: -start)
        name = nodes[3].name.moved(by: -start)
        self.end = end - start
    }
}

extension JSONScanner {
    /// Scans what is left of the outermost object behind a beginning that was found before.
    mutating func scanObject(_ bytes: Span<UInt8>, behind beginning: JSONBeginning) throws(JSONFailure) {
        append(beginning.object.moved(by: origin))
        append(beginning.first.moved(by: origin))
        append(beginning.second.moved(by: origin))
        name = beginning.name.moved(by: origin)
        position = origin &+ beginning.end
        skipWhitespace(bytes)
        try scanValue(bytes, depth: 3)
        try scanRest(bytes, of: 2, depth: 2)
        try scanRest(bytes, of: 0, depth: 1)
    }
}
