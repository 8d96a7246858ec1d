/// A method that a service implements.
final class MethodTarget: Sendable {
    let interface: String
    let name: String
    let fullName: String
    /// Whether the session answers it by itself.
    let isIntrospection: Bool

    init(interface: String, name: String) {
        self.interface = interface
        self.name = name
        fullName = interface + "." + name
        isIntrospection = interface == ServiceInterface.name
    }
}

/// Finds methods by the bytes of their full names, without making strings of them.
struct MethodTable: Sendable {
    private let interfaces: [String]
    /// The methods, those of equal length together.
    private let targets: [MethodTarget]
    /// Where the methods of each length start in `targets`.
    private let starts: [Int]
    /// The full names of the targets, one after the other, and where each of them starts.
    private let names: [UInt8]
    private let nameStarts: [Int]

    init(_ descriptions: [InterfaceDescription]) {
        interfaces = descriptions.map(\.name)
        let targets = descriptions.flatMap { description in
            description.methods.map { MethodTarget(interface: description.name, name: $0) }
        }
        let sorted = targets.sorted { $0.fullName.utf8.count < $1.fullName.utf8.count }
        let lengths = sorted.map(\.fullName.utf8.count)
        starts = (0...(lengths.last ?? 0) + 1).map { length in
            lengths.firstIndex { $0 >= length } ?? lengths.count
        }
        names = sorted.flatMap { Array($0.fullName.utf8) }
        nameStarts = lengths.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1) }
        self.targets = sorted
    }

    /// The method whose full name these bytes are.
    func find(_ bytes: Span<UInt8>, in range: Range<Int>) -> MethodTarget? {
        guard range.count + 1 < starts.count else { return nil }
        for index in starts[range.count]..<starts[range.count + 1] {
            let name = names.span.extracting(nameStarts[index]..<nameStarts[index] + range.count)
            if JSONString.equals(bytes, in: range, name) { return targets[index] }
        }
        return nil
    }

    /// The error for a full name that is no method's.
    func error(for fullName: String) -> ServiceError {
        let interface = fullName.utf8.lastIndex(of: ASCII.dot).map { String(fullName[..<$0]) } ?? ""
        return interfaces.contains(interface) ? .methodNotFound(fullName) : .interfaceNotFound(interface)
    }
}
