/// The label and the metadata of a countdown.
///
/// Few countdowns have any; those that have hold them in one place, so that a countdown is copied at the cost of one
/// reference however much its starter keeps with it.
enum Texts: Hashable, Sendable {
    case none
    indirect case some(label: String?, metadata: [String: String])

    init(label: String?, metadata: [String: String]) {
        self = label == nil && metadata.isEmpty ? .none : .some(label: label, metadata: metadata)
    }

    var label: String? {
        guard case .some(let label, _) = self else { return nil }
        return label
    }

    var metadata: [String: String] {
        guard case .some(_, let metadata) = self else { return [:] }
        return metadata
    }

    /// Their bytes, with what it takes to keep them: some 32 for a text, 96 for a pair.
    var size: Int {
        guard case .some(let label, let metadata) = self else { return 0 }
        let labelBytes = label.map { 32 + $0.utf8.count } ?? 0
        return metadata.reduce(labelBytes) { $0 + 96 + $1.key.utf8.count + $1.value.utf8.count }
    }
}
