/// A whole picture, as it stands on a terminal until the next one.
struct Frame: Equatable {
    var lines: [StyledLine] = []
    var target: Target?
    /// The microseconds until the picture changes by itself; nil if only an event changes it.
    var nextChange: Int64?

    /// The part of the picture that can be clicked.
    struct Target: Equatable {
        let rows: Range<Int>
        let columns: Range<Int>

        func moved(down: Int = 0, right: Int = 0) -> Target {
            Target(
                rows: rows.lowerBound + down..<rows.upperBound + down,
                columns: columns.lowerBound + right..<columns.upperBound + right
            )
        }
    }

    /// Whether something that can be clicked is there.
    func hasTarget(row: Int, column: Int) -> Bool {
        target.map { $0.rows.contains(row) && $0.columns.contains(column) } ?? false
    }
}

/// A line of a frame: text with its colours, and how wide it is.
struct StyledLine: Equatable {
    /// The text with the sequences that colour it.
    private(set) var text = ""
    /// In columns.
    private(set) var width = 0

    init() {}

    /// A line of one colour, cut at the width of the canvas.
    init(_ text: String, _ tint: Palette.Tint? = nil, on canvas: Canvas) {
        append(canvas.glyphs.fit(text, columns: canvas.columns), tint, canvas.palette)
    }

    /// Puts text at the end. It must hold nothing that commands a terminal.
    mutating func append(_ text: String, _ tint: Palette.Tint? = nil, _ palette: Palette = .plain) {
        self.text += palette.paint(text, tint)
        width += DisplayWidth.of(text)
    }

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

/// The size and style of the terminal that a frame is drawn for.
struct Canvas {
    let columns: Int
    let rows: Int
    let glyphs: Glyphs
    var palette: Palette
    let clock: ClockText
    /// Whether keys come from the terminal.
    var hasKeys = true
    /// Whether the screen is to be left as soon as it is not busy any more.
    var isLeaving = false
}

/// Turns frames into terminal output, one frame at a time: only changed lines are sent.
/// Frames are drawn inline, below earlier output; between frames the cursor stays at the start of the frame, so
/// that the frame is found again after the terminal has rewrapped its lines. A line of a frame never continues on the next
/// row, however wide the terminal thinks that it is; each text turns wrapping on again itself, whatever comes after it.
struct FramePainter {
    /// Synchronized output: terminals that know it show the frame at once; others ignore it.
    private static let beginning = "\u{1B}[?2026h"
    private static let ending = "\u{1B}[?2026l"
    /// Characters that do not fit are drawn in the last column, one over the other.
    private static let wrapOff = "\u{1B}[?7l"
    private static let wrapOn = "\u{1B}[?7h"
    private static let eraseLine = "\u{1B}[K"
    private static let eraseBelow = "\u{1B}[J"

    private var drawn: [StyledLine] = []
    /// Whether the terminal may show something other than the last frame.
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
        return Self.beginning + Self.wrapOff + text + Self.wrapOn + up(row) + Self.ending
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
        let frame = Self.wrapOff + lines.map(\.text).joined(separator: "\r\n") + Self.wrapOn
        return Self.beginning + "\r" + Self.eraseBelow + above + frame + up(lines.count - 1) + Self.ending
    }

    /// To the start of a line, which is created if it does not exist.
    private func down(from row: Int, to place: Int) -> String {
        "\r" + String(repeating: "\n", count: max(place - row, 0))
    }

    private func up(_ rows: Int) -> String { rows > 0 ? "\r\u{1B}[\(rows)A" : "\r" }
}
