/// A command that a screen runs.
enum ShellCommand: Equatable, Sendable {
    /// A program and its arguments, looked up in PATH, with no shell between.
    case words([String])
    /// A line for sh(1).
    case line(String)

    /// The program and its arguments.
    var words: [String] {
        switch self {
        case .words(let words): words
        case .line(let line): ["sh", "-c", line]
        }
    }

    /// What it is called where something is said about it.
    var name: String {
        switch self {
        case .words(let words): words.first ?? ""
        case .line(let line): line
        }
    }
}

/// How a command ended, and what it said.
struct CommandEnding: Equatable {
    enum Cause: Equatable {
        case ended(ProcessEnding)
        /// It could not be run.
        case notRun(errno: Int32)
    }

    let cause: Cause
    /// The last lines of its standard output and standard error together.
    var lines: [String] = []

    var isSuccess: Bool { cause == .ended(.exited(code: 0)) }
}
