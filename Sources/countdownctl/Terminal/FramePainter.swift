/// Turns frames into what a terminal is to be sent, one frame at once: the lines that changed, and nothing where none
/// has. Frames stand in the midst of what was on the terminal before; in between the cursor rests at their beginning, so
/// that they are found again where the terminal broke the lines anew.
struct FramePainter {
    /// Terminals that know this mode show what comes in it all at once; others pass over it.
    private static let beginning = "\u{1B}[?2026h"
    private static let ending = "\u{1B}[?2026l"
    private static let eraseLine = "\u{1B}[K"
    private static let eraseBelow = "\u{1B}[J"

    private var drawn: [StyledLine] = []
    /// Whether what stands there may be something else than what was drawn.
    private var isDisturbed = false

    /// Notes that the terminal changed its size or that others drew on it: the next frame is drawn as a whole.
    mutating func disturb() { isDisturbed = true }

    /// Draws a frame in the place of the one before, and lines above it that stay.
    mutating func paint(_ lines: [StyledLine], below permanent: [String] = []) -> String {
        if isDisturbed || !permanent.isEmpty { return paintAll(lines, below: permanent) }
        guard lines != drawn else { return "" }
        var text = ""
        var row = 0
        for (place, line) in lines.enumerated() where place >= drawn.count || line != drawn[place] {
            text += down(from: row, to: place) + line.text + Self.eraseLine
            row = place
        }
        if lines.count < drawn.count {
            text += down(from: row, to: max(lines.count - 1, 0)) + (lines.isEmpty ? "" : lines[lines.count - 1].text)
            text += Self.eraseBelow
            row = max(lines.count - 1, 0)
        }
        drawn = lines
        return Self.beginning + text + up(row) + Self.ending
    }

    /// Draws the last frame, and goes to the line below it.
    mutating func finish(_ lines: [StyledLine], below permanent: [String] = []) -> String {
        let text = paint(lines, below: permanent)
        defer { self = FramePainter() }
        return lines.isEmpty ? text : text + "\r\(String(repeating: "\n", count: lines.count))"
    }

    private mutating func paintAll(_ lines: [StyledLine], below permanent: [String]) -> String {
        isDisturbed = false
        drawn = lines
        let above = permanent.map { "\($0)\r\n" }.joined()
        let frame = lines.map(\.text).joined(separator: "\r\n")
        return Self.beginning + "\r" + Self.eraseBelow + above + frame + up(lines.count - 1) + Self.ending
    }

    /// To the beginning of a line, which is made where it is not there.
    private func down(from row: Int, to place: Int) -> String {
        "\r" + String(repeating: "\n", count: max(place - row, 0))
    }

    private func up(_ rows: Int) -> String { rows > 0 ? "\r\u{1B}[\(rows)A" : "\r" }
}
