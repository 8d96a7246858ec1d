/// What a terminal sends.
enum TerminalInput: Equatable, Sendable {
    case key(Key)
    /// Text that was pasted between brackets, whatever it holds.
    case paste(String)
    /// A press of the first mouse button, by the row and column of the terminal from 0 on.
    case click(row: Int, column: Int)
    /// Whether the terminal has the keyboard now.
    case focus(Bool)
    /// Where the cursor is, for whoever asked, from 0 on.
    case cursor(row: Int, column: Int)
}

/// A key that was pressed.
enum Key: Equatable, Sendable {
    case character(Character)
    /// A letter together with Ctrl.
    case control(Character)
    case enter
    case tab
    case escape
    case backspace
    case delete
    case left
    case right
    case up
    case down
    case home
    case end
}
