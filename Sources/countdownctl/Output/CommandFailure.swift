import IPC

/// Why a command failed: its exit code and its message.
struct CommandFailure: Error, Equatable {
    let exitCode: ExitCode
    let sentence: String
    /// The daemon's error, if it is one.
    let refusal: CountdownError?

    init(_ exitCode: ExitCode, _ sentence: String, refusal: CountdownError? = nil) {
        self.exitCode = exitCode
        self.sentence = sentence
        self.refusal = refusal
    }

    static func usage(_ sentence: String) -> CommandFailure { CommandFailure(.usage, sentence) }
}

/// The exit codes of countdownctl: 3 and 4 as in systemctl(1), 124 as in timeout(1), 79 its own, the others from sysexits.h;
/// `run` returns the code of its command.
struct ExitCode: RawRepresentable, Hashable, Comparable, Sendable {
    let rawValue: Int32

    static let success = ExitCode(rawValue: 0)
    /// The countdown exists and is not running; if its end was awaited, it was cancelled.
    static let notRunning = ExitCode(rawValue: 3)
    /// No countdown is known under the key.
    static let unknownKey = ExitCode(rawValue: 4)
    /// EX_USAGE: the arguments are wrong.
    static let usage = ExitCode(rawValue: 64)
    /// EX_UNAVAILABLE: no daemon.
    static let unavailable = ExitCode(rawValue: 69)
    /// EX_SOFTWARE: a fault of this program.
    static let internalFault = ExitCode(rawValue: 70)
    /// EX_IOERR: a change that could not be stored, or output that could not be written.
    static let notStored = ExitCode(rawValue: 74)
    /// EX_TEMPFAIL: it runs already, a limit is reached, another revision is there, or the daemon cannot open its store or reach
    /// its fleet, and does not know.
    static let tryLater = ExitCode(rawValue: 75)
    /// EX_PROTOCOL: daemon and client do not understand each other.
    static let protocolFault = ExitCode(rawValue: 76)
    /// EX_NOPERM: another user's daemon.
    static let denied = ExitCode(rawValue: 77)
    /// A fleet did not answer, so a change may have been made. sysexits.h ends at 78, and among several keys this is worse than
    /// a refusal.
    static let unknownOutcome = ExitCode(rawValue: 79)
    /// The time of `--timeout` passed.
    static let timedOut = ExitCode(rawValue: 124)
    /// The command is there and cannot be run.
    static let notExecutable = ExitCode(rawValue: 126)
    /// The command does not exist.
    static let notFound = ExitCode(rawValue: 127)
    static let interrupted = ExitCode(rawValue: 130)

    /// Of several keys the worst decides, and the higher code is the worse.
    static func < (left: ExitCode, right: ExitCode) -> Bool { left.rawValue < right.rawValue }
}
