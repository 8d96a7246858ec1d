/// One line of a terminal that shows a countdown: its name, what remains, how far it is, and when it ends.
struct ProgressBar {
    /// The narrowest bar that still says something.
    private static let narrowest = 8
    private static let widest = 40

    let name: String
    /// What stands behind the name: `4:59`.
    let remaining: String
    /// What stands at the end: `ends 17:30:05`.
    let ending: String
    /// From 0 at the beginning to 1 at the end.
    let progress: Double

    /// The line, never wider than so many columns: the bar goes first where there is no room, then the end of the line.
    func line(columns: Int, glyphs: Glyphs) -> String {
        let head = name.isEmpty ? remaining : "\(name)  \(remaining)"
        let tail = ending.isEmpty ? "" : "  \(ending)"
        let room = columns - DisplayWidth.of(head) - DisplayWidth.of(tail) - 4
        guard room >= Self.narrowest else { return DisplayWidth.prefix(head + tail, columns: columns) }
        return "\(head)  \(bar(width: min(room, Self.widest), glyphs))\(tail)"
    }

    /// A bar of so many columns between its brackets or without them, always two more than its width.
    func bar(width: Int, _ glyphs: Glyphs) -> String {
        let eighths = Int((min(max(progress, 0), 1) * Double(width * 8)).rounded(.down))
        let full = eighths / 8
        switch glyphs {
        case .ascii:
            return "[\(String(repeating: "#", count: full))\(String(repeating: "-", count: width - full))]"
        case .blocks:
            let parts = ["", "\u{258F}", "\u{258E}", "\u{258D}", "\u{258C}", "\u{258B}", "\u{258A}", "\u{2589}"]
            let part = parts[eighths % 8]
            let rest = width - full - (part.isEmpty ? 0 : 1)
            let filled = String(repeating: "\u{2588}", count: full) + part + String(repeating: " ", count: rest)
            return "\u{2595}\(filled)\u{258F}"
        }
    }
}
