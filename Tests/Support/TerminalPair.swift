import CProcess
import Foundation

/// A terminal without a program: a test types at one end, and the other end is given to a program.
public final class TerminalPair {
    /// The end of the test.
    public private(set) var keyboard: Int32
    /// The end that is a terminal; -1 after it was closed.
    public private(set) var terminal: Int32

    /// Opens the terminal with a number of columns.
    public init(columns: UInt16 = 80) throws {
        terminal = -1
        keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard keyboard >= 0 else { throw SystemCallFailure("openpt") }
        var name = [CChar](repeating: 0, count: 128)
        guard grantpt(keyboard) == 0, unlockpt(keyboard) == 0, ptsname_r(keyboard, &name, name.count) == 0 else {
            throw SystemCallFailure("openpt")
        }
        terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { throw SystemCallFailure("open") }
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        guard ioctl(keyboard, UInt(TIOCSWINSZ), &size) == 0 else { throw SystemCallFailure("ioctl") }
    }

    deinit {
        hangUp()
        closeTerminal()
    }

    /// Closes the end of the test: the terminal goes away.
    public func hangUp() {
        if keyboard >= 0 { close(keyboard) }
        keyboard = -1
    }

    /// Closes the terminal here, so that the programs that have it too are the only ones.
    public func closeTerminal() {
        if terminal >= 0 { close(terminal) }
        terminal = -1
    }

    /// Types characters; `\u{3}` is Ctrl-C.
    public func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(keyboard, bytes, bytes.count)
    }
}
