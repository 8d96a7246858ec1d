/// What keys do, on a line.
enum KeyHints {
    struct Hint {
        let key: String
        let meaning: String

        init(_ key: String, _ meaning: String) {
            self.key = key
            self.meaning = meaning
        }
    }

    /// As many of them as there is room for.
    static func line(_ hints: [Hint], on canvas: Canvas) -> StyledLine {
        var line = StyledLine()
        for hint in hints {
            let gap = line.width > 0 ? "   " : ""
            let name = hint.key.isEmpty ? "" : "\(hint.key) "
            guard line.width + DisplayWidth.of(gap + name + hint.meaning) <= canvas.columns else { break }
            line.append(gap)
            line.append(name, .bold, canvas.palette)
            line.append(hint.meaning, .faint, canvas.palette)
        }
        return line
    }
}
