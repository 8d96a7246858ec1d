/// What a terminal is asked for beside keys, in the private modes of xterm. A terminal that lacks one passes over it.
struct TerminalModes: OptionSet {
    let rawValue: Int

    /// Pasted text in brackets.
    static let paste = TerminalModes(rawValue: 1)
    /// Whether the terminal has the keyboard.
    static let focus = TerminalModes(rawValue: 2)
    /// Presses of the mouse.
    static let mouse = TerminalModes(rawValue: 4)

    /// Asks for them, and hides the cursor.
    var entering: String { "\u{1B}[?25l" + numbers.map { "\u{1B}[?\($0)h" }.joined() }

    /// Takes it all back.
    var leaving: String { numbers.reversed().map { "\u{1B}[?\($0)l" }.joined() + "\u{1B}[?25h" }

    private var numbers: [Int] {
        var numbers: [Int] = []
        if contains(.paste) { numbers.append(2004) }
        if contains(.focus) { numbers.append(1004) }
        if contains(.mouse) { numbers += [1000, 1006] }
        return numbers
    }
}
