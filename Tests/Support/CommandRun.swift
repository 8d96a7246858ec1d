import Foundation

/// A run of countdownctl, from its start to its end.
public struct CommandRun: Sendable {
    /// Everything that it wrote to standard output.
    public let standardOutput: String
    /// Everything that it wrote to standard error.
    public let standardError: String
    /// How it ended.
    public let ending: ChildProcess.Ending

    /// Runs it. If it has not ended by the deadline, it is killed and an error is thrown.
    public init(
        _ arguments: [String],
        environment: [String: String] = [:],
        input: String = "",
        until deadline: Deadline = Deadline()
    ) throws {
        self = try RunningCommand(arguments, environment: environment, input: input).finish(until: deadline)
    }

    /// The exit code; nil if a signal ended it.
    public var exitCode: Int32? {
        guard case .exited(let code) = ending else { return nil }
        return code
    }

    init(standardOutput: String, standardError: String, ending: ChildProcess.Ending) {
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.ending = ending
    }
}
