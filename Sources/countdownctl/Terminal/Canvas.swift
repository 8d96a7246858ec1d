/// What a frame is drawn on and with.
struct Canvas {
    /// How wide a line may be.
    let columns: Int
    /// How many lines there may be.
    let rows: Int
    let glyphs: Glyphs
    let palette: Palette
    let clock: ClockText
    /// Whether a cursor that blinks is to be seen just now.
    var showsCursor = true

    /// The text, its end replaced by a mark where it is wider than so many columns.
    func fit(_ text: String, columns: Int) -> String {
        guard DisplayWidth.of(text) > columns else { return text }
        let mark = glyphs == .ascii ? "~" : "…"
        return columns > 0 ? DisplayWidth.prefix(text, columns: columns - 1) + mark : ""
    }
}

/// What pictures are made of.
enum Glyphs {
    /// For terminals whose locale has UTF-8.
    case blocks
    /// For the others, and for consoles whose fonts have few characters.
    case ascii
}
