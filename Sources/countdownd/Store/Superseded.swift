import CountdownCore

/// Rows that count no more, first come, first deleted: a row goes after all that it has superseded.
struct Superseded {
    private var revisions: [Revision]
    private var first = 0

    init(_ revisions: [Revision]) {
        self.revisions = revisions
    }

    var count: Int { revisions.count - first }

    mutating func append(_ revision: Revision) {
        revisions.append(revision)
    }

    mutating func append(contentsOf more: [Revision]) {
        revisions.append(contentsOf: more)
    }

    /// The next that may go. The newest row of all stays, so that its revision is never given again.
    ///
    /// - Returns: a copy, as a slice would have all of them copied when the next one is added.
    func deletable(before newest: Revision, most: Int) -> [Revision] {
        Array(revisions[first...].prefix(most).prefix { $0 < newest })
    }

    mutating func removeFirst(_ count: Int) {
        first += count
        guard first > revisions.count / 2 else { return }
        revisions.removeFirst(first)
        first = 0
    }
}
