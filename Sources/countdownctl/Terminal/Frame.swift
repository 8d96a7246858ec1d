/// A whole picture, as it stands on a terminal until the next one.
struct Frame: Equatable {
    var lines: [StyledLine] = []
    /// What can be clicked.
    var targets: [Target] = []
    /// Whether it holds a cursor that blinks.
    var blinks = false

    /// A part of the picture that can be clicked.
    struct Target: Equatable {
        let rows: Range<Int>
        let columns: Range<Int>
    }

    /// Whether something that can be clicked is there.
    func hasTarget(row: Int, column: Int) -> Bool {
        targets.contains { $0.rows.contains(row) && $0.columns.contains(column) }
    }
}
