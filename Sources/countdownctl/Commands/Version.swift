import ArgumentParser
import IPC
import System

/// The version, as `--version` prints it.
struct VersionCommand: Subcommand {
    /// The program and its version.
    static let line = "countdownctl \(Version.current)"

    static var name: CommandName { .version }

    static let configuration = CommandConfiguration(
        name: name,
        abstract: "Print the version.",
        usage: "countdownctl version",
        discussion: """
            Examples:
              countdownctl version
              countdownctl -V                     the same

            `countdownctl status` has the version of the daemon.
            """
    )

    func perform() throws -> ExitCode {
        try Output(isQuiet: false, json: false, palette: .plain).print([Self.line])
        return .success
    }
}
