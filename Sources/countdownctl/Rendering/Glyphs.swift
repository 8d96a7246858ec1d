/// What pictures are made of.
enum Glyphs {
    /// For terminals whose locale has UTF-8.
    case blocks
    /// For the others, and for consoles whose fonts have few characters.
    case ascii

    /// Those of the terminal that the environment tells of.
    init(environment: (String) -> String?) {
        // In the order of setlocale(3).
        let locale = environment("LC_ALL") ?? environment("LC_CTYPE") ?? environment("LANG") ?? ""
        let isUnicode = ["utf-8", "utf8"].contains { locale.lowercased().contains($0) }
        // The fonts of the kernel's console have no more than 512 characters.
        self = isUnicode && environment("TERM") != "linux" ? .blocks : .ascii
    }

    /// The text, its end replaced by a mark where it is wider than so many columns.
    func fit(_ text: String, columns: Int) -> String {
        guard DisplayWidth.of(text) > columns else { return text }
        let mark = self == .ascii ? "~" : "…"
        return columns > 0 ? DisplayWidth.prefix(text, columns: columns - 1) + mark : ""
    }
}
