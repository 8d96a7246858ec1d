/// What a frame is drawn on and with.
struct Canvas {
    /// How wide a line may be.
    let columns: Int
    /// How many lines there may be.
    let rows: Int
    let glyphs: Glyphs
    let palette: Palette
    let clock: ClockText
    /// Whether keys come from the terminal.
    var hasKeys = true
    /// Whether a cursor that blinks is to be seen just now.
    var showsCursor = true

    /// The text, its end replaced by a mark where it is wider than so many columns.
    func fit(_ text: String, columns: Int) -> String { glyphs.fit(text, columns: columns) }
}
