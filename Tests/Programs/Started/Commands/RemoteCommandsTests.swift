import Foundation
import IPC
import TestSupport
import Testing

@Suite("countdownctl --host")
struct RemoteCommandsTests {
    private let daemon: DaemonProcess
    private let server: SSHServer

    init() throws {
        daemon = try DaemonProcess()
        server = try SSHServer(variables: ["COUNTDOWND_SOCKET": daemon.socketPath])
    }

    private func environment() -> [String: String] {
        ["PATH": "\(server.directory.path):/usr/bin:/bin", "XDG_RUNTIME_DIR": server.sessions]
    }

    private func run(_ arguments: String...) throws -> CommandRun {
        try CommandRun(["--host", "there"] + arguments, environment: environment())
    }

    /// The files that the program has left behind.
    private func leftovers() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: server.sessions)
    }

    @Test("a countdown is started and shown on the other machine, and no file stays here")
    func works() throws {
        let start = try run("start", "tea", "1h", "--label", "Green 'tea'")
        #expect(start.exitCode == 0, "\(start.standardError)\(server.log)")
        #expect(try Caller(of: daemon).call(Get(key: "tea")).countdown.label == "Green 'tea'")
        let shown = try CommandRun(["list", "--json", "--host=there"], environment: environment())
        #expect(shown.standardOutput.contains(#""key":"tea""#), "\(shown.standardError)")
        #expect(try leftovers().isEmpty)
    }

    @Test("a port and an identity file work with an sshd that listens on the port")
    func listens() throws {
        let server = try SSHServer(variables: ["COUNTDOWND_SOCKET": daemon.socketPath], isListening: true)
        let variables = ["PATH": "\(server.directory.path):/usr/bin:/bin", "XDG_RUNTIME_DIR": server.sessions]
        let watch = try RunningCommand(["--host", "there", "watch", "--json"], environment: variables)
        #expect(try watch.line()?.contains(#""synced""#) == true)
        let start = try CommandRun(["--host", "there", "start", "tea", "1h"], environment: variables)
        #expect(start.exitCode == 0, "\(start.standardError)")
        #expect(try watch.line()?.contains(#""key":"tea""#) == true)
        #expect(try watch.stop().exitCode == 130)
        let other = try CommandRun(["--host", "127.0.0.1", "list"], environment: variables)
        #expect(other.exitCode == 69, "a host whose key is not known")
        #expect(try FileManager.default.contentsOfDirectory(atPath: server.sessions).isEmpty)
    }

    /// The folder where scripts/test-examples puts varlinkctl of systemd 257 or newer, and its ssh.
    private static let newer = BuiltProduct.packageDirectory.path + "/.build/test-examples/"

    @Test(
        "varlinkctl gets there by ssh as well",
        .enabled(if: FileManager.default.isExecutableFile(atPath: newer + "varlinkctl"), "no varlinkctl here does")
    )
    func otherClient() throws {
        let server = try SSHServer(variables: [:], isListening: true, client: Self.newer + "ssh")
        let variables = ["PATH": "\(server.directory.path):/usr/bin:/bin"]
        func call(_ method: String, _ parameters: String) throws -> CommandRun {
            let address = "ssh-unix:there:\(daemon.socketPath)"
            let words = ["--json=short", "call", address, "io.countdownd.\(method)", parameters]
            return try RunningCommand(words, executable: Self.newer + "varlinkctl", environment: variables).finish()
        }
        let start = try call("Start", #"{"key":"tea","durationUSec":3600000000}"#)
        #expect(start.standardOutput.contains(#""outcome":"started""#), "\(start.standardError)")
        #expect(try call("List", "{}").standardOutput.contains(#""key":"tea""#))
        #expect(try call("Get", #"{"key":"coffee"}"#).standardError.contains("io.countdownd.NoSuchCountdown"))
    }

    @Test("the exit code is the command's")
    func codes() throws {
        #expect(try run("is-running", "coffee").exitCode == 4)
        #expect(try run("run", "x", "1h", "--", "sh", "-c", "exit 9").exitCode == 9)
        #expect(try leftovers().isEmpty)
    }

    @Test("a watch follows, and ends with the login")
    func follows() throws {
        let watch = try RunningCommand(["--host", "there", "watch", "--json"], environment: environment())
        #expect(try watch.line()?.contains(#""synced""#) == true, "\(server.log)")
        _ = try Caller(of: daemon).call(Start(key: "tea"))
        #expect(try watch.line()?.contains(#""started""#) == true)
        try server.endLogin()
        let run = try watch.finish()
        #expect(run.exitCode == 69)
        #expect(run.messages.last == "countdownctl: the connection to 'there' was closed", "\(run.standardError)")
        #expect(try leftovers().isEmpty)
    }

    @Test("if no daemon runs there, the error names the socket")
    func noDaemon() throws {
        try daemon.terminate()
        let run = try run("list")
        #expect(run.exitCode == 69)
        #expect(run.standardError.contains("no daemon at \(daemon.socketPath) on 'there'"), "\(run.standardError)")
        #expect(try leftovers().isEmpty)
    }

    @Test("if ssh cannot connect, the error says so")
    func noLogin() throws {
        try server.close()
        let run = try run("list")
        #expect(run.exitCode == 69)
        #expect(run.standardError.contains("countdownctl: cannot log in to 'there'; `ssh there` must work"))
        #expect(try leftovers().isEmpty)
    }

    @Test("if ssh is missing, the error says so")
    func noSSH() throws {
        let run = try CommandRun(["--host", "there", "list"], environment: ["PATH": server.sessions])
        #expect(run.exitCode == 69)
        #expect(run.standardError == "countdownctl: --host needs ssh, which is not in PATH\n")
    }

    @Test(
        "help and usage errors make no connection",
        arguments: [("--help", 0), ("help list", 0), ("", 0), ("list --frobnicate", 64), ("restart tea", 64)]
    )
    func noVerb(line: String, code: Int32) throws {
        let words = ["--host", "there"] + line.split(separator: " ").map(String.init)
        let run = try CommandRun(words, environment: ["PATH": server.sessions])
        #expect(run.exitCode == code, "\(run.standardError)")
    }
}
