import Glibc
import IPC
import System

/// A terminal in raw mode that shows frames, until it is restored.
struct TerminalDevice: ~Copyable {
    /// The descriptor that keys are read from; nil if no keys are read.
    let input: Int32?
    let output: StandardStream
    let glyphs: Glyphs
    private let ownsDescriptor: Bool
    private let modes: TerminalModes
    private var before: termios?
    private var isEntered = false

    /// Standard output with the keys of the terminal that this process is in front of.
    ///
    /// Nil if it is not a terminal, cannot draw, or belongs to another job now.
    static func ofOutput() -> TerminalDevice? {
        let stream = StandardStream.output
        guard stream.isTerminal, draws, isInFront(stream.descriptor) else { return nil }
        let keys = StandardStream.input.isTerminal ? STDIN_FILENO : nil
        return TerminalDevice(input: keys, stream, TerminalModes(), isOwn: false)
    }

    /// The terminal of this session, wherever standard input and output go.
    ///
    /// Nil if the process has no terminal, or the terminal cannot draw.
    static func ofSession(_ modes: TerminalModes) -> TerminalDevice? {
        guard draws else { return nil }
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        return TerminalDevice(input: descriptor, StandardStream(descriptor: descriptor), modes, isOwn: true)
    }

    /// Keys from `input` and frames to `output`, which the device closes if it owns it.
    init(input: Int32?, _ output: StandardStream, _ modes: TerminalModes, isOwn: Bool) {
        self.input = input
        self.output = output
        self.modes = modes
        ownsDescriptor = isOwn
        glyphs = Glyphs(environment: Environment.value)
    }

    deinit {
        if isEntered { Self.give(back: output, input: input, before, modes) }
        if ownsDescriptor { close(output.descriptor) }
    }

    /// How many columns and rows it has now; a column less if there are several, so that no line is rewrapped.
    var size: (columns: Int, rows: Int) {
        let size = output.size
        return (size.map { max($0.columns - 1, 1) } ?? 79, size?.rows ?? 24)
    }

    mutating func enter() throws(StreamFailure) {
        isEntered = true
        if let input {
            var settings = termios()
            if unsafe tcgetattr(input, &settings) == 0 {
                before = before ?? settings
                settings.c_lflag &= ~tcflag_t(ICANON | ECHO | IEXTEN)
                settings.c_iflag &= ~tcflag_t(INLCR | IGNCR)
                unsafe withUnsafeMutableBytes(of: &settings.c_cc) { codes in
                    // A read returns 0 if there is nothing to read, because keys may vanish after poll(2) has reported
                    // them: those before a Ctrl-C, or those that another process read.
                    unsafe codes[Int(VMIN)] = 0
                    unsafe codes[Int(VTIME)] = 0
                }
                unsafe tcsetattr(input, TCSANOW, &settings)
            }
        }
        try output.write(Array(modes.entering.utf8))
    }

    /// Restores the terminal and drops unread input, which was not meant for the next program.
    mutating func leave() {
        guard isEntered else { return }
        isEntered = false
        Self.give(back: output, input: input, before, modes)
    }

    private static func give(back output: StandardStream, input: Int32?, _ before: termios?, _ modes: TerminalModes) {
        // A terminal that is gone needs nothing back.
        try? output.write(Array(modes.leaving.utf8))
        guard let input, var before else { return }
        tcflush(input, TCIFLUSH)
        unsafe tcsetattr(input, TCSANOW, &before)
    }

    private static var draws: Bool { canObey(Environment.value) }

    /// Whether the terminal that the environment names obeys control sequences. One without a name gets plain text, like
    /// one that is called dumb.
    static func canObey(_ environment: (String) -> String?) -> Bool {
        !["", "dumb"].contains(environment("TERM") ?? "")
    }

    /// Whether this process may read and set the terminal without being stopped for it.
    private static func isInFront(_ descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }
}

/// Private modes of xterm for input beside keys. A terminal ignores modes that it does not know.
struct TerminalModes {
    /// Pasted text in brackets, and whether the terminal has the keyboard.
    static let text = TerminalModes(numbers: [2004, 1004])
    /// Presses of the mouse.
    static let mouse = TerminalModes(numbers: [1000, 1006])
    static let all = TerminalModes(numbers: text.numbers + mouse.numbers)

    var numbers: [Int] = []

    /// Asks for them, and hides the cursor.
    var entering: String { "\u{1B}[?25l" + numbers.map { "\u{1B}[?\($0)h" }.joined() }

    /// Takes it all back.
    var leaving: String { numbers.reversed().map { "\u{1B}[?\($0)l" }.joined() + "\u{1B}[?25h" }
}
