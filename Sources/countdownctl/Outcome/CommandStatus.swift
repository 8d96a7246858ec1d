/// What the program says by its exit code: 3 and 4 as systemctl(1) has them, 124 as timeout(1), the others of sysexits.h;
/// after a command that it ran, the code of that.
struct CommandStatus: RawRepresentable, Hashable, Comparable, Sendable {
    let rawValue: Int32

    static let success = CommandStatus(rawValue: 0)
    /// The countdown is known and not running; where its end was waited for, it was cancelled.
    static let notRunning = CommandStatus(rawValue: 3)
    /// No countdown is known under the key.
    static let unknownKey = CommandStatus(rawValue: 4)
    /// EX_USAGE: what was typed.
    static let usage = CommandStatus(rawValue: 64)
    /// EX_UNAVAILABLE: no daemon.
    static let unavailable = CommandStatus(rawValue: 69)
    /// EX_SOFTWARE: a fault of this program.
    static let internalFault = CommandStatus(rawValue: 70)
    /// EX_IOERR: a change that could not be stored, or output that could not be written.
    static let notStored = CommandStatus(rawValue: 74)
    /// EX_TEMPFAIL: it runs already, a limit is reached, or another revision is there.
    static let tryLater = CommandStatus(rawValue: 75)
    /// EX_PROTOCOL: daemon and client do not understand each other.
    static let protocolFault = CommandStatus(rawValue: 76)
    /// EX_NOPERM: another user's daemon.
    static let denied = CommandStatus(rawValue: 77)
    /// The time of `--timeout` passed.
    static let timedOut = CommandStatus(rawValue: 124)
    /// The command is there and cannot be run.
    static let notExecutable = CommandStatus(rawValue: 126)
    /// There is no such command.
    static let notFound = CommandStatus(rawValue: 127)
    /// Ctrl-C.
    static let interrupted = CommandStatus(rawValue: 130)

    /// Of several keys the worst decides, and the higher code is the worse.
    static func < (left: CommandStatus, right: CommandStatus) -> Bool { left.rawValue < right.rawValue }
}
