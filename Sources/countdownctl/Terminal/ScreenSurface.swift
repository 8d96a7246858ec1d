import IPC
import System

/// A terminal, and the picture that stands on it until it is given back.
struct ScreenSurface: ~Copyable {
    private var device: TerminalDevice
    private let palette: Palette
    private var isShown = false
    private var painter = FramePainter()
    private var frame = Frame()
    private var origin = FrameOrigin()
    /// Lines that are to stand above the picture, and do not yet.
    private var permanent: [String] = []
    /// The cursor of the picture.
    var blinking = CursorBlink()

    init(_ device: consuming TerminalDevice, palette: Palette) {
        self.device = device
        self.palette = palette
    }

    /// What keys come from; nil where there is only something to look at.
    var input: Int32? { device.input }

    /// Has lines stand above the picture from the next one on.
    mutating func keep(_ lines: [String]) { permanent += lines }

    /// Draws how a screen looks now, and takes the terminal for that where it is not ours.
    mutating func paint(_ screen: some Screen) throws(StreamFailure) {
        if !isShown {
            isShown = true
            try device.enter()
        }
        let next = screen.frame(on: canvas)
        if next.lines.count != frame.lines.count || !permanent.isEmpty { origin.lose() }
        frame = next
        blinking.isWanted = frame.blinks
        var text = painter.paint(frame.lines, below: takePermanent())
        if !frame.targets.isEmpty { text += origin.question() }
        try write(text)
    }

    /// Gives the terminal back, with what is to stay on it of a screen.
    mutating func leave(_ screen: some Screen) {
        guard isShown else { return }
        isShown = false
        // A terminal that is gone shows nothing any more.
        try? write(painter.finish(screen.remains(on: canvas), below: takePermanent()))
        device.leave()
    }

    /// Gives the terminal back with the picture on it, while somebody does something else.
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
        origin.lose()
    }

    /// Notes on which row of the terminal the cursor is.
    mutating func found(_ row: Int) { origin.found(row) }

    /// Whether something that can be clicked is there on the terminal.
    func hasTarget(row: Int, column: Int) -> Bool {
        origin.row(of: row).map { frame.hasTarget(row: $0, column: column) } ?? false
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
            showsCursor: blinking.showsCursor
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

/// The beat of a cursor that blinks: seen and unseen for as long as each other.
struct CursorBlink {
    /// About once a second, as terminals do.
    private static let interval: Int64 = 530_000

    private(set) var showsCursor = true
    /// When it is to change; nil where none blinks.
    private(set) var next: Client.Deadline?

    /// Whether there is a cursor to be seen.
    var isWanted = false {
        didSet { if isWanted != oldValue { begin() } }
    }

    /// Begins with a cursor that is seen, as it is after each key.
    mutating func begin() {
        showsCursor = true
        next = isWanted ? .after(microseconds: Self.interval) : nil
    }

    /// Changes where it is time.
    mutating func pass() {
        guard let next, next.remainingUSec == 0 else { return }
        showsCursor.toggle()
        self.next = .after(microseconds: Self.interval)
    }
}
