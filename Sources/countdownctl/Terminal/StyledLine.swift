/// A line of a frame: text with its colours, and how wide it is.
struct StyledLine: Equatable {
    /// The text with the sequences that colour it.
    private(set) var text = ""
    /// In columns.
    private(set) var width = 0

    init() {}

    /// A line of one colour, cut where it is wider than so many columns.
    init(_ text: String, _ tint: Palette.Tint? = nil, on canvas: Canvas) {
        append(canvas.fit(text, columns: canvas.columns), tint, canvas.palette)
    }

    /// Puts text at the end. It must hold nothing that commands a terminal.
    mutating func append(_ text: String, _ tint: Palette.Tint? = nil, _ palette: Palette = .plain) {
        self.text += palette.paint(text, tint)
        width += DisplayWidth.of(text)
    }

    /// Puts another line at the end.
    mutating func append(_ line: StyledLine) {
        text += line.text
        width += line.width
    }

    /// Fills it with spaces up to a column.
    mutating func pad(to column: Int) {
        guard column > width else { return }
        text += String(repeating: " ", count: column - width)
        width = column
    }
}
