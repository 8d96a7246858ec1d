/// Text in aligned columns, two spaces apart.
struct Table {
    struct Cell {
        let text: String
        var tint: Palette.Tint?
    }

    /// A column, which has a cell for each row.
    struct Column {
        let title: String
        var alignsRight = false
        var cells: [Cell]

        func width(legend: Bool) -> Int {
            cells.reduce(legend ? DisplayWidth.of(title) : 0) { max($0, DisplayWidth.of($1.text)) }
        }
    }

    /// A step that makes a table narrower.
    enum Narrowing {
        /// The column of a title goes.
        case leaveOut(String)
        /// The cells of a column are cut, to no less than `least` columns of the terminal.
        case cut(String, least: Int)
    }

    var columns: [Column]

    /// The lines, with the headings first if there is a legend. No line ends with spaces.
    func lines(legend: Bool, palette: Palette) -> [String] {
        let widths = columns.map { $0.width(legend: legend) }
        let titles = columns.map { Cell(text: $0.title, tint: .bold) }
        let rows = (columns.first?.cells.indices ?? 0..<0).map { row in columns.map { $0.cells[row] } }
        return ((legend ? [titles] : []) + rows).map { line($0, widths, palette) }
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

    /// Narrows it to a number of columns of the terminal, by as many steps as needed, in their order.
    mutating func narrow(to room: Int, legend: Bool, glyphs: Glyphs, by steps: [Narrowing]) {
        for step in steps {
            let excess = columns.reduce(2 * (columns.count - 1)) { $0 + $1.width(legend: legend) } - room
            guard excess > 0 else { return }
            switch step {
            case .leaveOut(let title): columns.removeAll { $0.title == title }
            case .cut(let title, let least):
                guard let column = columns.firstIndex(where: { $0.title == title }) else { continue }
                let width = columns[column].width(legend: legend) - excess
                guard width >= least else { continue }
                columns[column].cells = columns[column].cells.map { cell in
                    Cell(text: glyphs.fit(cell.text, columns: width), tint: cell.tint)
                }
            }
        }
    }
}
