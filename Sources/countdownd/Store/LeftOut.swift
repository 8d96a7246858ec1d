import CountdownCore

/// A row that no daemon writes, and that is not served.
struct LeftOut: Equatable, CustomStringConvertible {
    let row: String
    let fault: String
    /// Of the change that is missing for it; nil where that cannot be known.
    let revision: Revision?

    var description: String { "\(row): \(fault)" }
}
