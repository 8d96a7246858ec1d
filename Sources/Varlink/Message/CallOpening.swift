/// What calls began with, and what was found in it.
///
/// Whoever calls a method will call it again, and write `{"method":"io.countdownd.Get","parameters":{"key":` as before.
/// What was found in the same bytes holds for them once more: so they are compared, eight at a time, in place of being
/// read.
struct CallOpening {
    /// The most bytes that are kept.
    private static let longest = 128

    /// The bytes before the first parameter's value; none where nothing is kept.
    private var bytes: [UInt8] = []
    /// What was found in them, as if they stood at 0.
    private var found = JSONBeginning()
    /// The method that they name.
    private(set) var target: MethodTarget?

    /// What a message begins with, nil where it does not begin as the one that is kept.
    @inline(__always)
    func found(in message: Span<UInt8>, _ range: Range<Int>) -> JSONBeginning? {
        let end = range.lowerBound &+ bytes.count
        guard !bytes.isEmpty, end < range.upperBound else { return nil }
        guard JSONString.equals(message, in: range.lowerBound..<end, bytes.span) else { return nil }
        return found.moved(to: range.lowerBound)
    }

    /// Keeps the opening of a message that stands in this range and consists of a method and of parameters, in this order.
    mutating func keep(_ message: JSONObject, in range: Range<Int>, calling target: MethodTarget) {
        guard message.nodes[2].next > 3 else { return }
        let end = message.nodes[3].textRange.lowerBound
        guard end - range.lowerBound <= Self.longest else { return }
        bytes.removeAll(keepingCapacity: true)
        bytes.append(contentsOf: message.bytes[range.lowerBound..<end])
        found = JSONBeginning(of: message.nodes, before: end).moved(to: -range.lowerBound)
        self.target = target
    }
}

/// What a scanner has found in the beginning of an object whose first member holds nothing and whose second one is an
/// object with members: up to the value of the first of these.
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

    /// That of a text that was scanned.
    init(of nodes: [JSONNode], before end: Int) {
        (object, first, second) = (nodes[0], nodes[1], nodes[2])
        name = nodes[3].name
        self.end = end
    }

    /// The same, so many bytes further on.
    @inline(__always)
    func moved(to origin: Int) -> JSONBeginning {
        var moved = self
        moved.object = object.moved(by: origin)
        moved.first = first.moved(by: origin)
        moved.second = second.moved(by: origin)
        moved.name = name.moved(by: origin)
        moved.end = end &+ origin
        return moved
    }
}
