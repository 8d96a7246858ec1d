public import VarlinkDefinition

extension Definition {
    /// The fields that a sample has.
    public enum Extent: Sendable, CaseIterable {
        /// Every field.
        case full
        /// The fields that are not optional.
        case minimal
    }

    /// A value of the type as JSON text: without whitespace, fields in the order of the definition, each integer and
    /// string different, enumerations at their last case.
    public func sample(of type: Shape, _ extent: Extent) -> String {
        var count = 0
        return sample(of: type, extent, counting: &count)
    }

    private func sample(of type: Shape, _ extent: Extent, counting count: inout Int) -> String {
        switch resolved(type) {
        case .bool, .object, .any:
            return if case .object = resolved(type) { "{}" } else { "true" }
        case .float:
            count += 1
            return "\(count).5"
        case .int:
            count += 1
            return "\(9_007_199_254_740_000 + count)"
        case .string:
            count += 1
            return "\"s\(count)\""
        case .array(let element):
            let elements = (0..<2).map { _ in sample(of: element, extent, counting: &count) }
            return "[\(elements.joined(separator: ","))]"
        case .map(let element):
            return "{\"m\":\(sample(of: element, extent, counting: &count))}"
        case .enumeration(let cases):
            return "\"\(cases.last ?? "")\""
        case .structure(let fields):
            let members = fields.filter { extent == .full || !$0.isOptional }
                .map { "\"\($0.name)\":\(sample(of: $0.type, extent, counting: &count))" }
            return "{\(members.joined(separator: ","))}"
        case .named, .nullable:
            preconditionFailure("resolved")
        }
    }
}
