import IPC
import TestSupport
import Testing

@Suite("The daemon's command line")
struct DaemonCommandLineTests {
    private func run(_ arguments: String...) throws -> CommandRun {
        try RunningCommand(arguments, executable: BuiltProduct.path(of: "countdownd")).finish()
    }

    @Test("--version names the program and its version")
    func version() throws {
        let run = try run("--version")
        #expect(run.exitCode == 0)
        #expect(run.standardOutput == "countdownd \(Version.current)\n")
        #expect(run.standardError == "")
    }

    @Test("--help explains every option on standard output")
    func help() throws {
        let run = try run("--help")
        #expect(run.exitCode == 0)
        #expect(run.standardOutput.contains("Usage: countdownd [OPTION…]"))
        for flag in [
            "--socket", "--state-directory", "--durability", "--history", "--leeway", "--access", "--log-level",
        ] {
            #expect(run.standardOutput.contains("  \(flag) "))
        }
        #expect(run.standardOutput.split(separator: "\n").allSatisfy { $0.count <= 120 })
        #expect(run.standardError == "")
    }

    @Test(
        "a usage error is named on standard error, and the daemon exits with 64",
        arguments: [
            ("--\u{1B}[31m", "countdownd: unknown option '--\\u{1b}[31m'; see --help\n"),
            ("--access=all", "countdownd: invalid --access 'all': use owner or socket\n"),
        ]
    )
    func usage(_ argument: String, _ sentence: String) throws {
        let run = try run(argument)
        #expect(run.exitCode == 64)
        #expect(run.standardError == sentence)
        #expect(run.standardOutput == "")
    }
}
