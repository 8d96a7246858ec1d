import TestSupport
import Testing

@testable import countdownctl

@Suite("Painting frames")
struct FramePainterTests {
    private func lines(_ texts: [String]) -> [StyledLine] { texts.map { StyledLine($0, on: .plain()) } }

    @Test("unchanged lines are not sent again")
    func nothingTwice() {
        var painter = FramePainter()
        _ = painter.paint(lines(["a", "b"]))
        #expect(painter.paint(lines(["a", "b"])) == "")
        let text = painter.paint(lines(["a", "c"]))
        #expect(text.contains("c") && !text.contains("a"))
    }

    @Test("a frame is sent at once, in synchronized output")
    func synchronized() {
        var painter = FramePainter()
        let text = painter.paint(lines(["a", "b"]))
        #expect(text.hasPrefix("\u{1B}[?2026h") && text.hasSuffix("\u{1B}[?2026l"))
    }

    @Test("frames of any height replace the frame before, with printed lines above them")
    func stand() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            var painter = FramePainter()
            var terminal = LineTerminal(rows: 6)
            terminal.handle("$ command\r\n")
            var above = ["$ command"]
            for _ in 0..<12 {
                let frame = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
                    ["", "one", "two", "three"].randomElement(using: &generator) ?? ""
                }
                let printed = Bool.random(using: &generator) ? [] : ["printed"]
                if Int.random(in: 0..<4, using: &generator) == 0 { painter.disturb() }
                terminal.handle(painter.paint(lines(frame), below: printed))
                above += printed
                #expect(terminal.text == trimmed(above + frame))
            }
            terminal.handle(painter.finish(lines(["last"])))
            terminal.handle("$ ")
            #expect(terminal.text == above + ["last", "$ "])
        }
    }

    @Test(
        "a line that is wider than the terminal thinks stays in its row, and lines above the frame continue on the next"
    )
    func staysInItsRow() {
        var painter = FramePainter()
        var terminal = LineTerminal(rows: 9, columns: 8)
        let texts = ["ten columns", "b"]
        for _ in 0..<3 {
            terminal.handle(painter.paint(lines(texts)))
            #expect(terminal.text == ["ten colu", "b"])
            painter.disturb()
        }
        terminal.handle(painter.paint(lines(["ten columns", "c"]), below: ["printed above"]))
        terminal.handle(painter.paint(lines(["eleven columns", "c"])))
        #expect(terminal.text == ["printed ", "above", "eleven c", "c"])
        terminal.handle(painter.finish(lines(["the last line"])))
        #expect(terminal.text == ["printed ", "above", "the last"])
        #expect(terminal.wraps)
    }

    private func trimmed(_ lines: [String]) -> [String] {
        var lines = lines
        while lines.last == "" { lines.removeLast() }
        return lines
    }
}

/// A terminal as far as frames need one: its lines, including those that have scrolled away.
private struct LineTerminal {
    let rows: Int
    let columns: Int
    private(set) var wraps = true
    private var lines = [""]
    private var row = 0
    private var column = 0

    init(rows: Int, columns: Int = 80) { (self.rows, self.columns) = (rows, columns) }

    /// The lines down to the last one that is not empty.
    var text: [String] {
        var text = lines
        while text.last == "" { text.removeLast() }
        return text
    }

    mutating func handle(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\r": column = 0
            case "\n":
                row += 1
                if row == lines.count { lines.append("") }
            case "\u{1B}": command(&rest)
            default: put(Character(scalar))
            }
        }
    }

    private mutating func command(_ rest: inout ArraySlice<Unicode.Scalar>) {
        var number = ""
        _ = rest.popFirst()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "A": row = max(row - (Int(number) ?? 1), max(lines.count - rows, 0))
            case "K": lines[row] = String(lines[row].prefix(column))
            case "J":
                lines[row] = String(lines[row].prefix(column))
                lines.removeSubrange((row + 1)...)
            case "h", "l": if number == "?7" { wraps = scalar == "h" }
            default:
                number.unicodeScalars.append(scalar)
                continue
            }
            return
        }
    }

    private mutating func put(_ character: Character) {
        if column == columns {
            guard wraps else { return }
            row += 1
            column = 0
            if row == lines.count { lines.append("") }
        }
        var line = Array(lines[row])
        while line.count <= column { line.append(" ") }
        line[column] = character
        lines[row] = String(line)
        column += 1
    }
}
