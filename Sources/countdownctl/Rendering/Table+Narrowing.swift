extension Table {
    /// What makes a table narrower.
    enum Narrowing {
        /// The column of a title goes.
        case leaveOut(String)
        /// What stands in it is cut, to no less than so many columns of the terminal.
        case cut(String, least: Int)
    }

    /// Makes it no wider than so many columns of the terminal: by the steps that are needed, in their order.
    mutating func narrow(to room: Int, legend: Bool, glyphs: Glyphs, by steps: [Narrowing]) {
        for step in steps {
            let widths = widths(legend: legend)
            let excess = widths.reduce(2 * (widths.count - 1), +) - room
            guard excess > 0 else { return }
            switch step {
            case .leaveOut(let title): remove(title)
            case .cut(let title, let least):
                guard let column = columns.firstIndex(where: { $0.title == title }) else { continue }
                if widths[column] - excess >= least { cut(column, to: widths[column] - excess, glyphs) }
            }
        }
    }

    private mutating func remove(_ title: String) {
        guard let column = columns.firstIndex(where: { $0.title == title }) else { return }
        columns.remove(at: column)
        for row in rows.indices { rows[row].remove(at: column) }
    }

    private mutating func cut(_ column: Int, to width: Int, _ glyphs: Glyphs) {
        for row in rows.indices {
            let cell = rows[row][column]
            rows[row][column] = Cell(text: glyphs.fit(cell.text, columns: width), tint: cell.tint)
        }
    }
}
