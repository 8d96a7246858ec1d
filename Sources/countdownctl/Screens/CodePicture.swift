/// How a code looks while it is typed: a box for each character, with a line under it that lights when it is filled.
struct CodePicture {
    /// How wide a box is.
    static let box = 3

    let input: CodeInput
    /// The columns between two boxes, where there is room.
    let spacing: Int
    let isHidden: Bool
    /// Whether the cursor may be seen at all.
    let hasKeyboard: Bool
    let canvas: Canvas

    /// How wide the boxes are on this canvas.
    var width: Int { input.length * Self.box + (input.length - 1) * fittingSpacing }

    /// Two lines; one that says so where not even boxes without spacing have room.
    var lines: [StyledLine] {
        guard canvas.columns >= input.length * Self.box else {
            let least = input.length * Self.box + 1
            let progress = "\(input.characters.count) of \(input.length)"
            return [
                StyledLine(progress, on: canvas),
                StyledLine("needs \(least) columns", .yellow, on: canvas),
            ]
        }
        var top = StyledLine()
        var bottom = StyledLine()
        let gap = String(repeating: " ", count: fittingSpacing)
        for place in 0..<input.length {
            if place > 0 {
                top.append(gap)
                bottom.append(gap)
            }
            top.append(" \(content(place)) ", .bold, canvas.palette)
            let isFilled = place < input.characters.count
            bottom.append(stroke(isFilled), isFilled ? .green : .faint, canvas.palette)
        }
        return [top, bottom]
    }

    private var fittingSpacing: Int {
        guard input.length > 1 else { return 0 }
        return max(min(spacing, (canvas.columns - input.length * Self.box) / (input.length - 1)), 0)
    }

    private func content(_ place: Int) -> String {
        if place == input.cursor, hasKeyboard, canvas.showsCursor { return canvas.glyphs == .ascii ? "|" : "│" }
        guard place < input.characters.count else { return " " }
        return isHidden ? (canvas.glyphs == .ascii ? "*" : "•") : String(input.characters[place])
    }

    private func stroke(_ isFilled: Bool) -> String {
        let stroke = canvas.glyphs == .ascii ? (isFilled ? "=" : "-") : (isFilled ? "━" : "─")
        // Boxes without spacing are told apart by their lines.
        return fittingSpacing == 0 && input.length > 1 ? " \(stroke) " : String(repeating: stroke, count: Self.box)
    }
}
