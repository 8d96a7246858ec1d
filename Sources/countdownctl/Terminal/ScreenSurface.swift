import IPC
import System

/// A terminal, and the picture that stands on it until it is given back.
struct ScreenSurface: ~Copyable {
    private var device: TerminalDevice
    private let palette: Palette
    private var isShown = false
    /// Whether the screen is to be left as soon as it is not busy any more.
    var isLeaving = false
    private var painter = FramePainter()
    private var frame = Frame()
    /// The row of the terminal at which the frame begins; nil if it is not known. Only the terminal knows it, and is asked if there
    /// is a target.
    private var origin: Int?
    private var isOriginAsked = false
    /// Lines that are to stand above the picture, and do not yet.
    private var permanent: [String] = []

    init(_ device: consuming TerminalDevice, palette: Palette) {
        self.device = device
        self.palette = palette
    }

    /// The descriptor that keys are read from; nil if no keys are read.
    var input: Int32? { device.input }

    /// When the picture changes by itself; nil if only an event changes it.
    var nextChange: MonotonicDeadline? { frame.nextChange.map { .after(microseconds: $0) } }

    /// Has lines stand above the picture from the next one on.
    mutating func keep(_ lines: [String]) { permanent += lines }

    /// Draws the screen, and enters raw mode before the first frame.
    mutating func paint(_ screen: some Screen) throws(StreamFailure) {
        if !isShown {
            isShown = true
            try device.enter()
        }
        var next = screen.frame(on: canvas)
        // A frame with more lines would scroll, and not be found again.
        next.lines = Array(next.lines.prefix(device.size.rows))
        if next.lines.count != frame.lines.count || !permanent.isEmpty { loseOrigin() }
        frame = next
        var text = painter.paint(frame.lines, below: takePermanent())
        if frame.target != nil, !isOriginAsked {
            isOriginAsked = true
            // The position of the cursor, which is at the start of the frame.
            text += "\u{1B}[6n"
        }
        try write(text)
    }

    /// Restores the terminal and leaves the last lines of the screen on it.
    mutating func leave(_ screen: some Screen) {
        guard isShown else { return }
        isShown = false
        // A terminal that is gone shows nothing any more.
        try? write(painter.finish(screen.remains(on: canvas), below: takePermanent()))
        device.leave()
    }

    /// Restores the terminal during an action, with the frame left on it.
    mutating func pause(_ doSomethingElse: () -> Void) throws(StreamFailure) {
        guard isShown else { return }
        try? write(painter.finish(frame.lines))
        device.leave()
        doSomethingElse()
        try resume()
    }

    /// Takes the terminal again, on which others may have drawn.
    mutating func resume() throws(StreamFailure) {
        guard isShown else { return }
        try device.enter()
        disturb()
    }

    /// Notes that the terminal changed its size or that others drew on it.
    mutating func disturb() {
        painter.disturb()
        loseOrigin()
    }

    private mutating func loseOrigin() { (origin, isOriginAsked) = (nil, false) }

    /// Notes on which row of the terminal the cursor is, as the answer to the question.
    mutating func found(_ row: Int) { if isOriginAsked { origin = origin ?? row } }

    /// Whether something that can be clicked is there on the terminal.
    func hasTarget(row: Int, column: Int) -> Bool {
        origin.map { frame.hasTarget(row: row - $0, column: column) } ?? false
    }

    private var canvas: Canvas {
        let size = device.size
        return Canvas(
            columns: size.columns,
            rows: size.rows,
            glyphs: device.glyphs,
            palette: palette,
            clock: .local,
            hasKeys: device.input != nil,
            isLeaving: isLeaving
        )
    }

    private mutating func takePermanent() -> [String] {
        defer { permanent = [] }
        return permanent
    }

    private func write(_ text: String) throws(StreamFailure) {
        if !text.isEmpty { try device.output.write(Array(text.utf8)) }
    }
}
