/// Rows in aligned columns, two spaces apart.
struct Table {
    struct Column {
        let title: String
        var alignsRight = false
    }

    struct Cell {
        let text: String
        var tint: Palette.Tint?
    }

    var columns: [Column]
    var rows: [[Cell]] = []

    init(columns: [Column]) { self.columns = columns }

    /// Adds a row, which has a cell for each column.
    mutating func append(_ row: [Cell]) {
        precondition(row.count == columns.count, "a row has a cell for each column")
        rows.append(row)
    }

    /// The lines, with the headings first if there is a legend. No line ends with spaces.
    func lines(legend: Bool, palette: Palette) -> [String] {
        let titles = columns.map { Cell(text: $0.title, tint: .bold) }
        let all = legend ? [titles] + rows : rows
        let widths = widths(legend: legend)
        return all.map { line($0, widths, palette) }
    }

    /// How wide each column is.
    func widths(legend: Bool) -> [Int] {
        columns.indices.map { column in
            let title = legend ? DisplayWidth.of(columns[column].title) : 0
            return rows.reduce(title) { max($0, DisplayWidth.of($1[column].text)) }
        }
    }

    private func line(_ row: [Cell], _ widths: [Int], _ palette: Palette) -> String {
        let last = row.lastIndex { !$0.text.isEmpty } ?? 0
        var line = ""
        for column in 0...last {
            let gap = String(repeating: " ", count: widths[column] - DisplayWidth.of(row[column].text))
            let text = palette.paint(row[column].text, row[column].tint)
            if column > 0 { line += "  " }
            if columns[column].alignsRight {
                line += gap + text
            } else {
                line += column == last ? text : text + gap
            }
        }
        return line
    }
}

extension Table {
    /// A step that makes a table narrower.
    enum Narrowing {
        /// The column of a title goes.
        case leaveOut(String)
        /// The cells of a column are cut, to no less than `least` columns of the terminal.
        case cut(String, least: Int)
    }

    /// Narrows it to a number of columns of the terminal, by as many steps as needed, in their order.
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
